/* SPDX-License-Identifier: MIT */
#include "validation/published_run.h"

#include "base/parse_number.h"
#include "validation/interconnect_text.h"
#include "validation/published_model.h"
#include "workload/job_spec.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define GIB 1073741824.0
#define GIGA 1e9
#define BITS_PER_BYTE 8.0
#define USUAL_SEQUENCE 2048
#define FULL_PIPELINE 4 /* micro batches a stage, where only the micro batch is published */

struct cells {
    const struct csv_table *table;
    size_t row;
};

static const char *text(const struct cells *cells, const char *name)
{
    return csv_cell(cells->table, cells->row, name);
}

/* A cell that is no number ("MLA", "2-10") counts as not published. */
static double number(const struct cells *cells, const char *name, double otherwise)
{
    double value = otherwise;
    csv_real(cells->table, cells->row, name, 0, 1e18, &value, NULL);
    return value;
}

static unsigned whole(const struct cells *cells, const char *name, unsigned otherwise)
{
    double value = number(cells, name, otherwise);
    return value < 4e9 ? (unsigned)value : otherwise;
}

struct word {
    const char *word;
    unsigned value;
};

/* The first whose word stands in the cell, upper or lower case. */
static unsigned word_value(const struct word *words, size_t count, const char *cell,
                           unsigned otherwise)
{
    for (size_t i = 0; i < count; i++)
        if (strcasestr(cell, words[i].word))
            return words[i].value;
    return otherwise;
}

static const struct word sharding_words[] = {
    {"none", SHARDING_NONE},   {"zero0", SHARDING_NONE},  {"ddp", SHARDING_NONE},
    {"zero1", SHARDING_ZERO1}, {"zero2", SHARDING_ZERO2}, {"zero3", SHARDING_ZERO3},
    {"hsdp", SHARDING_HSDP},   {"fsdp", SHARDING_ZERO3},
};
static const struct word recompute_words[] = {
    {"selective", RECOMPUTE_SELECTIVE},
    {"full", RECOMPUTE_FULL},
    {"none", RECOMPUTE_NONE},
};
static const struct word precision_words[] = {
    {"fp4", PRECISION_COUNT}, {"fp8", PRECISION_FP8},   {"fp16", PRECISION_FP16},
    {"bf16", PRECISION_BF16}, {"fp32", PRECISION_FP32}, {"tf32", PRECISION_FP32},
};

/* "zero1 within 8 GPUs (hybrid)": the states of a smaller group. */
static unsigned shard_width(const struct cells *cells, const struct plan *plan)
{
    const char *cell = text(cells, "zero_fsdp"), *within = strstr(cell, "within ");
    uint64_t width = 0;
    char digits[8] = "";
    if (plan->sharding == SHARDING_NONE)
        return 1;
    if (within) {
        within += strlen("within ");
        size_t length = strspn(within, "0123456789");
        if (length > 0 && length < sizeof(digits)) {
            memcpy(digits, within, length);
            parse_unsigned(digits, 1, DEGREE_MAXIMUM, &width, NULL);
        }
    }
    return width > 0 && plan->degrees.dp % width == 0 ? (unsigned)width : plan->degrees.dp;
}

static unsigned or_one(unsigned value) { return value > 0 ? value : 1; }

static const char *read_degrees(const struct cells *cells, struct published_run *run)
{
    struct plan *plan = &run->plan;
    struct degrees *degrees = &plan->degrees;
    *plan = (struct plan){.degrees = DEGREES_ONE};
    degrees->tp = or_one(whole(cells, "tp", 0));
    degrees->pp = or_one(whole(cells, "pp", 0));
    degrees->cp = or_one(whole(cells, "cp", 0));
    degrees->vpp =
        or_one(whole(cells, "vpp", degrees->pp > 1 ? (unsigned)run->publication->vpp : 0));
    degrees->ep = or_one(whole(cells, "ep", 0));
    degrees->etp = degrees->ep > 1 ? 1 : degrees->tp;
    uint64_t cell = (uint64_t)degrees->tp * degrees->pp * degrees->cp;
    if (*text(cells, "tp") == '\0' && *text(cells, "pp") == '\0')
        return "tp and pp are not published";
    if (run->gpus > PUBLISHED_RUN_MAXIMUM_GPUS)
        return "more GPUs than the 131072 that are modelled";
    if (run->gpus == 0 || cell > run->gpus || run->gpus % cell != 0)
        return "tp * cp * pp does not divide the number of GPUs";
    degrees->dp = (unsigned)(run->gpus / cell);
    plan->sharding = (enum sharding)word_value(sharding_words, COUNT_OF(sharding_words),
                                               text(cells, "zero_fsdp"), SHARDING_ZERO1);
    degrees->shard = shard_width(cells, plan);
    if (plan->sharding == SHARDING_ZERO3 && degrees->shard < degrees->dp)
        plan->sharding = SHARDING_HSDP;
    degrees->replicate = degrees->dp / degrees->shard;
    if ((uint64_t)degrees->tp * degrees->cp * degrees->dp % degrees->ep != 0)
        return "ep does not divide tp * cp * dp";
    return NULL;
}

static enum schedule schedule_of(const struct cells *cells, const struct degrees *degrees)
{
    if (degrees->pp == 1)
        return SCHEDULE_NONE;
    if (strcasestr(text(cells, "note"), "gpipe"))
        return SCHEDULE_GPIPE;
    return degrees->vpp > 1 ? SCHEDULE_INTERLEAVED : SCHEDULE_1F1B;
}

/* Where the row is silent. FSDP in a pipeline: torchtitan cuts the batch of a replica into as many
 * micro batches as there are stages; else frameworks want it stated, and recipes say 1. */
static unsigned silent_micro_batch(const struct plan *plan, unsigned replica_batch)
{
    unsigned pp = plan->degrees.pp;
    bool gathered = plan->sharding == SHARDING_ZERO3 || plan->sharding == SHARDING_HSDP;
    if (pp > 1 && !gathered)
        return 1;
    return or_one(replica_batch / pp);
}

static const char *read_batch(const struct cells *cells, struct published_run *run)
{
    struct plan *plan = &run->plan;
    unsigned dp = plan->degrees.dp, pp = plan->degrees.pp;
    uint64_t batch = whole(cells, "gbs", 0);
    plan->micro_batch = whole(cells, "mbs", 0);
    if (batch == 0 && plan->micro_batch == 0)
        return "neither global nor micro batch is published";
    if (batch == 0)
        batch = (uint64_t)plan->micro_batch * dp * (pp > 1 ? FULL_PIPELINE * pp : 1);
    if (batch > JOB_SEQUENCES_MAXIMUM)
        return "the global batch is larger than what is modelled";
    run->global_batch = (unsigned)batch;
    if (plan->micro_batch == 0)
        plan->micro_batch = silent_micro_batch(plan, run->global_batch / dp);
    plan->micro_batches = run->global_batch / plan->micro_batch / dp;
    return plan->micro_batches > 0 ? NULL : "the global batch is smaller than micro batch * dp";
}

static const char *read_plan(const struct cells *cells, struct published_run *run)
{
    struct plan *plan = &run->plan;
    const char *reason = read_degrees(cells, run);
    if (!reason)
        reason = read_batch(cells, run);
    if (reason)
        return reason;
    plan->recompute = (enum recompute)word_value(recompute_words, COUNT_OF(recompute_words),
                                                 text(cells, "recompute"), RECOMPUTE_NONE);
    plan->precision = (enum precision)word_value(precision_words, COUNT_OF(precision_words),
                                                 text(cells, "precision"), PRECISION_BF16);
    plan->schedule = schedule_of(cells, &plan->degrees);
    run->sequence_parallel_given = *text(cells, "sp") != '\0' && plan->degrees.tp > 1;
    run->sequence_parallel = number(cells, "sp", 0) > 0;
    return plan->precision < PRECISION_COUNT ? NULL : "FP4 is not modelled";
}

static const char *read_place(const struct cells *cells,
                              const struct publication_catalogue *publications,
                              struct published_run *run)
{
    const struct publication_gpu *gpu =
        publication_gpu_of(publications, run->gpu_name, number(cells, "gpu_mem_gb", 0));
    if (*text(cells, "cluster") == '\0' && !gpu)
        return "no node preset has that GPU";
    run->preset = *text(cells, "cluster") != '\0' ? text(cells, "cluster") : gpu->preset;
    run->nvlink_bytes_per_second = gpu ? gpu->nvlink_gb_per_second * GIGA : 0;
    run->publication = publication_of_set(publications, run->set, text(cells, "zero_fsdp"));
    run->framework =
        *text(cells, "framework") != '\0' ? text(cells, "framework") : run->publication->framework;
    run->gpus = whole(cells, "n_gpus", 0);
    run->gpus_per_node = whole(cells, "gpus_per_node", 0);
    double gbit = interconnect_gbit_per_gpu(text(cells, "interconnect"),
                                            run->gpus_per_node > 0 ? run->gpus_per_node : 8);
    if (gbit <= 0)
        gbit = run->publication->network_gbit_per_gpu;
    run->network_bytes_per_second = gbit * GIGA / BITS_PER_BYTE;
    run->nic_name = interconnect_nic_name(text(cells, "interconnect"), &run->is_ethernet);
    return NULL;
}

static void read_speed(const struct cells *cells, struct published_run *run)
{
    const char *kind = text(cells, "flops_kind");
    run->step_seconds = number(cells, "step_time_s", 0);
    run->tokens_per_second = number(cells, "tokens_s_gpu", 0);
    run->flops_per_second = number(cells, "tflops_gpu", 0) * GIGA * 1e3;
    run->parameters = number(cells, "params_b", 0) * GIGA;
    run->flops_kind = FLOPS_MODEL;
    if (strstr(kind, "hardware"))
        run->flops_kind = strstr(kind, "8*params") ? FLOPS_EIGHT_PER_PARAMETER : FLOPS_HARDWARE;
}

static void read_memory(const struct cells *cells, struct published_run *run)
{
    const char *measured = text(cells, "measured");
    bool out = strcasecmp(text(cells, "status"), "OOM") == 0;
    double unit = strcmp(text(cells, "unit"), "GiB") == 0 ? GIB : GIGA;
    run->memory_bytes = number(cells, "value", 0) * unit;
    run->memory_fragmented = strcasestr(text(cells, "note"), "fragmentation") != NULL;
    run->memory_allocated = strcasestr(text(cells, "what"), "allocated") != NULL ||
                            strcasestr(text(cells, "what"), "reserved") != NULL;
    run->memory_fact = MEMORY_NO_FACT;
    if (strcasestr(text(cells, "what"), "middle stage"))
        return; /* the estimate is of the stage that needs most */
    if (out)
        run->memory_fact = MEMORY_RAN_OUT;
    else if (strcmp(measured, "peak") == 0 && run->memory_bytes > 0)
        run->memory_fact = MEMORY_PEAK;
    else if (strcmp(measured, "fit/OOM") == 0)
        run->memory_fact = MEMORY_FITTED;
}

bool published_run_read(const struct csv_table *table, size_t row,
                        const struct publication_catalogue *publications,
                        const struct model_catalogue *models, struct published_run *ret,
                        const char **ret_reason)
{
    struct cells cells = {table, row};
    *ret = (struct published_run){
        .id = text(&cells, "id"),
        .set = text(&cells, "set"),
        .model_name = text(&cells, "model"),
        .gpu_name = text(&cells, "gpu"),
        .sequence_length = whole(&cells, "seq", USUAL_SEQUENCE),
    };
    const char *reason = read_place(&cells, publications, ret);
    if (!reason)
        reason = published_model_read(table, row, models, &ret->model);
    if (!reason)
        reason = read_plan(&cells, ret);
    read_speed(&cells, ret);
    read_memory(&cells, ret);
    *ret_reason = reason;
    return reason == NULL;
}

#define ALTERNATIVES 3

struct need {
    bool runs, memory;                /* which tables */
    const char *columns;              /* for the message */
    const char *either[ALTERNATIVES]; /* any of them will do */
};

static const struct need needs[] = {
    {true, true, "id or set", {"id", "set"}},
    {true, true, "model", {"model", "layers"}},
    {true, true, "gpu", {"gpu", "cluster"}},
    {true, true, "n_gpus", {"n_gpus"}},
    {true,
     false,
     "step_time_s, tokens_s_gpu or tflops_gpu",
     {"step_time_s", "tokens_s_gpu", "tflops_gpu"}},
    {false, true, "measured or status", {"measured", "status"}},
};

static bool is_met(const struct need *need, const struct csv_table *table)
{
    for (size_t i = 0; i < ALTERNATIVES && need->either[i]; i++)
        if (csv_column(table, need->either[i]) != CSV_NO_COLUMN)
            return true;
    return false;
}

int published_runs_check(const struct csv_table *table, enum published_table kind,
                         struct error_info *err)
{
    char lacking[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < COUNT_OF(needs); i++) {
        bool asked = kind == PUBLISHED_RUNS ? needs[i].runs : needs[i].memory;
        if (asked && !is_met(&needs[i], table))
            used += (size_t)snprintf(lacking + used, sizeof(lacking) - used, "%s%s",
                                     used > 0 ? "; " : "", needs[i].columns);
    }
    if (used == 0)
        return 0;
    return error_set(err, "%s: no table of %s: it has no column %s (CSV; docs/accuracy.md)",
                     table->source, kind == PUBLISHED_RUNS ? "runs" : "memory peaks", lacking);
}
