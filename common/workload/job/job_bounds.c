/* SPDX-License-Identifier: MIT */
#include "workload/job/job_bounds.h"

#include "base/parse_number.h"
#include <stdio.h>
#include <string.h>

static const char *const side_words[JOB_SIDE_COUNT] = {[JOB_LEAST] = ">=", [JOB_MOST] = "<="};

static bool bound_allows(const struct job_bound *bound, enum job_side side, uint64_t number)
{
    return !bound->given || (side == JOB_LEAST ? number >= bound->number : number <= bound->number);
}

static int outside(enum job_key key, const char *where, const char *sign, uint64_t number,
                   const struct job_bound *bound, enum job_side side, struct error_info *err)
{
    return error_set(err, "%s: %s%s%llu, but %s says %s%s%llu; keep one of them", where,
                     job_key_info(key)->name, sign, (unsigned long long)number, bound->where,
                     job_key_info(key)->name, side_words[side], (unsigned long long)bound->number);
}

int job_bounds_store(struct job_spec *spec, enum job_key key, enum job_side side, uint64_t number,
                     const char *where, struct error_info *err)
{
    struct job_bound *slot = &spec->bounds[key][side];
    const struct job_value *value = &spec->values[key];
    enum job_side other_side = side == JOB_LEAST ? JOB_MOST : JOB_LEAST;
    const struct job_bound *other = &spec->bounds[key][other_side];
    struct job_bound bound = {.given = true, .number = number};
    if (slot->given && slot->number == number)
        return 0;
    if (slot->given)
        return outside(key, where, side_words[side], number, slot, side, err);
    if (!bound_allows(other, other_side, number))
        return outside(key, where, side_words[side], number, other, other_side, err);
    if (value->given && !bound_allows(&bound, side, value->number))
        return error_set(err, "%s: %s%s%llu, but %s says %s=%s; keep one of them", where,
                         job_key_info(key)->name, side_words[side], (unsigned long long)number,
                         value->where, job_key_info(key)->name, value->text);
    bound.where = arena_copy_text(spec->arena, where);
    if (!bound.where)
        return error_set_memory(err);
    *slot = bound;
    return 0;
}

static bool is_bound(const char *text) { return text[0] == '<' || text[0] == '>'; }

/* "<=4" */
static int parse_bound(struct job_spec *spec, enum job_key key, const char *text, const char *where,
                       struct error_info *err)
{
    const struct job_key_info *info = job_key_info(key);
    const char *name = info->name;
    enum job_side side = text[0] == '>' ? JOB_LEAST : JOB_MOST;
    uint64_t number;
    if (!info->bounds)
        return error_set(err, "%s: %s takes one value, no bounds; write %s=VALUE", where, name,
                         name);
    if (!is_bound(text) || text[1] != '=')
        return error_set(err, "%s: %s: \"%.64s\" is no bound; write %s<=4 or %s>=2", where, name,
                         text, name, name);
    if (parse_unsigned(text + 2, info->minimum, info->maximum, &number, err) < 0)
        return error_prefix(err, "%s: %s", where, name);
    return job_bounds_store(spec, key, side, number, where, err);
}

/* "<=4", ">=2,<=4" */
int job_bounds_parse(struct job_spec *spec, enum job_key key, const char *value, const char *where,
                     struct error_info *err)
{
    char text[JOB_TEXT_MAXIMUM_BYTES + 1];
    snprintf(text, sizeof(text), "%s", value);
    for (char *item = text; item;) {
        char *comma = strchr(item, ',');
        if (comma)
            *comma = '\0';
        if (parse_bound(spec, key, item, where, err) < 0)
            return -1;
        item = comma ? comma + 1 : NULL;
    }
    return 0;
}

int job_bounds_check(const struct job_spec *spec, enum job_key key, uint64_t number,
                     const char *where, struct error_info *err)
{
    for (unsigned side = 0; side < JOB_SIDE_COUNT; side++)
        if (!bound_allows(&spec->bounds[key][side], (enum job_side)side, number))
            return outside(key, where, "=", number, &spec->bounds[key][side], (enum job_side)side,
                           err);
    return 0;
}

bool job_bounds_given(const struct job_spec *spec, enum job_key key)
{
    return spec->bounds[key][JOB_LEAST].given || spec->bounds[key][JOB_MOST].given;
}

bool job_bounds_hold(const struct job_spec *spec, enum job_key key, uint64_t value)
{
    return bound_allows(&spec->bounds[key][JOB_LEAST], JOB_LEAST, value) &&
           bound_allows(&spec->bounds[key][JOB_MOST], JOB_MOST, value);
}

int job_bounds_refuse(const struct job_spec *spec, struct error_info *err)
{
    char text[JOB_BOUNDS_TEXT_BYTES];
    for (unsigned i = 0; i < JOB_KEY_COUNT; i++) {
        const struct job_bound *bounds = spec->bounds[i];
        const char *where =
            bounds[JOB_LEAST].given ? bounds[JOB_LEAST].where : bounds[JOB_MOST].where;
        if (!where || spec->values[i].given)
            continue;
        job_bounds_text(spec, (enum job_key)i, text);
        return error_set(err,
                         "%s: %s bounds a search, which needs a model; name one with model=NAME, "
                         "or give %s one value",
                         where, text, job_key_info((enum job_key)i)->name);
    }
    return 0;
}

void job_bounds_text(const struct job_spec *spec, enum job_key key,
                     char ret[static JOB_BOUNDS_TEXT_BYTES])
{
    size_t used = 0;
    ret[0] = '\0';
    for (unsigned side = 0; side < JOB_SIDE_COUNT; side++) {
        const struct job_bound *bound = &spec->bounds[key][side];
        if (bound->given)
            used += (size_t)snprintf(ret + used, JOB_BOUNDS_TEXT_BYTES - used, "%s%s%s%llu",
                                     used > 0 ? "," : "", job_key_info(key)->name, side_words[side],
                                     (unsigned long long)bound->number);
    }
}
