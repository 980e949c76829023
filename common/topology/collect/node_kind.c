/* SPDX-License-Identifier: MIT */
#include "topology/collect/node_kind.h"
#include <string.h>

static bool same_text(const char *left, const char *right)
{
    return left && right ? strcmp(left, right) == 0 : left == right;
}

static bool same_number(double left, double right) { return !(left < right) && !(left > right); }

static bool near_size(uint64_t left, uint64_t right)
{
    uint64_t larger = left > right ? left : right, smaller = left > right ? right : left;
    if (smaller == 0)
        return larger == 0; /* one of them is unknown */
    return (double)(larger - smaller) <= (double)larger * NODE_KIND_HOST_TOLERANCE;
}

static bool same_gpus(const struct node_topology *left, const struct node_topology *right)
{
    for (unsigned i = 0; i < left->gpu_count; i++) {
        const struct node_gpu *a = &left->gpus[i], *b = &right->gpus[i];
        if (!same_text(a->model, b->model) || !same_text(a->bus_id, b->bus_id) ||
            !same_text(a->cpus, b->cpus) || !same_text(a->problem, b->problem) ||
            a->mig != b->mig || a->memory_bytes != b->memory_bytes || a->numa != b->numa)
            return false;
    }
    return true;
}

static bool same_nics(const struct node_topology *left, const struct node_topology *right)
{
    for (unsigned i = 0; i < left->nic_count; i++) {
        const struct node_nic *a = &left->nics[i], *b = &right->nics[i];
        if (!same_text(a->name, b->name) || !same_text(a->bus_id, b->bus_id) ||
            !same_text(a->problem, b->problem) || a->role != b->role || a->state != b->state ||
            a->rail != b->rail || a->numa != b->numa || a->is_ethernet != b->is_ethernet ||
            !same_number(a->bytes_per_second, b->bytes_per_second))
            return false;
    }
    return true;
}

static bool same_links(const enum link_kind *left, const enum link_kind *right, size_t count)
{
    if (!left || !right)
        return left == right;
    return memcmp(left, right, count * sizeof(*left)) == 0;
}

static bool same_nvlink(const struct node_topology *left, const struct node_topology *right)
{
    size_t n = left->gpu_count, m = left->nic_count;
    if (left->nvlink != right->nvlink || left->nvlink_switched != right->nvlink_switched ||
        left->nvlink_leaves_node != right->nvlink_leaves_node ||
        left->nvlink_domain_nodes != right->nvlink_domain_nodes ||
        !same_number(left->gpu_nvlink_bytes_per_second, right->gpu_nvlink_bytes_per_second))
        return false;
    for (size_t i = 0; i < n * n; i++)
        if (!same_number(left->nvlink_bytes_per_second[i], right->nvlink_bytes_per_second[i]))
            return false;
    return same_links(left->links, right->links, n * n) &&
           same_links(left->nic_links, right->nic_links, n * m);
}

static bool same_host(const struct node_topology *left, const struct node_topology *right)
{
    return left->cpu_count == right->cpu_count &&
           same_text(left->driver_version, right->driver_version) &&
           same_number(left->pcie_bytes_per_second, right->pcie_bytes_per_second) &&
           near_size(left->host_memory_bytes, right->host_memory_bytes) &&
           near_size(left->host_nvme_bytes, right->host_nvme_bytes);
}

bool node_kind_is_same(const struct node_topology *left, const struct node_topology *right)
{
    return left->gpu_count == right->gpu_count && left->nic_count == right->nic_count &&
           same_host(left, right) && same_gpus(left, right) && same_nics(left, right) &&
           same_nvlink(left, right);
}

static bool has_problems(const struct node_topology *node)
{
    for (unsigned i = 0; i < node->gpu_count; i++)
        if (node->gpus[i].problem)
            return true;
    for (unsigned i = 0; i < node->nic_count; i++)
        if (node->nics[i].problem)
            return true;
    return false;
}

static const char *common_model(const struct node_topology *node)
{
    for (unsigned i = 1; i < node->gpu_count; i++)
        if (!same_text(node->gpus[i].model, node->gpus[0].model))
            return "mixed";
    return node->gpus[0].model && node->gpus[0].model[0] ? node->gpus[0].model : "gpu";
}

/* "NVIDIA H100 80GB HBM3" becomes "nvidia-h100-80gb-hbm3". */
static void add_word(struct text_buffer *out, const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    bool gap = false;
    for (; *text; text++) {
        const char *capital = strchr(capitals, *text);
        char letter = capital ? letters[capital - capitals] : *text;
        if (!strchr(letters, letter)) {
            gap = true;
            continue;
        }
        text_buffer_add(out, "%s%c", gap ? "-" : "", letter);
        gap = false;
    }
}

void node_kind_name(const struct node_topology *node, struct text_buffer *out)
{
    if (node->gpu_count == 0) {
        text_buffer_add_text(out, "no-gpus");
    } else {
        text_buffer_add(out, "%ux-", node->gpu_count);
        add_word(out, common_model(node));
    }
    if (has_problems(node))
        text_buffer_add_text(out, "-degraded");
}

static bool was_told(const struct node_topology *node, unsigned gpu)
{
    for (unsigned i = 0; i < gpu; i++)
        if (same_text(node->gpus[i].problem, node->gpus[gpu].problem))
            return true;
    return false;
}

/* GPUs of one problem together. */
static void add_gpu_problem(const struct node_topology *node, unsigned gpu, struct text_buffer *out)
{
    const char *separator = "";
    text_buffer_add_text(out, "GPU ");
    for (unsigned i = gpu; i < node->gpu_count; i++) {
        if (!same_text(node->gpus[i].problem, node->gpus[gpu].problem))
            continue;
        text_buffer_add(out, "%s%u", separator, i);
        separator = ",";
    }
    text_buffer_add(out, ": %s", node->gpus[gpu].problem);
}

bool node_kind_problems(const struct node_topology *node, struct text_buffer *out)
{
    const char *separator = "";
    for (unsigned i = 0; i < node->gpu_count; i++) {
        if (!node->gpus[i].problem || was_told(node, i))
            continue;
        text_buffer_add_text(out, separator);
        add_gpu_problem(node, i, out);
        separator = "; ";
    }
    for (unsigned i = 0; i < node->nic_count; i++) {
        if (!node->nics[i].problem)
            continue;
        text_buffer_add(out, "%sNIC %s: %s", separator,
                        node->nics[i].name ? node->nics[i].name : "without a name",
                        node->nics[i].problem);
        separator = "; ";
    }
    return separator[0] != '\0';
}
