/* SPDX-License-Identifier: MIT */
/*
 * gpu_catalogue: what a GPU model can do, from data/gpus.yaml (each figure beside its
 * source). Units: bytes, bytes per second (one direction), FLOP per second (dense).
 */
#ifndef TOPOLOGY_GPU_CATALOGUE_H
#define TOPOLOGY_GPU_CATALOGUE_H

#include "base/arena.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum gpu_precision { GPU_FP32, GPU_TF32, GPU_FP16, GPU_BF16, GPU_FP8, GPU_PRECISION_COUNT };

struct gpu_model {
    const char *name;         /* "h100-sxm" */
    const char *title;        /* "NVIDIA H100 SXM5 80 GB" */
    const char *vendor;       /* "nvidia", "amd" */
    const char *architecture; /* "hopper" */
    uint64_t memory_bytes;    /* what the driver shows as total, not the label */
    double memory_bytes_per_second;
    double flops_per_second[GPU_PRECISION_COUNT]; /* dense peak; 0: not supported */
    double gemm_share[GPU_PRECISION_COUNT];       /* largest measured GEMM / peak; 0: unknown */
    double nvlink_bytes_per_second;               /* per GPU, all links; 0: none */
    unsigned nvlink_links;                        /* how many links that is; 0: unknown */
    double nvlink_efficiency;                     /* measured ring collective / nvlink */
    double pcie_bytes_per_second;
    const char *const *aliases; /* words by which sources name it, matched without case */
    size_t alias_count;
    const char *source;
};

struct gpu_catalogue {
    const struct gpu_model *models;
    size_t count;
    struct arena *arena;
};

struct gpu_catalogue *gpu_catalogue_parse(const char *text, size_t bytes, const char *source,
                                          struct error_info *err);
/* The compiled-in data. */
struct gpu_catalogue *gpu_catalogue_builtin(struct error_info *err);
void gpu_catalogue_free(struct gpu_catalogue *catalogue);

/* By name or alias, without case; a marketing name ("NVIDIA H100 80GB HBM3") and a Slurm
 * GRES type ("h100", "a100_80gb") match too: the longest alias that is in the text wins;
 * memory_bytes (0: unknown) settles between models of one name. NULL: unknown. */
const struct gpu_model *gpu_catalogue_find(const struct gpu_catalogue *catalogue, const char *name,
                                           uint64_t memory_bytes);
/* How many models the name may mean where it says too little ("a100": SXM or PCIe, 40 or 80 GB):
 * the one that gpu_catalogue_find takes first. As many as there is room for are stored. */
size_t gpu_catalogue_find_all(const struct gpu_catalogue *catalogue, const char *name,
                              const struct gpu_model **ret, size_t room);

DEFINE_CLEANUP(gpu_catalogue);

#endif
