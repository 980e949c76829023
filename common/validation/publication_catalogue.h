/* SPDX-License-Identifier: MIT */
/*
 * publication_catalogue: how published runs were made, as far as their rows do not say: the
 * framework profile and the network of a set, the node that a GPU's name means. From
 * data/publications.yaml (each row beside its source).
 */
#ifndef VALIDATION_PUBLICATION_CATALOGUE_H
#define VALIDATION_PUBLICATION_CATALOGUE_H

#include "base/arena.h"
#include "base/error.h"
#include <stdint.h>

#define PUBLICATION_MAXIMUM_ROWS 1024u

struct publication {
    const char *set;      /* how the set's name begins */
    const char *sharding; /* stands in the row's zero_fsdp; NULL: any */
    uint64_t vpp;         /* where the row's is silent; 0: none */
    const char *framework;
    double network_gbit_per_gpu; /* where the row's interconnect is silent */
    const char *source;
};

struct publication_gpu {
    const char *gpu; /* stands in the row's text */
    double memory_gb;
    const char *preset;          /* node */
    double nvlink_gb_per_second; /* 0: the preset's */
};

struct publication_catalogue {
    const struct publication *publications;
    size_t publication_count;
    const struct publication_gpu *gpus;
    size_t gpu_count;
    struct arena *arena;
};

struct publication_catalogue *publication_catalogue_parse(const char *text, size_t bytes,
                                                          const char *source,
                                                          struct error_info *err);
struct publication_catalogue *publication_catalogue_builtin(struct error_info *err);
void publication_catalogue_free(struct publication_catalogue *catalogue);

/* The first whose set the name begins with, else the last row (which has set ""). sharding: the
 * row's zero_fsdp. */
const struct publication *publication_of_set(const struct publication_catalogue *catalogue,
                                             const char *set, const char *sharding);
/* NULL: no row's name stands in the text. memory_gb 0: unknown. */
const struct publication_gpu *publication_gpu_of(const struct publication_catalogue *catalogue,
                                                 const char *text, double memory_gb);

DEFINE_CLEANUP(publication_catalogue);

#endif
