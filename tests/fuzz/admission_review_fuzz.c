/* SPDX-License-Identifier: MIT */
/* A review and its answer, which is JSON with the question's uid; and the patch, whose operations
 * are of three kinds, and after which nothing is left to do but what the answer says. */
#include "k8s_extender/server/admission_wire.h"
#include "k8s_extender/server/pod_admission.h"
#include "tests/fuzz/fuzz_target.h"

#define OUT_BYTES ((size_t)64 << 20)

static void check_patch(const struct json_value *pod)
{
    static const char *const paths[] = {"/spec/schedulingGates", "/spec/subdomain",
                                        "/spec/hostname", "/spec/containers/"};
    CLEANUP(json_value) struct json_value *patch = pod_admission_patch(pod);
    fuzz_require(patch, "memory", "");
    for (size_t i = 0; i < json_value_count(patch); i++) {
        const struct json_value *operation = json_value_at(patch, i);
        const char *path = json_value_text(json_value_get(operation, "path"));
        bool known = false;
        for (size_t k = 0; k < COUNT_OF(paths); k++)
            known |= strncmp(path, paths[k], strlen(paths[k])) == 0;
        fuzz_require(known, "another path", path);
        fuzz_require(json_value_get(operation, "value"), "an operation without value", path);
    }
}

static void check_answer(const struct admission_question *question)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    struct error_info err = {.kind = ERROR_NONE};
    text_buffer_init(&out, OUT_BYTES);
    pod_admission_answer(question, "me", &out);
    const char *text = text_buffer_text(&out);
    fuzz_require(!text_buffer_failed(&out), "writing failed", "");
    CLEANUP(json_value) struct json_value *tree = json_value_parse(text, out.length, "out", &err);
    fuzz_require(tree, err.text, text);
    const struct json_value *response = json_value_get(tree, "response");
    fuzz_require(strcmp(json_value_text(json_value_get(response, "uid")), question->uid) == 0,
                 "another uid", text);
    bool allowed = false;
    fuzz_require(json_value_boolean(json_value_get(response, "allowed"), &allowed) == 0,
                 "no verdict", text);
    fuzz_require(allowed || json_value_get(response, "status"), "denied without a reason", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    CLEANUP(admission_question)
    struct admission_question *question = admission_question_parse(text, size, &err);
    if (!question) {
        fuzz_require_error(&err);
        return 0;
    }
    check_answer(question);
    if (question->object)
        check_patch(question->object);
    return 0;
}
