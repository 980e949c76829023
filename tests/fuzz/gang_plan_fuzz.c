/* SPDX-License-Identifier: MIT */
/* Whatever gang_plan_decode accepts comes back from its own text, and every pod has coordinates
 * and a node; what it refuses has one line of reason. */
#include "k8s_extender/placement/planning/gang_plan_text.h"
#include "tests/fuzz/fuzz_target.h"

#define KEY "default/llama"

static void check_coordinates(const struct gang_plan *plan)
{
    uint32_t group = gang_plan_group_pods(plan);
    fuzz_require(group > 0 && plan->pods % group == 0, "groups are not whole", plan->id);
    for (uint32_t pod = 0; pod < plan->pods; pod++) {
        struct rank_coordinates at;
        gang_plan_coordinates(plan, pod, &at);
        fuzz_require(at.tp < plan->degrees.tp && at.pp < plan->degrees.pp &&
                         at.dp < plan->degrees.dp && at.cp < plan->degrees.cp,
                     "a coordinate is no coordinate", plan->id);
        fuzz_require(plan->nodes[pod][0] != '\0', "a pod has no node", plan->id);
    }
}

static void check_round_trip(const struct gang_plan *plan)
{
    struct error_info err = {.kind = ERROR_NONE};
    char *text;
    size_t bytes;
    struct text_buffer out;
    text_buffer_init(&out, 2 * GANG_PLAN_TEXT_MAXIMUM);
    fuzz_require(gang_plan_encode(plan, &out) == 0, "it has no text", plan->id);
    bytes = out.length;
    text = text_buffer_take(&out);
    struct gang_plan *back = text ? gang_plan_decode(text, bytes, KEY, &err) : NULL;
    fuzz_require(back != NULL, "its own text is refused", err.text);
    fuzz_require(back && strcmp(back->id, plan->id) == 0 && back->has_degrees == plan->has_degrees,
                 "it comes back as another", text);
    gang_plan_free(back);
    memory_free(text);
    text_buffer_done(&out);
}

/* The id stands in the way of everything behind it: an input that only lacks the right one gets
 * it, and must then be accepted. */
static void check_with_right_id(const char *text, const char *refusal)
{
    static const char opening[] = "gang plan: id ", said[] = "for " KEY ", ";
    const char *right = strstr(refusal, said), *item = strstr(text, "id=");
    if (strncmp(refusal, opening, sizeof(opening) - 1) != 0 || !right || !item)
        return;
    char *fixed = fuzz_text((const uint8_t *)text, strlen(text));
    memcpy(fixed + (item - text) + 3, right + sizeof(said) - 1, GANG_PLAN_ID_BYTES - 1);
    struct error_info err = {.kind = ERROR_NONE};
    struct gang_plan *plan = gang_plan_decode(fixed, strlen(fixed), KEY, &err);
    fuzz_require(plan != NULL, "the right id is refused", err.text);
    check_coordinates(plan);
    check_round_trip(plan);
    gang_plan_free(plan);
    memory_free(fixed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    struct error_info err = {.kind = ERROR_NONE};
    struct gang_plan *plan = gang_plan_decode(text, size, KEY, &err);
    if (plan) {
        check_coordinates(plan);
        check_round_trip(plan);
    } else {
        fuzz_require_error(&err);
        if (strlen(text) == size)
            check_with_right_id(text, err.text);
    }
    gang_plan_free(plan);
    memory_free(text);
    return 0;
}
