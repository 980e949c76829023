/* SPDX-License-Identifier: MIT */
/* ExtenderArgs by the scanner and by the tree; and every answer to it: JSON, with names that were
 * asked about alone. */
#include "k8s_extender/server/extender_wire.h"
#include "tests/fuzz/fuzz_target.h"

#define OUT_BYTES ((size_t)64 << 20)

static void require_same(const struct extender_question *fast, const struct extender_question *tree,
                         const char *text)
{
    fuzz_require(fast->name_count == tree->name_count, "another count of names", text);
    for (size_t i = 0; i < fast->name_count; i++)
        fuzz_require(strcmp(fast->names[i], tree->names[i]) == 0, "another name", fast->names[i]);
    fuzz_require(strcmp(fast->pod->name, tree->pod->name) == 0, "another pod", text);
    fuzz_require(strcmp(fast->pod->uid, tree->pod->uid) == 0, "another uid", text);
}

static struct json_value *read_back(const struct text_buffer *out)
{
    struct error_info err = {.kind = ERROR_NONE};
    const char *text = text_buffer_text(out);
    fuzz_require(!text_buffer_failed(out), "writing failed", "");
    struct json_value *tree = json_value_parse(text, out->length, "answer", &err);
    fuzz_require(tree, err.text, text);
    return tree;
}

static bool was_asked(const struct extender_question *question, const char *name)
{
    for (size_t i = 0; i < question->name_count; i++)
        if (strcmp(question->names[i], name) == 0)
            return true;
    return false;
}

static void check_filter(const struct extender_question *question, const struct gang_answer *answer)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, OUT_BYTES);
    extender_write_filter(question, answer, &out);
    CLEANUP(json_value) struct json_value *tree = read_back(&out);
    const struct json_value *names = json_value_get(tree, "NodeNames");
    const struct json_value *failed = json_value_get(tree, "FailedNodes");
    size_t passed = json_value_count(names);
    for (size_t i = 0; i < passed; i++)
        fuzz_require(was_asked(question, json_value_text(json_value_at(names, i))),
                     "a node that was not asked about", "");
    for (size_t i = 0; i < json_value_count(failed); i++)
        fuzz_require(was_asked(question, json_value_key(json_value_at(failed, i))),
                     "a failed node that was not asked about", "");
    bool error = json_value_text(json_value_get(tree, "Error"))[0] != '\0';
    fuzz_require(!error || passed == 0, "an error and nodes", text_buffer_text(&out));
    fuzz_require(!error || !question->native, "a native gang got an error", "");
}

static void check_answers(const struct extender_question *question, uint8_t seed)
{
    CLEANUP_MEMORY bool *passes = memory_allocate(question->name_count + 1);
    CLEANUP_MEMORY uint8_t *scores = memory_allocate(question->name_count + 1);
    fuzz_require(passes && scores, "memory", "");
    for (size_t i = 0; i < question->name_count; i++) {
        passes[i] = (i * 7 + seed) % 3 == 0;
        scores[i] = (uint8_t)(i * 5 + seed);
    }
    struct gang_answer answer = {.kind = (enum answer_kind)(seed % 4),
                                 .node = seed % 8 == 1 ? ANSWER_NODE_NONE : seed / 4,
                                 .passes = passes,
                                 .whole_pod = seed % 4 == ANSWER_REFUSED && seed & 16};
    memcpy(answer.text, "why \"\\\x01\xc3\xa4\xff", 11);
    check_filter(question, &answer);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, OUT_BYTES);
    extender_write_scores(question, scores, &out);
    CLEANUP(json_value) struct json_value *tree = read_back(&out);
    fuzz_require(json_value_count(tree) == question->name_count, "another count of scores", "");
}

/* A pod that need not be read is the one that would be read. */
static void check_identity(const char *text, size_t size, const struct extender_question *whole)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(extender_question)
    struct extender_question *open = extender_question_open(text, size, &err);
    fuzz_require(open, err.text, text);
    if (open->pod)
        return;
    fuzz_require(strcmp(open->identity.uid, whole->pod->uid) == 0, "another uid", text);
    fuzz_require(strcmp(open->identity.version, whole->pod->resource_version) == 0,
                 "another version", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE}, tree_err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    CLEANUP(extender_question)
    struct extender_question *fast = extender_question_parse(text, size, &err);
    CLEANUP(extender_question)
    struct extender_question *tree = extender_question_parse_tree(text, size, &tree_err);
    if (!fast)
        fuzz_require_error(&err);
    /* The reader of one pod drops what nobody needs (managedFields, escaped NULs): it takes more.
     */
    fuzz_require(fast || !tree, err.text, text);
    if (fast && tree)
        require_same(fast, tree, text);
    if (fast)
        check_identity(text, size, fast);
    if (fast)
        check_answers(fast, size ? data[size - 1] ^ (uint8_t)size : 0);
    return 0;
}
