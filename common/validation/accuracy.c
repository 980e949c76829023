/* SPDX-License-Identifier: MIT */
#include "validation/accuracy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_reals(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

static double error_of(const struct accuracy_row *row)
{
    return row->predicted / row->measured - 1;
}

static bool is_in(const struct accuracy_row *row, const char *set)
{
    return !set || strcmp(row->run->set, set) == 0;
}

/* errors: room for one of each row. */
static void summarise(const struct accuracy_row *rows, size_t count, double *errors,
                      struct accuracy *accuracy)
{
    double sum = 0, absolute = 0, left_out = 0;
    size_t n = 0, left_out_rows = 0;
    for (size_t i = 0; i < count; i++) {
        if (!is_in(&rows[i], accuracy->set))
            continue;
        double error = error_of(&rows[i]);
        sum += error;
        absolute += fabs(error);
        if (rows[i].left_out > 0) {
            left_out += fabs(rows[i].left_out / rows[i].measured - 1);
            left_out_rows++;
        }
        errors[n++] = fabs(error);
    }
    accuracy->n = n;
    accuracy->mape = accuracy->median = accuracy->max = accuracy->bias = NAN;
    accuracy->leave_one_out = NAN;
    if (n == 0)
        return;
    qsort(errors, n, sizeof(*errors), compare_reals);
    accuracy->mape = absolute / (double)n;
    accuracy->bias = sum / (double)n;
    accuracy->median = n % 2 == 1 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
    accuracy->max = errors[n - 1];
    if (left_out_rows > 0)
        accuracy->leave_one_out = left_out / (double)left_out_rows;
}

static bool is_listed(const struct accuracy_list *list, const char *set)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->sets[i].set, set) == 0)
            return true;
    return false;
}

int accuracy_of(const struct accuracy_row *rows, size_t count, struct arena *arena,
                struct accuracy_list *ret, struct error_info *err)
{
    struct accuracy_list list = {.count = 0};
    double *errors = arena_allocate_array(arena, count + 1, sizeof(*errors));
    list.sets = arena_allocate_array(arena, count + 1, sizeof(*list.sets));
    if (!errors || !list.sets)
        return error_set_memory(err);
    for (size_t i = 0; i < count; i++)
        if (!is_listed(&list, rows[i].run->set))
            list.sets[list.count++].set = rows[i].run->set;
    for (size_t i = 0; i < list.count; i++)
        summarise(rows, count, errors, &list.sets[i]);
    summarise(rows, count, errors, &list.overall);
    *ret = list;
    return 0;
}

/* --- choice -------------------------------------------------------------------------- */

static int compare_groups(const struct published_run *left, const struct published_run *right)
{
    const char *const texts[][2] = {{left->set, right->set},
                                    {left->model_name, right->model_name},
                                    {left->gpu_name, right->gpu_name}};
    const unsigned numbers[][2] = {{left->gpus, right->gpus},
                                   {left->global_batch, right->global_batch},
                                   {left->sequence_length, right->sequence_length},
                                   {left->plan.precision, right->plan.precision}};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        int order = strcmp(texts[i][0], texts[i][1]);
        if (order != 0)
            return order;
    }
    for (size_t i = 0; i < COUNT_OF(numbers); i++)
        if (numbers[i][0] != numbers[i][1])
            return numbers[i][0] < numbers[i][1] ? -1 : 1;
    return 0;
}

/* By group, within one from the fastest predicted on. */
static int compare_rows(const void *left, const void *right)
{
    const struct accuracy_row *a = *(const struct accuracy_row *const *)left;
    const struct accuracy_row *b = *(const struct accuracy_row *const *)right;
    int order = compare_groups(a->run, b->run);
    if (order != 0)
        return order;
    order = (a->predicted > b->predicted) - (a->predicted < b->predicted);
    return order != 0 ? order : strcmp(a->run->id, b->run->id);
}

static struct choice_group count_group(const struct accuracy_row *const *rows, size_t n,
                                       struct choice_accuracy *choice)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (rows[i]->measured < rows[best]->measured)
            best = i;
    double regret = rows[0]->measured / rows[best]->measured - 1;
    choice->groups++;
    choice->top1_regret_mean += regret;
    choice->top1_regret_max = fmax(choice->top1_regret_max, regret);
    choice->best_in_top5 += best < CHOICE_TOP;
    return (struct choice_group){rows[0], rows[best], n, regret, best + 1};
}

int choice_accuracy_of(const struct accuracy_row *rows, size_t count, struct arena *arena,
                       struct choice_accuracy *ret, struct error_info *err)
{
    struct choice_accuracy choice = {.groups = 0};
    const struct accuracy_row **sorted = arena_allocate_array(arena, count + 1, sizeof(*sorted));
    struct choice_group *each =
        arena_allocate_array(arena, count / CHOICE_GROUP_MINIMUM + 1, sizeof(*each));
    if (!sorted || !each)
        return error_set_memory(err);
    choice.each = each;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &rows[i];
    qsort(sorted, count, sizeof(*sorted), compare_rows);
    for (size_t start = 0, end; start < count; start = end) {
        for (end = start + 1; end < count; end++)
            if (compare_groups(sorted[start]->run, sorted[end]->run) != 0)
                break;
        if (end - start < CHOICE_GROUP_MINIMUM)
            continue;
        struct choice_group *group = &each[choice.groups];
        *group = count_group(sorted + start, end - start, &choice);
    }
    if (choice.groups > 0) {
        choice.top1_regret_mean /= (double)choice.groups;
        choice.best_in_top5 /= (double)choice.groups;
    }
    *ret = choice;
    return 0;
}
