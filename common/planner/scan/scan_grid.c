/* SPDX-License-Identifier: MIT */
#include "planner/scan/scan_grid.h"

#include "planner/search/candidate_pool.h"
#include <string.h>

#define SCAN_GRID_MAXIMUM_BYTES ((size_t)4 << 20)
#define SCAN_MAXIMUM_ROWS (SCAN_MAXIMUM_CANDIDATES + SCAN_ROLE_COUNT)
#define GIB 1073741824.0

static const struct {
    const char *name, *purpose;
} roles[SCAN_ROLE_COUNT] = {
    [SCAN_ANSWER] = {"answer", "the planner's answer"},
    [SCAN_CANDIDATE] = {"candidate", "its next best"},
    [SCAN_DATA_ONLY] = {"dp-only", "DP alone"},
    [SCAN_WITH_TP] = {"with-tp", "+TP"},
    [SCAN_WITH_PP] = {"with-pp", "+PP"},
    [SCAN_WITH_BOTH] = {"with-tp-pp", "+TP +PP"},
};

const char *scan_role_name(enum scan_role role) { return roles[role].name; }
const char *scan_role_purpose(enum scan_role role) { return roles[role].purpose; }

static bool same_split(const struct plan *left, const struct plan *right)
{
    const struct degrees *a = &left->degrees, *b = &right->degrees;
    return a->tp == b->tp && a->cp == b->cp && a->ep == b->ep && a->etp == b->etp && a->pp == b->pp;
}

static enum scan_role class_of(const struct plan *plan)
{
    if (plan->degrees.tp > 1)
        return plan->degrees.pp > 1 ? SCAN_WITH_BOTH : SCAN_WITH_TP;
    return plan->degrees.pp > 1 ? SCAN_WITH_PP : SCAN_DATA_ONLY;
}

/* NULL: none of the list is of that class. */
static const struct plan *best_of_class(const struct plan_list *list, enum scan_role role)
{
    const struct plan *best = NULL;
    for (size_t i = 0; i < list->plan_count; i++) {
        const struct plan *plan = &list->plans[i];
        if (class_of(plan) == role && (!best || plan_compare(plan, best) < 0))
            best = plan;
    }
    return best;
}

/* --- rows ---------------------------------------------------------------------------- */

/* "tp8-pp4-dp2" of "tp=8,pp=4,dp=2". */
static char *row_id(struct arena *arena, const char *degrees)
{
    char *id = arena_copy_text(arena, degrees), *to = id;
    for (const char *from = id; from && *from != '\0'; from++)
        if (*from != '=')
            *to++ = (char)(*from == ',' ? '-' : *from);
    if (to)
        *to = '\0';
    return id;
}

char *scan_launch_keys(struct arena *arena, const struct plan *plan)
{
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&plan->degrees, degrees);
    const char *order = plan->order == ORDER_TP_CP_EP_DP_PP ? "" : rank_order_name(plan->order);
    const char *order_key = *order != '\0' ? ",order=" : "";
    const char *sharding = sharding_name(plan->sharding);
    if (plan->sharding == SHARDING_HSDP)
        return arena_format(arena, "%s,sharding=%s,shard=%u%s%s", degrees, sharding,
                            plan->degrees.shard, order_key, order);
    return arena_format(arena, "%s,sharding=%s%s%s", degrees, sharding, order_key, order);
}

/* Another than the degrees alone lead to. */
static bool has_own_schedule(const struct plan *plan)
{
    return plan->degrees.pp > 1 && plan->schedule != SCHEDULE_1F1B &&
           plan->schedule != SCHEDULE_INTERLEAVED;
}

static char *plan_keys(struct arena *arena, const struct plan *plan, const char *launch)
{
    bool offloads = plan->offload != OFFLOAD_NONE, scheduled = has_own_schedule(plan);
    return arena_format(arena, "%s,micro_batch=%u,recompute=%s,precision=%s%s%s%s%s", launch,
                        plan->micro_batch, recompute_name(plan->recompute),
                        precision_name(plan->precision), scheduled ? ",schedule=" : "",
                        scheduled ? schedule_name(plan->schedule) : "", offloads ? ",offload=" : "",
                        offloads ? offload_name(plan->offload) : "");
}

static int fill_row(struct scan_row *row, const struct plan *plan, struct arena *arena,
                    struct error_info *err)
{
    char degrees[DEGREES_TEXT_BYTES];
    degrees_text(&plan->degrees, degrees);
    *row = (struct scan_row){.id = row_id(arena, degrees), .plan = *plan};
    row->plan.reasons = NULL;
    row->plan.reason_count = 0;
    row->launch_keys = scan_launch_keys(arena, plan);
    row->keys = row->launch_keys ? plan_keys(arena, plan, row->launch_keys) : NULL;
    return row->id && row->keys ? 0 : error_set_memory(err);
}

struct building {
    struct scan_grid *grid;
    struct scan_row *rows;
};

static int add_row(struct building *building, const struct plan *plan, enum scan_role role,
                   struct error_info *err)
{
    struct scan_grid *grid = building->grid;
    size_t at = 0;
    while (at < grid->row_count && !same_split(&building->rows[at].plan, plan))
        at++;
    if (at == grid->row_count) {
        if (fill_row(&building->rows[at], plan, grid->arena, err) < 0)
            return -1;
        grid->row_count++;
    }
    building->rows[at].roles |= 1u << role;
    if (grid->row_of[role] == SCAN_NO_ROW)
        grid->row_of[role] = at;
    return 0;
}

static int add_candidates(struct building *building, unsigned wanted, struct error_info *err)
{
    const struct plan_list *list = building->grid->list;
    if (list->plan_count == 0)
        return 0;
    if (add_row(building, &list->plans[0], SCAN_ANSWER, err) < 0)
        return -1;
    for (size_t i = 1; i < list->plan_count && building->grid->row_count < wanted; i++) {
        bool again = false;
        for (size_t row = 0; row < building->grid->row_count && !again; row++)
            again = same_split(&building->rows[row].plan, &list->plans[i]);
        if (!again && add_row(building, &list->plans[i], SCAN_CANDIDATE, err) < 0)
            return -1;
    }
    return 0;
}

/* --- classes ------------------------------------------------------------------------- */

/* What a class fixes, so that a search of its own finds plans that the whole one dropped. */
static const enum job_key fixed[SCAN_ROLE_COUNT][2] = {
    [SCAN_DATA_ONLY] = {JOB_TP, JOB_PP},
    [SCAN_WITH_TP] = {JOB_PP, JOB_PP},
    [SCAN_WITH_PP] = {JOB_TP, JOB_TP},
};

static const char *const rejection_words[REJECTION_COUNT] = {
    [REJECT_WORLD] = "such degrees do not multiply to the GPUs",
    [REJECT_DIVISIBILITY] = "such degrees do not divide heads, layers or experts",
    [REJECT_BATCH] = "micro batch * DP is larger than the global batch or does not divide it",
    [REJECT_POLICY] = "the policy refuses such degrees",
    [REJECT_FRAMEWORK] = "the framework has no such plan",
    [REJECT_MEMORY] = "such plans need more memory than a GPU has",
};

static const char *why_nothing(const struct plan_list *list, struct arena *arena)
{
    unsigned most = 0;
    if (list->nearest)
        return arena_format(arena, "does not fit: needs %.1f GiB, a GPU has %.1f GiB",
                            (double)list->nearest->memory.total_bytes / GIB,
                            (double)list->nearest->memory.capacity_bytes / GIB);
    for (unsigned i = 1; i < REJECTION_COUNT; i++)
        if (list->rejected[i] > list->rejected[most])
            most = i;
    return rejection_words[most];
}

static const char *given_otherwise(const struct job_spec *job, enum scan_role role,
                                   struct arena *arena)
{
    for (unsigned i = 0; i < 2; i++) {
        enum job_key key = fixed[role][i];
        const struct job_value *value = &job->values[key];
        const struct job_bound *least = &job->bounds[key][JOB_LEAST];
        const char *name = job_key_info(key)->name;
        if (value->given && value->number != 1)
            return arena_format(arena, "%s=%s is given", name, value->text);
        if (least->given && least->number > 1)
            return arena_format(arena, "%s>=%llu is given", name,
                                (unsigned long long)least->number);
    }
    return NULL;
}

static struct plan_list *search_class(const struct plan_request *request, enum scan_role role,
                                      struct error_info *err)
{
    CLEANUP(job_spec) struct job_spec *job = job_spec_create(err);
    if (!job || job_spec_merge_below(job, request->job, err) < 0)
        return NULL;
    for (unsigned i = 0; i < 2; i++)
        if (job_spec_set(job, job_key_info(fixed[role][i])->name, "1", "the scan", err) < 0)
            return NULL;
    struct plan_request narrow = *request;
    narrow.job = job;
    narrow.brief = true;
    return plan_search(&narrow, err);
}

/* Keys that contradict the class are a reason, no error: the job itself was planned. */
static int add_searched(struct building *building, const struct plan_request *request,
                        enum scan_role role, struct error_info *err)
{
    struct scan_grid *grid = building->grid;
    struct error_info local = {.kind = ERROR_NONE};
    CLEANUP(plan_list) struct plan_list *list = search_class(request, role, &local);
    if (!list && local.kind != ERROR_INPUT) {
        *err = local;
        return -1;
    }
    const struct plan *best = list ? best_of_class(list, role) : NULL;
    if (best)
        return add_row(building, best, role, err);
    if (!list)
        grid->absent[role] = arena_copy_text(grid->arena, local.text);
    else if (list->plan_count == 0)
        grid->absent[role] = why_nothing(list, grid->arena);
    else
        grid->absent[role] = "no such plan fits or is allowed";
    return grid->absent[role] ? 0 : error_set_memory(err);
}

static int add_class(struct building *building, const struct plan_request *request,
                     enum scan_role role, struct error_info *err)
{
    struct scan_grid *grid = building->grid;
    const struct plan *best = best_of_class(grid->list, role);
    if (best)
        return add_row(building, best, role, err);
    grid->absent[role] = role == SCAN_WITH_BOTH ? "no such plan fits or is allowed"
                                                : given_otherwise(request->job, role, grid->arena);
    if (grid->absent[role])
        return 0;
    return add_searched(building, request, role, err);
}

static int fill_grid(struct scan_grid *grid, const struct plan_request *request,
                     unsigned candidates, struct error_info *err)
{
    struct building building = {.grid = grid};
    building.rows = arena_allocate_array(grid->arena, SCAN_MAXIMUM_ROWS, sizeof(*building.rows));
    if (!building.rows)
        return error_set_memory(err);
    grid->rows = building.rows;
    for (unsigned role = 0; role < SCAN_ROLE_COUNT; role++)
        grid->row_of[role] = SCAN_NO_ROW;
    struct plan_request wide = *request;
    wide.top = CANDIDATE_POOL_MAXIMUM + 1;
    wide.explain = NULL;
    grid->list = plan_search(&wide, err);
    if (!grid->list || add_candidates(&building, candidates, err) < 0)
        return -1;
    for (unsigned role = SCAN_FIRST_CLASS; role < SCAN_ROLE_COUNT && grid->row_count > 0; role++)
        if (add_class(&building, &wide, (enum scan_role)role, err) < 0)
            return -1;
    return 0;
}

struct scan_grid *scan_grid_create(const struct plan_request *request, unsigned candidates,
                                   struct error_info *err)
{
    if (candidates == 0 || candidates > SCAN_MAXIMUM_CANDIDATES)
        return error_null(error_set(err, "a scan takes 1 to %u of the planner's plans, not %u",
                                    SCAN_MAXIMUM_CANDIDATES, candidates));
    struct arena *arena = arena_create(SCAN_GRID_MAXIMUM_BYTES);
    struct scan_grid *grid = arena ? arena_allocate(arena, sizeof(*grid)) : NULL;
    if (!grid) {
        arena_free(arena);
        return error_null(error_set_memory(err));
    }
    grid->arena = arena;
    if (fill_grid(grid, request, candidates, err) == 0)
        return grid;
    scan_grid_free(grid);
    return NULL;
}

void scan_grid_free(struct scan_grid *grid)
{
    if (!grid)
        return;
    plan_list_free((struct plan_list *)grid->list);
    arena_free(grid->arena);
}
