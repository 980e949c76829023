/* SPDX-License-Identifier: MIT */
/* Whatever body /plan gets: a pod and a size that can be, or one line of refusal. */
#include "k8s_extender/placement/plan_answer.h"
#include "tests/fuzz/fuzz_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct error_info err = {.kind = ERROR_NONE};
    struct plan_question question = {.pod = NULL};
    if (plan_question_parse(text, size, &question, &err) == 0) {
        fuzz_require(question.pod != NULL, "there is no pod", text);
        fuzz_require(question.size > 0 && question.size <= GANG_MAXIMUM_PODS, "no such size", text);
    } else {
        fuzz_require_error(&err);
        fuzz_require(question.pod == NULL, "a refusal leaves a pod", text);
    }
    plan_question_done(&question);
    memory_free(text);
    return 0;
}
