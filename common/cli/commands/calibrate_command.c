/* SPDX-License-Identifier: MIT */
#include "base/text_file.h"
#include "cli/inputs/catalogues.h"
#include "cli/inputs/cluster_choice.h"
#include "cli/output.h"
#include "report/measured/calibration_report.h"
#include "validation/calibration/gemm_fit.h"
#include "validation/calibration/link_fit.h"
#include <sys/stat.h>

#define FILE_MODE 0644

static const struct command_help help = {
    .id = COMMAND_CALIBRATE,
    .name = "parplan calibrate",
    .synopsis = "[--cluster CLUSTER --nccl FILE...] [--runs FILE.csv] [--output FILE]",
    .text = "From a site's own measurements, figures that the other commands take instead of the "
            "built-in ones (--calibration FILE)."
            "\v--nccl reads what nccl-tests printed, --runs measured steps with validate's "
            "columns.",
    .example = "parplan calibrate --cluster dgx-h100:2 --nccl all_reduce.txt --output site.yaml",
};

/* Everything from the first file to the last figure. */
struct bench {
    struct catalogues catalogues;
    struct arena *arena;
    struct cluster_topology *cluster;
    struct nccl_table *tables[OPTION_MAXIMUM_REPEATS];
    size_t table_count;
    struct calibration calibration;
    struct gemm_fit steps;
};

static void bench_done(struct bench *bench)
{
    for (size_t i = 0; i < bench->table_count; i++)
        nccl_table_free(bench->tables[i]);
    cluster_topology_free(bench->cluster);
    arena_free(bench->arena);
    catalogues_done(&bench->catalogues);
}

DEFINE_CLEANUP_DONE(bench);

static int open_tables(struct bench *bench, const struct command_options *options,
                       struct error_info *err)
{
    for (size_t i = 0; i < options->nccl_count; i++) {
        struct nccl_table *table = nccl_table_load(options->nccl[i], err);
        if (!table)
            return -1;
        bench->tables[bench->table_count++] = table;
    }
    return 0;
}

/* The catalogues hold what was found afterwards, for the steps. */
static int find_links(struct bench *bench, const struct command_options *options,
                      struct error_info *err)
{
    if (options->nccl_count == 0)
        return 0;
    if (open_tables(bench, options, err) < 0)
        return -1;
    bench->cluster = cluster_choice_open(options, NULL, &bench->catalogues, err);
    if (!bench->cluster)
        return -1;
    const struct link_fit_request request = {
        .cluster = bench->cluster,
        .gpus = bench->catalogues.gpus,
        .efficiencies = bench->catalogues.efficiencies,
        .tables = (const struct nccl_table *const *)bench->tables,
        .table_count = bench->table_count,
    };
    struct calibration *found = &bench->calibration;
    if (link_fit(&request, bench->arena, &found->links, &found->link_count, err) < 0)
        return -1;
    return calibration_apply(found, bench->catalogues.gpus, bench->catalogues.efficiencies, err);
}

static int find_rates(struct bench *bench, const struct command_options *options,
                      struct error_info *err)
{
    if (!options->runs)
        return 0;
    CLEANUP(csv_table) struct csv_table *runs = csv_table_load(options->runs, err);
    if (!runs || published_runs_check(runs, PUBLISHED_RUNS, err) < 0)
        return -1;
    CLEANUP(publication_catalogue)
    struct publication_catalogue *publications = publication_catalogue_builtin(err);
    if (!publications)
        return -1;
    const struct gemm_fit_request request = {
        .runs = runs,
        .publications = publications,
        .models = bench->catalogues.models,
        .catalogues = {bench->catalogues.gpus, bench->catalogues.presets,
                       bench->catalogues.frameworks, bench->catalogues.efficiencies},
    };
    if (gemm_fit(&request, bench->arena, &bench->steps, err) < 0)
        return -1;
    bench->calibration.gpus = bench->steps.gpus;
    bench->calibration.gpu_count = bench->steps.count;
    return 0;
}

static bool same_file(const char *left, const char *right)
{
    struct stat one, other;
    return stat(left, &one) == 0 && stat(right, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

/* The measurements must outlive what was found in them. */
static int check_output(const struct bench *bench, const struct command_options *options,
                        struct error_info *err)
{
    const char *input = NULL;
    if (!options->output)
        return 0;
    if (options->runs && same_file(options->output, options->runs))
        input = options->runs;
    for (size_t i = 0; i < bench->table_count; i++)
        if (same_file(options->output, bench->tables[i]->source))
            input = bench->tables[i]->source;
    if (!input)
        return 0;
    return error_set(err, "--output %s is the file with the measurements (%s); name another",
                     options->output, input);
}

static int write_file(const struct calibration_report *report, const char *path,
                      struct error_info *err)
{
    struct command_io file = {.out_is_complaint = false};
    text_buffer_init(&file.out, CALIBRATION_MAXIMUM_BYTES);
    int status = output_document(calibration_report_json(report), FORMAT_YAML, &file, err);
    if (status >= 0)
        status =
            text_file_write(path, text_buffer_text(&file.out), file.out.length, FILE_MODE, err);
    text_buffer_done(&file.out);
    return status < 0 ? -1 : 0;
}

static int calibrate(const struct command_options *options, struct command_io *io,
                     struct error_info *err)
{
    CLEANUP_DONE(bench) struct bench bench = {.arena = NULL};
    if (options->nccl_count == 0 && !options->runs)
        return error_set(err, "what was measured? give --nccl FILE (what nccl-tests printed), "
                              "--runs FILE.csv (measured steps), or both");
    if (catalogues_open(&bench.catalogues, options->data_directory, NULL, err) < 0)
        return -1;
    bench.arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    if (!bench.arena)
        return error_set_memory(err);
    if (find_links(&bench, options, err) < 0 || check_output(&bench, options, err) < 0 ||
        find_rates(&bench, options, err) < 0)
        return -1;
    const struct calibration_report report = {
        .calibration = &bench.calibration,
        .skipped = bench.steps.skipped,
        .reason = bench.steps.reason,
    };
    if (options->output && write_file(&report, options->output, err) < 0)
        return -1;
    if (options->format != FORMAT_TEXT)
        return output_document(calibration_report_json(&report), options->format, io, err);
    calibration_report_text(&report, &io->style, &io->out);
    return EXIT_DONE;
}

int calibrate_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false;
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    return calibrate(&options, io, err);
}
