/* SPDX-License-Identifier: MIT */
#include "k8s_extender/placement/gpu_labels.h"
#include "base/cleanup.h"
#include "base/parse_number.h"
#include <string.h>

#define MAXIMUM_COUNT 65536u
#define MAXIMUM_MEMORY_UNITS (UINT64_C(1) << 40)
#define MEMORY_DIGITS 16u
#define MEBIBYTE ((uint64_t)1 << 20)
#define GIBIBYTE ((uint64_t)1 << 30)

struct label_source {
    const char *product, *count, *memory; /* keys; count and memory may be NULL */
    uint64_t memory_unit;                 /* of a number without a letter */
};

static const struct label_source sources[] = {
    /* NVIDIA gpu-feature-discovery: "NVIDIA-H100-80GB-HBM3", "8", "81559" */
    {"nvidia.com/gpu.product", "nvidia.com/gpu.count", "nvidia.com/gpu.memory", MEBIBYTE},
    /* AMD k8s-device-plugin's node labeller: "AMD_Instinct_MI300X_OAM", "192G" */
    {"amd.com/gpu.product-name", NULL, "amd.com/gpu.vram", MEBIBYTE},
    {"beta.amd.com/gpu.product-name", NULL, "beta.amd.com/gpu.vram", MEBIBYTE},
    /* CoreWeave: "H100_NVLINK_80GB", "8", "81" */
    {"gpu.nvidia.com/class", "gpu.nvidia.com/count", "gpu.nvidia.com/vram", GIBIBYTE},
    /* Karpenter and EKS Auto Mode: "h100", "8", "81920" */
    {"karpenter.k8s.aws/instance-gpu-name", "karpenter.k8s.aws/instance-gpu-count",
     "karpenter.k8s.aws/instance-gpu-memory", MEBIBYTE},
    {"eks.amazonaws.com/instance-gpu-name", "eks.amazonaws.com/instance-gpu-count",
     "eks.amazonaws.com/instance-gpu-memory", MEBIBYTE},
    /* GKE: "nvidia-h100-80gb", "8" */
    {"cloud.google.com/gke-accelerator", "cloud.google.com/gke-accelerator-count", NULL, MEBIBYTE},
};

/* Products whose name says less than is known of them. */
static const struct {
    const char *product, *name;
} special_names[] = {
    {"nvidia-tesla-a100", "a100-sxm-40"}, /* GKE: a2-highgpu; the 80 GB one is nvidia-a100-80gb */
};

static const char *value_of(const struct label_set *labels, const char *key)
{
    const char *value = key ? label_set_find(labels, key) : NULL;
    return value && *value ? value : NULL;
}

/* "81559" in the source's unit, "192G". */
static uint64_t read_memory(const char *text, uint64_t unit)
{
    static const char letters[] = "KMGT";
    char digits[MEMORY_DIGITS + 1];
    size_t length = text ? strspn(text, "0123456789") : 0;
    if (length == 0 || length > MEMORY_DIGITS)
        return 0;
    memcpy(digits, text, length);
    digits[length] = '\0';
    const char *letter = text[length] ? strchr(letters, text[length]) : NULL;
    if (letter)
        unit = UINT64_C(1) << (10 * (letter - letters + 1));
    uint64_t number = 0, bytes = 0;
    if ((text[length] && !letter) ||
        parse_unsigned(digits, 0, MAXIMUM_MEMORY_UNITS, &number, NULL) < 0 ||
        __builtin_mul_overflow(number, unit, &bytes))
        return 0;
    return bytes;
}

/* "…-SHARED": time slices (gpu-feature-discovery); "…-MIG-1g.5gb": MIG's single strategy. */
static bool is_part(const char *product)
{
    static const char shared[] = "-SHARED";
    size_t length = strlen(product), end = sizeof(shared) - 1;
    return strstr(product, "-MIG-") ||
           (length >= end && strcmp(product + length - end, shared) == 0);
}

static const char *name_of(const char *product)
{
    for (size_t i = 0; i < COUNT_OF(special_names); i++)
        if (strcmp(product, special_names[i].product) == 0)
            return special_names[i].name;
    return product;
}

void gpu_labels_read(const struct label_set *labels, struct gpu_labels *ret)
{
    *ret = (struct gpu_labels){.count = 0};
    for (size_t i = 0; i < COUNT_OF(sources); i++) {
        const char *product = value_of(labels, sources[i].product);
        const char *count = value_of(labels, sources[i].count);
        uint64_t number = 0;
        if (ret->count == 0 && count && parse_unsigned(count, 0, MAXIMUM_COUNT, &number, NULL) == 0)
            ret->count = (unsigned)number;
        if (!product)
            continue;
        ret->key = sources[i].product;
        ret->product = product;
        ret->name = name_of(product);
        ret->memory_bytes =
            read_memory(value_of(labels, sources[i].memory), sources[i].memory_unit);
        ret->is_part = is_part(product);
        return;
    }
}
