/* SPDX-License-Identifier: MIT */
#include "planner/measured/kernel_profile.h"

#include "base/parse_number.h"
#include "base/text_file.h"
#include <string.h>
#include <strings.h>

#define SECONDS_MAXIMUM 1e18 /* of a cell, in its own unit */
#define INSTANCES_MAXIMUM 1e15
#define MICRO 1e-6

struct name_rule {
    const char *word; /* anywhere in the name, without case */
    enum kernel_class class;
};

/* Whose kernels are collectives: NCCL and RCCL (ncclDevKernel_…, before NCCL 2.19 ncclKernel_…),
 * MSCCL, Transformer Engine's userbuffers, DeepEP, NVSHMEM. */
static const char *const collective_words[] = {"ncclDevKernel", "ncclKernel", "mscclKernel",
                                               "userbuffers",   "deep_ep",    "nvshmem"};

/* The first rule that fits counts: ReduceScatter before Reduce. */
static const struct name_rule collective_rules[] = {
    {"AllReduce", KERNEL_ALL_REDUCE},
    {"AllGather", KERNEL_ALL_GATHER},
    {"ReduceScatter", KERNEL_REDUCE_SCATTER},
    {"AllToAll", KERNEL_ALL_TO_ALL},
    {"dispatch", KERNEL_ALL_TO_ALL},
    {"combine", KERNEL_ALL_TO_ALL},
    {"SendRecv", KERNEL_SEND_RECV},
    {"Broadcast", KERNEL_BROADCAST},
    {"Reduce", KERNEL_BROADCAST},
    {"", KERNEL_COLLECTIVE},
};

/* Attention first: its kernels are often built from the same parts as matrix products. nvjet
 * and xmma: cuBLAS; Cijk: hipBLASLt and Tensile; s884, s1688, s16816: tensor core tiles;
 * triton_tem: products that the compiler writes. */
static const struct name_rule compute_rules[] = {
    {"flash", KERNEL_ATTENTION},
    {"fmha", KERNEL_ATTENTION},
    {"sdpa", KERNEL_ATTENTION},
    {"attention", KERNEL_ATTENTION},
    {"attn", KERNEL_ATTENTION},
    {"gemm", KERNEL_GEMM},
    {"gemv", KERNEL_GEMM},
    {"nvjet", KERNEL_GEMM},
    {"xmma", KERNEL_GEMM},
    {"Cijk_", KERNEL_GEMM},
    {"s884", KERNEL_GEMM},
    {"s1688", KERNEL_GEMM},
    {"s16816", KERNEL_GEMM},
    {"triton_tem", KERNEL_GEMM},
    {"cutlass", KERNEL_GEMM},
    {"splitK", KERNEL_GEMM},
    {"elementwise", KERNEL_ELEMENTWISE},
    {"vectorized", KERNEL_ELEMENTWISE},
    {"norm", KERNEL_ELEMENTWISE},
    {"softmax", KERNEL_ELEMENTWISE},
    {"dropout", KERNEL_ELEMENTWISE},
    {"activation", KERNEL_ELEMENTWISE},
    {"gelu", KERNEL_ELEMENTWISE},
    {"silu", KERNEL_ELEMENTWISE},
    {"swiglu", KERNEL_ELEMENTWISE},
    {"rope", KERNEL_ELEMENTWISE},
    {"rotary", KERNEL_ELEMENTWISE},
    {"adam", KERNEL_ELEMENTWISE},
    {"multi_tensor", KERNEL_ELEMENTWISE},
    {"reduce", KERNEL_ELEMENTWISE},
    {"copy", KERNEL_ELEMENTWISE},
    {"cast", KERNEL_ELEMENTWISE},
    {"transpose", KERNEL_ELEMENTWISE},
    {"permute", KERNEL_ELEMENTWISE},
    {"embedding", KERNEL_ELEMENTWISE},
    {"entropy", KERNEL_ELEMENTWISE},
    {"triton_", KERNEL_ELEMENTWISE},
    {"", KERNEL_OTHER},
};

static enum kernel_class find_class(const struct name_rule *rules, const char *name)
{
    while (!strcasestr(name, rules->word))
        rules++;
    return rules->class;
}

enum kernel_class kernel_class_of(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(collective_words); i++)
        if (strcasestr(name, collective_words[i]))
            return find_class(collective_rules, name);
    return find_class(compute_rules, name);
}

const char *kernel_class_name(enum kernel_class class)
{
    static const char *const names[KERNEL_CLASS_COUNT] = {
        [KERNEL_ALL_REDUCE] = "all_reduce",
        [KERNEL_ALL_GATHER] = "all_gather",
        [KERNEL_REDUCE_SCATTER] = "reduce_scatter",
        [KERNEL_ALL_TO_ALL] = "all_to_all",
        [KERNEL_SEND_RECV] = "send_recv",
        [KERNEL_BROADCAST] = "broadcast",
        [KERNEL_COLLECTIVE] = "other_collective",
        [KERNEL_GEMM] = "gemm",
        [KERNEL_ATTENTION] = "attention",
        [KERNEL_ELEMENTWISE] = "elementwise",
        [KERNEL_OTHER] = "other",
    };
    return names[class];
}

bool kernel_class_is_collective(enum kernel_class class) { return class <= KERNEL_COLLECTIVE; }

double kernel_profile_nccl_share(const struct kernel_profile *profile)
{
    double seconds = 0;
    for (unsigned i = 0; i <= KERNEL_COLLECTIVE; i++)
        seconds += profile->seconds[i];
    return seconds / profile->total_seconds;
}

/* A tool's columns. filter: rows with another text in that column are left out. */
struct profile_form {
    const char *kind, *name, *time, *count;
    double unit_seconds;
    const char *filter, *filter_word;
    const char *exclude; /* rows that are true there are left out; the column may be missing */
};

static const struct profile_form forms[] = {
    {"nsys", "Name", "Total Time (ns)", "Instances", 1e-9, NULL, NULL, NULL},
    {"nsys", "Name", "Total Time (us)", "Instances", MICRO, NULL, NULL, NULL},
    {"nsys", "Name", "Total Time (ms)", "Instances", 1e-3, NULL, NULL, NULL},
    {"nsys", "Name", "Total Time (s)", "Instances", 1, NULL, NULL, NULL},
    {"pytorch", "key", "self_device_time_total", "count", MICRO, "device_type", "CUDA",
     "is_user_annotation"},
    {"pytorch", "key", "self_cuda_time_total", "count", MICRO, "device_type", "CUDA",
     "is_user_annotation"},
};

static bool has_column(const struct csv_table *table, const char *name)
{
    return !name || csv_column(table, name) != CSV_NO_COLUMN;
}

static const struct profile_form *form_of(const struct csv_table *table)
{
    for (size_t i = 0; i < COUNT_OF(forms); i++)
        if (has_column(table, forms[i].name) && has_column(table, forms[i].time) &&
            has_column(table, forms[i].count) && has_column(table, forms[i].filter))
            return &forms[i];
    return NULL;
}

static bool counts(const struct csv_table *table, size_t row, const struct profile_form *form)
{
    if (form->filter && !strstr(csv_cell(table, row, form->filter), form->filter_word))
        return false;
    return !form->exclude || strcasecmp(csv_cell(table, row, form->exclude), "true") != 0;
}

static int add_row(const struct csv_table *table, size_t row, const struct profile_form *form,
                   struct kernel_profile *profile, struct error_info *err)
{
    double time = 0, count = 0;
    if (csv_real(table, row, form->time, 0, SECONDS_MAXIMUM, &time, err) < 0 ||
        csv_real(table, row, form->count, 0, INSTANCES_MAXIMUM, &count, err) < 0)
        return -1;
    enum kernel_class class = kernel_class_of(csv_cell(table, row, form->name));
    profile->seconds[class] += time * form->unit_seconds;
    profile->instances[class] += (uint64_t)count;
    profile->total_seconds += time * form->unit_seconds;
    profile->kernels++;
    return 0;
}

static int read_table(const struct csv_table *table, struct kernel_profile *ret,
                      struct error_info *err)
{
    const struct profile_form *form = form_of(table);
    struct kernel_profile profile = {.kind = form ? form->kind : NULL};
    if (!form)
        return error_set(err,
                         "%s: no kernel summary: it needs the columns Name, Total Time (ns) and "
                         "Instances (nsys stats --report cuda_gpu_kern_sum --format csv), or key, "
                         "device_type, self_device_time_total and count (PyTorch)",
                         table->source);
    for (size_t row = 0; row < table->rows; row++)
        if (counts(table, row, form) && add_row(table, row, form, &profile, err) < 0)
            return -1;
    if (profile.total_seconds <= 0)
        return error_set(err, "%s: no kernel in it took any time; profile some steps",
                         table->source);
    *ret = profile;
    return 0;
}

static bool is_header(const char *line, size_t length)
{
    static const char *const words[] = {"Total Time (", "self_device_time_total",
                                        "self_cuda_time_total"};
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (memmem(line, length, words[i], strlen(words[i])))
            return true;
    return false;
}

static size_t line_length(const char *line, const char *end)
{
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    return stop ? (size_t)(stop - line) : (size_t)(end - line);
}

/* Where the header's line starts; bytes where there is none. */
static size_t find_header(const char *text, size_t bytes)
{
    size_t at = 0;
    while (at < bytes) {
        size_t length = line_length(text + at, text + bytes);
        if (is_header(text + at, length))
            return at;
        at += length + 1;
    }
    return bytes;
}

/* Makes comments of the lines before the header, so that lines keep their numbers, and ends the
 * text at the first empty line after it. Returns the bytes that are left. */
static size_t cut_table(char *text, size_t bytes)
{
    size_t header = find_header(text, bytes), at = 0;
    if (header >= bytes)
        return bytes;
    while (at < bytes) {
        size_t length = line_length(text + at, text + bytes);
        bool empty = length == 0 || (length == 1 && text[at] == '\r');
        if (at > header && empty)
            return at;
        if (at < header && !empty)
            text[at] = '#';
        at += length + 1;
    }
    return bytes;
}

int kernel_profile_parse(const char *text, size_t bytes, const char *source,
                         struct kernel_profile *ret, struct error_info *err)
{
    CLEANUP_MEMORY char *copy = memory_copy_bytes(text, bytes);
    if (!copy)
        return error_set_memory(err);
    CLEANUP(csv_table)
    struct csv_table *table = csv_table_parse(copy, cut_table(copy, bytes), source, err);
    return table ? read_table(table, ret, err) : -1;
}

int kernel_profile_load(const char *path, struct kernel_profile *ret, struct error_info *err)
{
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = text_file_read(path, CSV_MAXIMUM_BYTES, &bytes, err);
    return text ? kernel_profile_parse(text, bytes, path, ret, err) : -1;
}
