/* SPDX-License-Identifier: MIT */
#include "report/scan/scan_runs.h"

#include <string.h>

#define DIGITS 6u
#define GIGA 1e9
#define BITS_PER_BYTE 8.0

static const char header[] =
    "id,set,model,layers,hidden,ffn,gated,heads,kv_heads,vocab,seq,experts,topk,gpu,gpu_mem_gb,"
    "gpus_per_node,n_gpus,interconnect,gbs,mbs,tp,pp,vpp,cp,ep,dp,zero_fsdp,recompute,precision,"
    "step_time_s,note,framework,cluster\n";

/* What a measured plan has that the columns do not; NULL: nothing. */
static const char *without_column(const struct plan *plan)
{
    if (plan->offload != OFFLOAD_NONE)
        return "offload";
    if (plan->schedule == SCHEDULE_NAIVE || plan->schedule == SCHEDULE_ZERO_BUBBLE)
        return "the schedule";
    if (plan->degrees.ep > 1 && plan->degrees.etp > 1)
        return "etp";
    return NULL;
}

/* The same of the training, which all plans share. */
static const char *training_without_column(const struct training_spec *training)
{
    const struct {
        bool lacking;
        const char *name;
    } facts[] = {
        {training->trainable < 1 || training->lora_rank > 0, "trainable"},
        {training->mtp_layers > 0, "mtp"},
        {training->optimizer != OPTIMIZER_ADAM, "optimizer"},
        {training_expert_load(training) > 1, "imbalance and capacity_factor"},
    };
    for (size_t i = 0; i < COUNT_OF(facts); i++)
        if (facts[i].lacking)
            return facts[i].name;
    return NULL;
}

static int check_columns(const struct scan_report *report, struct error_info *err)
{
    const char *lacking = training_without_column(report->plan->training);
    for (size_t i = 0; i < report->grid->row_count && !lacking; i++)
        if (report->result->measures[i].seconds > 0)
            lacking = without_column(&report->grid->rows[i].plan);
    if (!lacking)
        return 0;
    return error_set(err, "--format csv: a table of runs has no column for %s; use --format json",
                     lacking);
}

/* In quotes: names may have commas, and a line must not begin with '#'. */
static void add_text(const char *text, struct text_buffer *out)
{
    text_buffer_add_text(out, "\"");
    for (const char *at = text ? text : ""; *at != '\0'; at++)
        text_buffer_add(out, "%s%c", *at == '"' ? "\"" : "", *at);
    text_buffer_add_text(out, "\"");
}

static void add_model(const struct model_spec *model, unsigned sequence_length,
                      struct text_buffer *out)
{
    add_text(model->name, out);
    text_buffer_add(out, ",%u,%u,%u,%u,%u,", model->layers, model->hidden,
                    model->experts > 0 ? model->expert_ffn : model->ffn, model->gated_mlp ? 1 : 0,
                    model->heads);
    if (model->attention == ATTENTION_LATENT)
        text_buffer_add_text(out, "MLA");
    else
        text_buffer_add(out, "%u", model->kv_heads);
    text_buffer_add(out, ",%u,%u,", model->vocabulary, sequence_length);
    if (model->experts > 0)
        text_buffer_add(out, "%u,%u", model->experts, model->experts_per_token);
    else
        text_buffer_add_text(out, ",");
}

static void add_place(const struct plan_report *plan, struct text_buffer *out)
{
    const struct node_topology *node = plan->request->cluster->kinds[0];
    double gbit = node->gpu_nic_bytes_per_second * BITS_PER_BYTE / GIGA;
    add_text(node->gpus[0].model, out);
    text_buffer_add_text(out, ",");
    if (node->gpus[0].memory_bytes > 0)
        text_buffer_add_real(out, (double)node->gpus[0].memory_bytes / GIGA, DIGITS);
    text_buffer_add(out, ",%u,%llu,", plan->gpus_per_node, (unsigned long long)plan->world);
    if (gbit > 0) {
        text_buffer_add_real(out, gbit, DIGITS);
        text_buffer_add_text(out, "G/GPU");
    }
}

static void add_plan(const struct plan *plan, struct text_buffer *out)
{
    const struct degrees *degrees = &plan->degrees;
    text_buffer_add(out, "%u,%u,%u,%u,%u,%u,%u,", plan->micro_batch, degrees->tp, degrees->pp,
                    degrees->vpp, degrees->cp, degrees->ep, degrees->dp);
    text_buffer_add_text(out, sharding_name(plan->sharding));
    if (plan->sharding != SHARDING_NONE && degrees->shard < degrees->dp)
        text_buffer_add(out, " within %u GPUs", degrees->shard);
    text_buffer_add(out, ",%s,%s,", recompute_name(plan->recompute),
                    precision_name(plan->precision));
}

int scan_runs_write(const struct scan_report *report, const char *preset, struct text_buffer *out,
                    struct error_info *err)
{
    const struct plan_report *plan = report->plan;
    const struct model_spec *model = plan->request->model;
    if (check_columns(report, err) < 0)
        return -1;
    text_buffer_add_text(out, header);
    for (size_t i = 0; i < report->grid->row_count; i++) {
        const struct scan_row *row = &report->grid->rows[i];
        double seconds = report->result->measures[i].seconds;
        if (seconds <= 0)
            continue;
        text_buffer_add(out, "\"%s\",sweep,", row->id);
        add_model(model, plan->training->sequence_length, out);
        text_buffer_add_text(out, ",");
        add_place(plan, out);
        text_buffer_add(out, ",%u,", plan->training->global_batch);
        add_plan(&row->plan, out);
        text_buffer_add_real(out, seconds, DIGITS);
        text_buffer_add(out, ",%s,", row->plan.schedule == SCHEDULE_GPIPE ? "gpipe" : "");
        add_text(plan->framework, out);
        text_buffer_add_text(out, ",");
        add_text(preset, out);
        text_buffer_add_text(out, "\n");
    }
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}
