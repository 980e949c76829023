/* SPDX-License-Identifier: MIT */
/*
 * nvml_symbols: NVIDIA's management library without its header: our own declarations of what we
 * call, and the library's functions found by name at run time. Names, layouts and values are
 * those of NVIDIA's public nvml.h of R418 to R580 (docs.nvidia.com/deploy/nvml-api); the sizes
 * are checked where this is compiled. Functions of newer drivers may be missing (NULL).
 */
#ifndef TOPOLOGY_NVML_SYMBOLS_H
#define TOPOLOGY_NVML_SYMBOLS_H

#include "base/cleanup.h"
#include "base/error.h"

/* What every function returns; those that we tell apart. */
enum nvml_result {
    NVML_OK = 0,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NO_PERMISSION = 4,
    NVML_NOT_FOUND = 6,
    NVML_DRIVER_NOT_LOADED = 9,
    NVML_IRQ_ISSUE = 11,
    NVML_LIBRARY_NOT_FOUND = 12,
    NVML_FUNCTION_NOT_FOUND = 13,
    NVML_GPU_IS_LOST = 15,
    NVML_RESET_REQUIRED = 16,
    NVML_OPERATING_SYSTEM = 17,
    NVML_VERSION_MISMATCH = 18
};

enum nvml_p2p_status { NVML_P2P_OK = 0, NVML_P2P_UNKNOWN = 6 }; /* between: reasons against */
enum nvml_remote_type {
    NVML_REMOTE_GPU = 0,
    NVML_REMOTE_NPU = 1, /* a POWER processor */
    NVML_REMOTE_SWITCH = 2,
    NVML_REMOTE_UNKNOWN = 255
};
enum nvml_fabric_state {
    NVML_FABRIC_NOT_SUPPORTED = 0, /* no fabric manager is needed */
    NVML_FABRIC_NOT_STARTED = 1,
    NVML_FABRIC_IN_PROGRESS = 2,
    NVML_FABRIC_COMPLETED = 3
};
enum nvml_fabric_health { NVML_FABRIC_HEALTHY = 1, NVML_FABRIC_UNHEALTHY, NVML_FABRIC_LIMITED };

#define NVML_P2P_INDEX_NVLINK 2
#define NVML_LINK_CAPABILITY_P2P 0u
#define NVML_AFFINITY_NODE 0u
#define NVML_FIELD_LINK_STATE 165u
#define NVML_TEXT_BYTES 96u /* the longest name, UUID or version that is asked for */
#define NVML_CLUSTER_UUID_BYTES 16u

struct nvml_handle; /* a GPU, the library's */

struct nvml_pci {
    char legacy_bus_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char bus_id[32]; /* functions before _v3 (_v2 for remote ends) leave it alone */
};

struct nvml_memory {
    unsigned long long total_bytes, free_bytes, used_bytes;
};

struct nvml_field {
    unsigned field, scope; /* scope: the link */
    long long timestamp, latency_microseconds;
    unsigned value_type;
    int result;
    union {
        double real;
        unsigned number;
        unsigned long long large;
    } value;
};

/* Versions 2 and 3; version 2 ends before the summary. */
struct nvml_fabric {
    unsigned version;
    unsigned char cluster_uuid[NVML_CLUSTER_UUID_BYTES];
    int status;
    unsigned clique;
    unsigned char state;
    unsigned health_mask;
    unsigned char health_summary; /* enum nvml_fabric_health */
};

struct nvml_fabric_v1 {
    unsigned char cluster_uuid[NVML_CLUSTER_UUID_BYTES];
    int status;
    unsigned clique;
    unsigned char state;
};

#define NVML_FABRIC_V2 (36u | 2u << 24)
#define NVML_FABRIC_V3 (40u | 3u << 24)

/* Which name of the library each is stands in nvml_symbols.c. */
struct nvml_symbols {
    void *library;
    int (*start)(void);
    int (*stop)(void);
    int (*driver_version)(char *, unsigned);
    int (*device_count)(unsigned *);
    int (*device)(unsigned, struct nvml_handle **);
    int (*pci)(struct nvml_handle *, struct nvml_pci *);
    int (*name)(struct nvml_handle *, char *, unsigned);
    int (*uuid)(struct nvml_handle *, char *, unsigned);
    int (*memory)(struct nvml_handle *, struct nvml_memory *);
    int (*compute)(struct nvml_handle *, int *, int *);
    int (*mig)(struct nvml_handle *, unsigned *, unsigned *); /* now, pending */
    int (*c2c)(struct nvml_handle *, unsigned *);
    int (*pcie_width)(struct nvml_handle *, unsigned *);
    int (*pcie_maximum_width)(struct nvml_handle *, unsigned *);
    int (*pcie_maximum_generation)(struct nvml_handle *, unsigned *);
    int (*cpu_affinity)(struct nvml_handle *, unsigned, unsigned long *);
    int (*memory_affinity)(struct nvml_handle *, unsigned, unsigned long *, unsigned);
    int (*common_ancestor)(struct nvml_handle *, struct nvml_handle *, unsigned *);
    int (*p2p)(struct nvml_handle *, struct nvml_handle *, int, unsigned *);
    int (*link_state)(struct nvml_handle *, unsigned, unsigned *);
    int (*link_version)(struct nvml_handle *, unsigned, unsigned *);
    int (*link_capability)(struct nvml_handle *, unsigned, unsigned, unsigned *);
    int (*link_remote)(struct nvml_handle *, unsigned, struct nvml_pci *);
    int (*link_remote_type)(struct nvml_handle *, unsigned, unsigned *);
    int (*fields)(struct nvml_handle *, int, struct nvml_field *);
    int (*fabric)(struct nvml_handle *, struct nvml_fabric *);
    int (*fabric_v1)(struct nvml_handle *, struct nvml_fabric_v1 *);
};

/* A function that may be missing. */
#define NVML_CALL(function, ...)                                                                   \
    ((function) ? (function)(__VA_ARGS__) : (int)NVML_FUNCTION_NOT_FOUND)

/* 0 with ret->library NULL: no such library on this machine. Errors: it does not load, or has
 * not what we need. Shuts down and unloads in nvml_symbols_done. */
int nvml_symbols_open(const char *library, struct nvml_symbols *ret, struct error_info *err);
void nvml_symbols_done(struct nvml_symbols *symbols);

/* "libnvidia-ml.so.1: nvmlInit_v2: a GPU is lost (code 15); see dmesg …": an error of kind
 * ERROR_SYSTEM for what a function returned. Always -1. */
int nvml_error(struct error_info *err, const char *library, const char *function, int result);

DEFINE_CLEANUP_DONE(nvml_symbols);

#endif
