/* SPDX-License-Identifier: MIT */
#include "report/scan/scan_script.h"

#include "report/scan/shell_word.h"
#include <stdio.h>
#include <string.h>

#define TITLE_BYTES 256

static const struct shell_placeholder placeholders[] = {
    {"row", "PARPLAN_SWEEP_ROW"},
    {"steps", "PARPLAN_SWEEP_STEPS"},
    {"tp", "PARPLAN_SWEEP_TP"},
    {"cp", "PARPLAN_SWEEP_CP"},
    {"ep", "PARPLAN_SWEEP_EP"},
    {"etp", "PARPLAN_SWEEP_ETP"},
    {"pp", "PARPLAN_SWEEP_PP"},
    {"vpp", "PARPLAN_SWEEP_VPP"},
    {"dp", "PARPLAN_SWEEP_DP"},
    {"sharding", "PARPLAN_SWEEP_SHARDING"},
    {"shard", "PARPLAN_SWEEP_SHARD"},
    {"micro_batch", "PARPLAN_SWEEP_MICRO_BATCH"},
    {"recompute", "PARPLAN_SWEEP_RECOMPUTE"},
    {"global_batch", "PARPLAN_SWEEP_GLOBAL_BATCH"},
    {"sequence_length", "PARPLAN_SWEEP_SEQUENCE_LENGTH"},
};

static int check_command(const struct scan_script *script, struct error_info *err)
{
    size_t bytes = 0;
    if (script->word_count == 0)
        return error_set(err, "a batch script needs the command that it runs: `parplan sweep … "
                              "--format sbatch -- COMMAND…`");
    if (script->words[0][0] == '-' || script->words[0][0] == '\0')
        return error_set(err,
                         "the command begins with \"%.60s\", which srun would take as its own; "
                         "name the program first",
                         script->words[0]);
    for (size_t i = 0; i < script->word_count; i++) {
        bytes += strlen(script->words[i]) + 1;
        if (strcmp(script->words[i], ":") == 0)
            return error_set(err, "the command has the word \":\", where srun begins another "
                                  "command; put yours into a script");
        if (bytes > SCAN_COMMAND_MAXIMUM_BYTES)
            return error_set(err, "the command is longer than %zu bytes; put it into a script",
                             SCAN_COMMAND_MAXIMUM_BYTES);
    }
    return 0;
}

/* --- the head ------------------------------------------------------------------------ */

/* A comment must stay one line, whatever the files are called. */
static void add_title(const struct scan_script *script, struct text_buffer *out)
{
    char title[TITLE_BYTES];
    snprintf(title, sizeof(title), "%.100s on %.100s", script->plan->request->model->name,
             script->plan->request->cluster->name);
    error_clean_text(title);
    text_buffer_add(
        out,
        "# A scan of `parplan sweep`: %s,\n"
        "# %zu plan%s of %u steps each, one after the other. sbatch's own options win:\n"
        "# sbatch --partition=NAME --time=TIME FILE. A plan that fails is recorded, and "
        "the\n# next one starts.\n"
        "# PARPLAN_SWEEP_FOLDER: where logs and results.csv go, on a shared file "
        "system;\n"
        "# PARPLAN_SWEEP_ROW_MINUTES: how long one plan may take.\n",
        title, script->grid->row_count, script->grid->row_count == 1 ? "" : "s", script->steps);
}

static void add_head(const struct scan_script *script, struct text_buffer *out)
{
    const struct plan_report *plan = script->plan;
    text_buffer_add(out,
                    "#!/bin/bash\n"
                    "#SBATCH --job-name=parplan-sweep\n"
                    "#SBATCH --nodes=%llu\n"
                    "#SBATCH --ntasks-per-node=%u\n"
                    "#SBATCH --gres=gpu:%u\n",
                    (unsigned long long)(plan->world / plan->gpus_per_node), script->tasks_per_node,
                    plan->gpus_per_node);
    add_title(script, out);
    text_buffer_add(out,
                    "set -u\n\n"
                    "export PARPLAN_SWEEP_STEPS=%u PARPLAN_SWEEP_GLOBAL_BATCH=%u\n"
                    "export PARPLAN_SWEEP_SEQUENCE_LENGTH=%u\n",
                    script->steps, plan->training->global_batch, plan->training->sequence_length);
}

static const char preparation[] =
    "folder=${PARPLAN_SWEEP_FOLDER:-parplan-sweep-${SLURM_JOB_ID:-0}}\n"
    "minutes=${PARPLAN_SWEEP_ROW_MINUTES:-30}\n"
    "mkdir -p -- \"$folder\" && folder=$(cd -- \"$folder\" && pwd) || exit 1\n"
    "results=$folder/results.csv\n"
    "finished=0 timed=0\n"
    "echo 'row,keys,exit_status,step_time_s' > \"$results\" || exit 1\n";

/* --- one row ------------------------------------------------------------------------- */

static void add_launch(const struct scan_script *script, struct text_buffer *out)
{
    text_buffer_add_text(out, "\n# The command, word by word as it was given.\n"
                              "launch() # value of --parplan\n"
                              "{\n"
                              "    srun --parplan=\"$1\" --kill-on-bad-exit=1 --time=\"$minutes\"");
    for (size_t i = 0; i < script->word_count; i++) {
        text_buffer_add_text(out, " \\\n        ");
        shell_word_add(script->words[i], placeholders, COUNT_OF(placeholders), out);
    }
    text_buffer_add_text(out, "\n}\n");
}

static const char functions[] =
    "\n"
    "# Seconds of a step, or nothing: what the command wrote to $PARPLAN_SWEEP_RESULT, else the\n"
    "# median of Megatron-LM's lines but the first.\n"
    "step_seconds() # log\n"
    "{\n"
    "    local seconds=\n"
    "    if [[ -s $PARPLAN_SWEEP_RESULT ]]; then\n"
    "        read -r seconds < \"$PARPLAN_SWEEP_RESULT\"\n"
    "    else\n"
    "        seconds=$(LC_ALL=C sed -n "
    "'s/.*elapsed time per iteration (ms): *\\([0-9.]*\\).*/\\1/p' \"$1\" |\n"
    "            tail -n +2 | LC_ALL=C sort -n |\n"
    "            LC_ALL=C awk '{ ms[NR] = $1 }\n"
    "                END { if (NR) printf \"%.6g\", ms[int((NR + 1) / 2)] / 1000 }')\n"
    "    fi\n"
    "    [[ $seconds =~ ^[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?$ ]] && printf '%s' \"$seconds\"\n"
    "}\n"
    "\n"
    "run_row() # value of --parplan, keys\n"
    "{\n"
    "    local log=$folder/$PARPLAN_SWEEP_ROW.log status=0 seconds=\n"
    "    export PARPLAN_SWEEP_RESULT=$folder/$PARPLAN_SWEEP_ROW.seconds\n"
    "    rm -f -- \"$PARPLAN_SWEEP_RESULT\"\n"
    "    launch \"$1\" > \"$log\" 2>&1 < /dev/null || status=$?\n"
    "    if ((status == 0)); then\n"
    "        finished=$((finished + 1))\n"
    "        seconds=$(step_seconds \"$log\")\n"
    "        [[ -z $seconds ]] || timed=$((timed + 1))\n"
    "    fi\n"
    "    printf '%s,\"%s\",%s,%s\\n' \"$PARPLAN_SWEEP_ROW\" \"$2\" \"$status\" \"$seconds\" >> "
    "\"$results\"\n"
    "    echo \"$PARPLAN_SWEEP_ROW: exit $status, ${seconds:-?} s a step ($log)\"\n"
    "}\n";

static void add_row(const struct scan_row *row, struct text_buffer *out)
{
    const struct plan *plan = &row->plan;
    const struct degrees *degrees = &plan->degrees;
    const char *separator = "\n# ";
    for (unsigned role = 0; role < SCAN_ROLE_COUNT; role++) {
        if (!(row->roles & (1u << role)))
            continue;
        text_buffer_add(out, "%s%s", separator, scan_role_purpose((enum scan_role)role));
        separator = "; ";
    }
    text_buffer_add(out,
                    "\nexport PARPLAN_SWEEP_ROW=%s\n"
                    "export PARPLAN_SWEEP_TP=%u PARPLAN_SWEEP_CP=%u PARPLAN_SWEEP_EP=%u "
                    "PARPLAN_SWEEP_ETP=%u\n"
                    "export PARPLAN_SWEEP_PP=%u PARPLAN_SWEEP_VPP=%u PARPLAN_SWEEP_DP=%u\n"
                    "export PARPLAN_SWEEP_SHARDING=%s PARPLAN_SWEEP_SHARD=%u\n"
                    "export PARPLAN_SWEEP_MICRO_BATCH=%u PARPLAN_SWEEP_RECOMPUTE=%s\n"
                    "run_row %s \\\n    %s\n",
                    row->id, degrees->tp, degrees->cp, degrees->ep, degrees->etp, degrees->pp,
                    degrees->vpp, degrees->dp, sharding_name(plan->sharding), degrees->shard,
                    plan->micro_batch, recompute_name(plan->recompute), row->launch_keys,
                    row->keys);
}

int scan_script_write(const struct scan_script *script, struct text_buffer *out,
                      struct error_info *err)
{
    if (check_command(script, err) < 0)
        return -1;
    add_head(script, out);
    text_buffer_add_text(out, preparation);
    add_launch(script, out);
    text_buffer_add_text(out, functions);
    for (size_t i = 0; i < script->grid->row_count; i++)
        add_row(&script->grid->rows[i], out);
    text_buffer_add(
        out,
        "\necho \"$finished of %zu plans ran, $timed with a step time; fill empty ones and "
        "read them back:\"\n"
        "echo \"parplan sweep, the same options, --ingest $results\"\n"
        "((finished > 0))\n",
        script->grid->row_count);
    return text_buffer_failed(out) ? error_set_memory(err) : 0;
}
