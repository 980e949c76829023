/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/evidence/evidence_words.h"
#include "topology/node_readers/evidence_text.h"
#include <string.h>

const char *const evidence_source_words[EVIDENCE_SOURCE_COUNT] = {
    [EVIDENCE_PCI] = "pci",       [EVIDENCE_NCCL_XML] = "nccl",
    [EVIDENCE_TOPO_M] = "topo-m", [EVIDENCE_SLURM_GRES] = "gres",
    [EVIDENCE_HWLOC] = "hwloc",   [EVIDENCE_INFINIBAND] = "infiniband",
    [EVIDENCE_KFD] = "kfd",       [EVIDENCE_NVML] = "nvml",
    [EVIDENCE_PRESET] = "preset", [EVIDENCE_ADMIN] = "admin",
};

const char *const evidence_pair_words[EVIDENCE_PAIRS_COUNT] = {
    [EVIDENCE_PAIRS_NONE] = "none",
    [EVIDENCE_PAIRS_RATES] = "rates",
    [EVIDENCE_PAIRS_COUNTS] = "counts",
    [EVIDENCE_PAIRS_ASSUMED] = "assumed",
};

static bool is_plain(char byte) { return byte > ' ' && byte <= '~' && byte != '%'; }

static void add_text(struct text_buffer *out, const char *text)
{
    text_buffer_add_text(out, " ");
    if (!text || strcmp(text, "-") == 0) {
        text_buffer_add_text(out, text ? "%2D" : "-");
        return;
    }
    while (*text) {
        size_t plain = 0;
        while (is_plain(text[plain]))
            plain++;
        text_buffer_add_bytes(out, text, plain);
        text += plain;
        if (*text)
            text_buffer_add(out, "%%%02X", (unsigned char)*text++);
    }
}

static void add_number(struct text_buffer *out, uint64_t number)
{
    text_buffer_add(out, " %llu", (unsigned long long)number);
}

static void add_rate(struct text_buffer *out, double rate)
{
    add_number(out, rate > 0 && rate < (double)EVIDENCE_MAXIMUM_RATE ? (uint64_t)rate : 0);
}

static void encode_gpu(const struct evidence_gpu *gpu, struct text_buffer *out)
{
    text_buffer_add_text(out, "gpu");
    add_text(out, gpu->bus_id);
    add_text(out, gpu->model_text);
    add_text(out, gpu->uuid);
    add_number(out, gpu->memory_bytes);
    text_buffer_add(out, " %d", gpu->numa);
    add_text(out, gpu->cpus);
    add_text(out, gpu->nvlink_clique);
    text_buffer_add(out, " %d %d", gpu->mig, gpu->nvlink_lost);
    add_text(out, gpu->problem);
    text_buffer_add_text(out, "\n");
}

static void encode_nic(const struct evidence_nic *nic, struct text_buffer *out)
{
    text_buffer_add_text(out, "nic");
    add_text(out, nic->name);
    add_text(out, nic->bus_id);
    add_text(out, nic->driver_class);
    add_text(out, nic_state_name(nic->state));
    text_buffer_add(out, " %d %d %d %llx %d", nic->is_ethernet, nic->is_virtual, nic->shares_card,
                    (unsigned long long)nic->guid, nic->numa);
    add_rate(out, nic->bytes_per_second);
    add_text(out, nic->problem);
    add_text(out, nic->has_role ? nic_role_name(nic->role) : NULL);
    text_buffer_add(out, " %d", nic->rail);
    add_text(out, nic->reason);
    text_buffer_add_text(out, "\n");
}

static enum evidence_pairs pair_form_of(const struct node_evidence *evidence)
{
    if (evidence->nvlink_bytes_per_second)
        return evidence->nvlink_assumed ? EVIDENCE_PAIRS_ASSUMED : EVIDENCE_PAIRS_RATES;
    return evidence->nvlink_link_counts ? EVIDENCE_PAIRS_COUNTS : EVIDENCE_PAIRS_NONE;
}

/* A link is two-way: the smaller direction counts, and an unknown one leaves the pair unknown. */
static bool find_pair(const struct node_evidence *evidence, size_t i, size_t j, uint64_t *ret_value,
                      bool *ret_unknown)
{
    size_t there = i * evidence->gpu_count + j, back = j * evidence->gpu_count + i;
    double value = 0;
    *ret_unknown = false;
    if (evidence->nvlink_bytes_per_second) {
        const double *rates = evidence->nvlink_bytes_per_second;
        value = rates[there] < rates[back] ? rates[there] : rates[back];
        *ret_unknown = value < 0;
    } else if (evidence->nvlink_link_counts) {
        const unsigned *counts = evidence->nvlink_link_counts;
        unsigned least = counts[there] < counts[back] ? counts[there] : counts[back];
        *ret_unknown =
            counts[there] == NVLINK_COUNT_UNKNOWN || counts[back] == NVLINK_COUNT_UNKNOWN;
        value = least < EVIDENCE_MAXIMUM_LINKS ? least : EVIDENCE_MAXIMUM_LINKS;
    }
    bool possible =
        evidence->nvlink == NVLINK_KNOWN && value >= 1 && value < (double)EVIDENCE_MAXIMUM_RATE;
    *ret_value = possible ? (uint64_t)value : 0;
    return possible || *ret_unknown;
}

static void encode_pair(const struct node_evidence *evidence, size_t i, size_t j,
                        struct text_buffer *out)
{
    uint64_t value = 0;
    bool unknown = false;
    size_t at = i * evidence->gpu_count + j;
    if (find_pair(evidence, i, j, &value, &unknown)) {
        text_buffer_add(out, "nvlink %zu %zu", i, j);
        if (unknown)
            text_buffer_add_text(out, " " EVIDENCE_UNKNOWN_WORD);
        else
            add_number(out, value);
        text_buffer_add_text(out, "\n");
    }
    if (evidence->gpu_links && evidence->gpu_links[at] != LINK_UNKNOWN)
        text_buffer_add(out, "gpulink %zu %zu %s\n", i, j, link_kind_name(evidence->gpu_links[at]));
}

static void encode_pairs(const struct node_evidence *evidence, struct text_buffer *out)
{
    size_t n = evidence->gpu_count, m = evidence->nic_count;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++)
            encode_pair(evidence, i, j, out);
        for (size_t j = 0; evidence->nic_links && j < m; j++)
            if (evidence->nic_links[i * m + j] != LINK_UNKNOWN)
                text_buffer_add(out, "niclink %zu %zu %s\n", i, j,
                                link_kind_name(evidence->nic_links[i * m + j]));
    }
}

static void encode_node(const struct node_evidence *evidence, struct text_buffer *out)
{
    text_buffer_add(out, "%s\nnode %s %s %d %d %u", EVIDENCE_FIRST_LINE,
                    evidence_source_words[evidence->source], nvlink_state_name(evidence->nvlink),
                    evidence->nvlink_switched, evidence->nvlink_leaves_node,
                    evidence->nvlink_domain_nodes);
    add_rate(out, evidence->gpu_nvlink_bytes_per_second);
    add_rate(out, evidence->pcie_bytes_per_second);
    add_number(out, evidence->host_memory_bytes);
    add_number(out, evidence->host_nvme_bytes);
    add_number(out, evidence->cpu_count);
    add_text(out, evidence->driver_version);
    add_text(out, evidence_pair_words[pair_form_of(evidence)]);
    double link_rate = evidence->nvlink_link_bytes_per_second;
    add_rate(out, link_rate < (double)EVIDENCE_MAXIMUM_LINK_RATE ? link_rate : 0);
    add_text(out, evidence->source_text);
    text_buffer_add_text(out, "\n");
}

static void encode_words(const struct node_evidence *evidence, struct text_buffer *out)
{
    for (size_t i = 0; i < evidence->note_count; i++) {
        text_buffer_add_text(out, "note");
        add_text(out, evidence->notes[i]);
        text_buffer_add_text(out, "\n");
    }
    for (size_t i = 0; i < evidence->fact_count; i++) {
        text_buffer_add_text(out, "fact");
        add_text(out, evidence->facts[i].fact);
        add_text(out, evidence->facts[i].value);
        add_text(out, evidence->facts[i].source);
        text_buffer_add_text(out, "\n");
    }
}

void evidence_text_encode(const struct node_evidence *evidence, struct text_buffer *out)
{
    encode_node(evidence, out);
    for (unsigned i = 0; i < evidence->gpu_count; i++)
        encode_gpu(&evidence->gpus[i], out);
    for (unsigned i = 0; i < evidence->nic_count; i++)
        encode_nic(&evidence->nics[i], out);
    encode_pairs(evidence, out);
    encode_words(evidence, out);
    text_buffer_add_text(out, "end\n");
}
