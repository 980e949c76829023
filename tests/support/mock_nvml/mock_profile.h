/* SPDX-License-Identifier: MIT */
/*
 * mock_profile: the machine that the mock NVML library plays, from a small text file:
 *     # a comment
 *     driver 535.129.03            gpus 8                     name NVIDIA H100 80GB HBM3
 *     memory 85520809984           compute 9 0                pcie GENERATION
 *     slots 18                     link numbers that each GPU has; version CODE: NVLink's
 *     bus GPU DOMAIN BUS           hexadecimal                numa GPU NODE [MORE]
 *     cpus GPU FIRST LAST          width GPU NOW MAXIMUM      mig GPU            c2c
 *     switch N                     N links of each GPU to switches, whose ids are
 *     switch_id shown|empty|ones|binary|refused
 *     pair A B N, hidden A N, npu A N   links to a GPU, to one that is not visible, to a CPU
 *     up GPU N                     only the first N of its links are up
 *     p2p A B STATUS, apart GPU    NVLink's P2P status; apart: not OK (5) with all; else OK where
 *                                  there are links
 *     ancestor A B LEVEL           else by NUMA node: 40 or 50
 *     fabric STATE STATUS CLIQUE UUID (32 digits); fabric_of GPU STATE STATUS; health GPU SUMMARY
 *     fabric_version 1|2|3         the newest layout that the driver knows (3)
 *     without SYMBOL, return SYMBOL CODE [GPU], sleep SYMBOL SECONDS, crash SYMBOL
 * Later lines win. Numbers are decimal unless said.
 */
#ifndef TESTS_SUPPORT_MOCK_NVML_MOCK_PROFILE_H
#define TESTS_SUPPORT_MOCK_NVML_MOCK_PROFILE_H

#include <stdbool.h>

#define MOCK_GPUS 64u
#define MOCK_LINKS 36u
#define MOCK_RULES 32u
#define MOCK_TEXT_BYTES 96u

enum mock_end { MOCK_END_NONE, MOCK_END_GPU, MOCK_END_SWITCH, MOCK_END_HIDDEN, MOCK_END_NPU };
enum mock_switch_id { MOCK_SHOWN, MOCK_EMPTY, MOCK_ONES, MOCK_BINARY, MOCK_REFUSED };

struct mock_link {
    enum mock_end end;
    unsigned peer; /* of MOCK_END_GPU */
};

struct mock_gpu {
    unsigned index;
    unsigned domain, bus;
    int numa, numa_more; /* -1: not known */
    unsigned first_cpu, last_cpu, width, maximum_width;
    bool has_cpus, mig, apart;
    struct mock_link links[MOCK_LINKS];
    unsigned link_count, links_up;
    unsigned fabric_state, fabric_status, health;
};

enum mock_action { MOCK_WITHOUT, MOCK_RETURN, MOCK_SLEEP, MOCK_CRASH };

struct mock_rule {
    enum mock_action action;
    char symbol[MOCK_TEXT_BYTES];
    unsigned value;
    unsigned gpu; /* MOCK_GPUS: all */
};

struct mock_profile {
    char driver[MOCK_TEXT_BYTES], name[MOCK_TEXT_BYTES];
    unsigned gpu_count, slots, version, major, minor, pcie_generation, fabric_version;
    unsigned long long memory_bytes;
    enum mock_switch_id switch_id;
    bool c2c;
    unsigned fabric_clique;
    unsigned char cluster_uuid[16];
    struct mock_gpu gpus[MOCK_GPUS];
    int p2p[MOCK_GPUS][MOCK_GPUS], ancestor[MOCK_GPUS][MOCK_GPUS]; /* -1: by rule */
    struct mock_rule rules[MOCK_RULES];
    unsigned rule_count;
};

/* 0, or -1 with the reason on stderr. */
int mock_profile_load(struct mock_profile *profile, const char *path);

#endif
