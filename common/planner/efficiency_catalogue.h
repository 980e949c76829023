/* SPDX-License-Identifier: MIT */
/*
 * efficiency_catalogue: how much of the hardware's peaks training reaches, from
 * data/efficiencies.yaml (each figure beside its source). Immutable. The planner stays pure:
 * it is handed the parsed table.
 *
 * A matrix multiplication of m x k by k x n runs at
 *     peak * gemm_share * m/(m + token_half) * w/(w + width_half),  w = min(n, k),
 * times unaligned_share where n or k is no multiple of GEMM_ALIGNED_WIDTH.
 */
#ifndef PLANNER_EFFICIENCY_CATALOGUE_H
#define PLANNER_EFFICIENCY_CATALOGUE_H

#include "base/arena.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

#define EFFICIENCY_MAXIMUM_ROWS 64u
#define EFFICIENCY_PROTOCOLS 3u
#define EFFICIENCY_DEFAULT_ROW "default"
/* NVIDIA, Matrix Multiplication Background User's Guide: 16 bit dimensions of A100 are best as
 * multiples of 64 elements (128 bytes). */
#define GEMM_ALIGNED_WIDTH 64

/* A GPU generation, by gpu_model.architecture. */
struct efficiency_architecture {
    const char *name;
    double gemm_share;        /* reached by training at large sizes, of the largest measured GEMM */
    double gemm_peak_share;   /* largest GEMM of peak, where gpus.yaml has none measured */
    double token_half;        /* rows at which a GEMM reaches half */
    double expert_token_half; /* the same of an expert, whose products run as one group */
    double width_half;        /* width at which a GEMM reaches half */
    double unaligned_share;   /* of that, where a width is no multiple of GEMM_ALIGNED_WIDTH */
    double attention_forward_share; /* fused attention, of the 16 bit peak */
    double attention_backward_share;
    double memory_share; /* elementwise kernels, of the memory's bandwidth */
    const char *source;
};

/* A framework profile's name. */
struct efficiency_framework {
    const char *name;
    bool interleaves;             /* it has an interleaved pipeline schedule */
    bool fused_attention;         /* flash attention: no s*s tensors */
    double attention_scale;       /* its fused kernels against the architecture's best */
    double extra_gradient_bytes;  /* 16 bit gradients kept beside the profile's, BF16 only */
    double hidden_copies;         /* activations of hidden width that a layer with RMS norms keeps:
                                   * 4 fused, without dropout; the paper's 5; 9 in small kernels */
    bool selective_operators;     /* selective recompute keeps every second product's output
                                   * (torchtitan), and does not redo attention */
    double elementwise_passes;    /* times the stored activations are read or written, forward */
    double fp8_cast_bytes;        /* moved for each input of a FP8 product, forward and backward */
    double softmax_bytes_forward; /* per score, unfused attention only */
    double softmax_bytes_backward;
    double host_forward_seconds; /* launch floor of one layer and micro batch */
    double host_backward_seconds;
    double moe_host_seconds;    /* a MoE layer waits for its counts, whatever else it does */
    bool deduplicates_dispatch; /* a token crosses the network once for every node it goes to, not
                                 * once for every expert there */
    double owner_seconds; /* a step, for each rank that shares the optimizer, where every one's
                           * share is reduced to it and sent out by calls of its own */
    double state_share;   /* of the links' rate: its collectives of gradients and parameters */
    double step_seconds;  /* of a step: data, logging, optimizer launch */
    double bucket_bytes;  /* of gradients reduced in one call */
    const char *source;
};

/* A kind of network between nodes: what large messages reach of the NICs' rate. */
struct efficiency_network {
    const char *name; /* "infiniband", "ethernet", "omni-path", "efa", and "default" */
    double share;
    double doubling_loss; /* a ring over k parts reaches 1 / (1 + loss log2 k) of the share */
    const char *source;
};

/* One of the communication library's protocols; the fastest for a size is used. */
struct efficiency_protocol {
    const char *name;
    double bandwidth_share;
    double base_seconds;
    double nvlink_hop_seconds;
    double pcie_hop_seconds;
    double network_hop_seconds;
};

struct efficiency_catalogue {
    const struct efficiency_architecture *architectures;
    size_t architecture_count;
    const struct efficiency_framework *frameworks;
    size_t framework_count;
    struct efficiency_protocol protocols[EFFICIENCY_PROTOCOLS];
    double nvlink_share; /* ring collective of the link rate, where gpus.yaml has none */
    double pcie_share;
    const struct efficiency_network *networks;
    size_t network_count;
    double assumed_nic_bytes_per_second; /* where the NICs' rate is unknown; said in a note */
    /* What a collective, and a message, take longer for each tier above the nearest switch that
     * they cross, although the links there are as fast (mapping/solver/link_seconds.h). */
    double spread_loss_collective, spread_loss_message;
    double tight_share;                  /* below capacity by less than this share: "tight" */
    double host_memory_bytes_per_second; /* of one GPU's share, for offloaded optimizers */
    double nvme_bytes_per_second;        /* of one GPU's share */
    struct arena *arena;
};

struct efficiency_catalogue *efficiency_catalogue_parse(const char *text, size_t bytes,
                                                        const char *source, struct error_info *err);
struct efficiency_catalogue *efficiency_catalogue_builtin(struct error_info *err);
void efficiency_catalogue_free(struct efficiency_catalogue *catalogue);

/* The row of that name, else the row "default" (which every catalogue has). */
const struct efficiency_architecture *
efficiency_of_architecture(const struct efficiency_catalogue *catalogue, const char *name);
const struct efficiency_framework *
efficiency_of_framework(const struct efficiency_catalogue *catalogue, const char *name);
const struct efficiency_network *efficiency_of_network(const struct efficiency_catalogue *catalogue,
                                                       const char *name);

DEFINE_CLEANUP(efficiency_catalogue);

#endif
