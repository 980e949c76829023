/* SPDX-License-Identifier: MIT */
/*
 * calibration: figures of a site's own measurements that take the place of the catalogues'.
 * A YAML (or JSON) file, which `parplan calibrate` writes:
 *
 *     schema: parplan.calibration/1
 *     links:
 *       - {kind: nvlink, name: h100-sxm, share: 0.81, hop_seconds: 1.2e-6, n: 31, residual: 0.04,
 *          residual_before: 0.18, source: "all_reduce.txt: all_reduce, 8 ranks on 1 node, …"}
 *     gpus:
 *       - {name: h100-sxm, gemm_factor: 0.93, n: 12, residual: 0.03, residual_before: 0.09,
 *          source: "runs.csv"}
 *
 * kind nvlink: name is gpus.yaml's; share of the GPU's NVLink rate that a ring of the whole domain
 * reaches. kind network: name is a row of efficiencies.yaml's networks (infiniband, ethernet,
 * efa, …); share of the NICs' rate. kind pcie: name is ""; share of the PCIe rate.
 * hop_seconds is the latency of a hop over that kind of link with the protocol that is quickest
 * there; the others keep their distance to it. Of several rows of one kind the largest counts.
 * gemm_factor multiplies the largest measured GEMM's rate of
 * that GPU, in every precision.
 * n: how many measurements; residual: mean |predicted / measured - 1| with these figures, and
 * residual_before with those that they replace (0: not known).
 * Immutable.
 */
#ifndef VALIDATION_CALIBRATION_CALIBRATION_H
#define VALIDATION_CALIBRATION_CALIBRATION_H

#include "planner/efficiency_catalogue.h"
#include "topology/gpu_catalogue.h"
#include <stdint.h>

#define CALIBRATION_SCHEMA "parplan.calibration/1"
#define CALIBRATION_MAXIMUM_BYTES ((size_t)1 << 20)
#define CALIBRATION_MAXIMUM_ROWS 64u
/* In-switch reduction (NVLS, SHARP) goes beyond a ring's share of 1. */
#define CALIBRATION_MAXIMUM_SHARE 2.0
#define CALIBRATION_MINIMUM_SHARE 0.01
#define CALIBRATION_MINIMUM_HOP_SECONDS 1e-9
#define CALIBRATION_MAXIMUM_HOP_SECONDS 1e-2
#define CALIBRATION_MAXIMUM_FACTOR 100.0
#define CALIBRATION_MINIMUM_FACTOR 0.01

enum calibrated_link {
    CALIBRATED_NVLINK,
    CALIBRATED_PCIE,
    CALIBRATED_NETWORK,
    CALIBRATED_LINK_COUNT
};

struct link_figures {
    const char *name; /* first member: yaml_rows */
    unsigned kind;    /* enum calibrated_link */
    double share, hop_seconds;
    uint64_t n;
    double residual, residual_before;
    const char *source;
};

struct gpu_figures {
    const char *name;
    double gemm_factor;
    uint64_t n;
    double residual, residual_before;
    const char *source;
};

struct calibration {
    const struct link_figures *links;
    size_t link_count;
    const struct gpu_figures *gpus;
    size_t gpu_count;
    struct arena *arena; /* NULL: not owned by the calibration */
};

/* Refuses: neither links nor gpus, figures outside of the limits above, the same kind and name
 * twice. */
struct calibration *calibration_parse(const char *text, size_t bytes, const char *source,
                                      struct error_info *err);
struct calibration *calibration_load(const char *path, struct error_info *err);
void calibration_free(struct calibration *calibration);

/* Changes both catalogues, which nobody else may hold yet. Refuses a GPU or a network that they
 * do not know; they are untouched then. */
int calibration_apply(const struct calibration *calibration, struct gpu_catalogue *gpus,
                      struct efficiency_catalogue *efficiencies, struct error_info *err);

/* Of the protocol that is quickest over that kind of link. */
double calibrated_least_hop(const struct efficiency_catalogue *efficiencies,
                            enum calibrated_link kind);
/* Shifts every protocol's hop so that the quickest one's takes that long. */
void calibration_set_hop(struct efficiency_catalogue *efficiencies, enum calibrated_link kind,
                         double hop_seconds);

const char *calibrated_link_name(enum calibrated_link kind); /* "nvlink", … as in the file */

DEFINE_CLEANUP(calibration);

#endif
