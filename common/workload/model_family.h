/* SPDX-License-Identifier: MIT */
/*
 * model_family: what all models of one Hugging Face `model_type` have in common, and how
 * their config.json names its fields. One table; used by the readers of config.json, of model
 * files and of presets.
 *
 * Source of the traits: the modeling code of each family in Hugging Face transformers
 * (which projections have a bias, how many norms a layer has, what is tied by default).
 */
#ifndef WORKLOAD_MODEL_FAMILY_H
#define WORKLOAD_MODEL_FAMILY_H

#include "workload/model_spec.h"
#include <stddef.h>

/* A whole number of config.json and the unsigned member of struct model_spec it goes to. */
struct config_field {
    const char *key, *other; /* `other`: an older name of it, or NULL */
    size_t offset;
    bool optional; /* absent or null leaves the family's value */
    unsigned add;  /* to what stands there */
};

#define MODEL_FAMILY_FIELD_SETS 3u

struct model_family {
    const char *name;
    struct model_spec base; /* traits; shapes that are the same in all of the family */
    unsigned ffn_multiple;  /* ffn where it is not given, in hidden; 0: it must be given */
    const struct config_field *fields[MODEL_FAMILY_FIELD_SETS]; /* each ends with a NULL key */
};

/* NULL where no such family is known. */
const struct model_family *model_family_find(const char *name);
size_t model_family_count(void);
const struct model_family *model_family_at(size_t index);

/* One whole-number member, its name in files, and the range that is not absurd. */
struct model_number {
    const char *key;
    size_t offset;
    unsigned minimum, maximum;
};
struct model_flag {
    const char *key;
    size_t offset;
};
#define MODEL_NUMBER_COUNT 21u
#define MODEL_FLAG_COUNT 12u
extern const struct model_number model_numbers[MODEL_NUMBER_COUNT];
extern const struct model_flag model_flags[MODEL_FLAG_COUNT];

unsigned *model_number_at(struct model_spec *model, size_t offset);
unsigned model_number_of(const struct model_spec *model, size_t offset);

/* Fill what follows from the rest (kv_heads, head_dim, ffn), then model_spec_check. */
int model_spec_complete(struct model_spec *model, const struct model_family *family,
                        struct error_info *err);

#endif
