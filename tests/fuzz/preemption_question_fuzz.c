/* SPDX-License-Identifier: MIT */
/* ExtenderPreemptionArgs and ExtenderBindingArgs, the same bytes as both. */
#include "k8s_extender/server/extender_wire.h"
#include "tests/fuzz/fuzz_target.h"

#define OUT_BYTES ((size_t)64 << 20)

static void check_preemption(const struct preemption_question *question)
{
    CLEANUP_MEMORY bool *allowed = memory_allocate(question->node_count + 1);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    struct error_info err = {.kind = ERROR_NONE};
    text_buffer_init(&out, OUT_BYTES);
    fuzz_require(allowed, "memory", "");
    size_t expected = 0;
    for (size_t i = 0; i < question->node_count; i++)
        expected += allowed[i] = i % 2 == 0;
    extender_write_victims(question, allowed, &out);
    const char *text = text_buffer_text(&out);
    fuzz_require(!text_buffer_failed(&out), "writing failed", "");
    CLEANUP(json_value) struct json_value *tree = json_value_parse(text, out.length, "out", &err);
    fuzz_require(tree, err.text, text);
    const struct json_value *map = json_value_get(tree, "NodeNameToMetaVictims");
    fuzz_require(json_value_count(map) == expected, "another count of nodes", text);
    for (size_t i = 0; i < expected; i++) {
        const struct preemption_victims *victims = &question->nodes[i * 2];
        const struct json_value *member = json_value_get(map, victims->node);
        const struct json_value *pods = json_value_get(member, "Pods");
        fuzz_require(json_value_count(pods) == victims->uid_count, "another count of pods", text);
        for (size_t k = 0; k < victims->uid_count; k++)
            fuzz_require(strcmp(json_value_text(json_value_get(json_value_at(pods, k), "UID")),
                                victims->uids[k]) == 0,
                         "another uid", text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    CLEANUP(preemption_question)
    struct preemption_question *question = preemption_question_parse(text, size, &err);
    if (question)
        check_preemption(question);
    else
        fuzz_require_error(&err);
    err = (struct error_info){.kind = ERROR_NONE};
    CLEANUP(binding_question)
    struct binding_question *binding = binding_question_parse(text, size, &err);
    if (!binding)
        fuzz_require_error(&err);
    else
        fuzz_require(binding->pod[0] && binding->namespace[0] && binding->uid[0] &&
                         binding->node[0],
                     "an empty member", text);
    return 0;
}
