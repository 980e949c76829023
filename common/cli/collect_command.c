/* SPDX-License-Identifier: MIT */
#include "base/text_file.h"
#include "cli/inputs/catalogues.h"
#include "cli/inputs/child_output.h"
#include "cli/inputs/node_files.h"
#include "cli/inputs/topology_format.h"
#include "cli/output.h"
#include "report/files/cluster_file.h"
#include "topology/cluster_readers/slurm_nodes.h"
#include <string.h>
#include <strings.h>

#define FILE_MODE 0644
#define NOTES_MAXIMUM_BYTES ((size_t)64 << 20)
#define COLLECTED_NAME "collected"

static const struct command_help help = {
    .id = COMMAND_COLLECT,
    .name = "parplan topology collect",
    .synopsis = "FILE|DIR… [--fabric FILE]\n--from slurm",
    .text = "One cluster file from what its nodes say, each of itself. Equal nodes share a kind, "
            "nodes of one NVLink clique a domain; nodes with a problem are named on stderr."
            "\vA node describes itself with `parplan topology --format yaml`. Where that cannot "
            "run, `--from slurm` drafts a cluster from the controller's nodes and topology, with "
            "comments on what to check.",
    .example = "parplan topology collect nodes/ --fabric slurm -o cluster.yaml",
    .takes_words = true,
};

/* What a run collects, and what it has to say about it. */
struct collect {
    const struct command_options *options;
    struct catalogues catalogues;
    struct cluster_collection *collection;
    struct fabric *fabric;
    struct cluster_topology *cluster;
    struct text_buffer notes; /* lines that become comments */
};

static void collect_done(struct collect *collect)
{
    cluster_collection_free(collect->collection);
    fabric_free(collect->fabric);
    cluster_topology_free(collect->cluster);
    catalogues_done(&collect->catalogues);
    text_buffer_done(&collect->notes);
}

DEFINE_CLEANUP_DONE(collect);

/* True: from the controller alone. */
static int check_choices(const struct command_options *options, bool *ret_slurm,
                         struct error_info *err)
{
    *ret_slurm = options->from_count > 0;
    if (*ret_slurm &&
        (options->from_count > 1 || strcmp(options->from[0], TOPOLOGY_SOURCE_SLURM) != 0))
        return error_set(err, "--from is for `slurm` here; nodes' files are named without an "
                              "option: parplan topology collect FILE…");
    if (*ret_slurm && (options->word_count > 0 || options->fabric || options->exclude_degraded))
        return error_set(err, "--from slurm asks the controller alone; files, --fabric and "
                              "--exclude-degraded go without it");
    if (!*ret_slurm && options->word_count == 0)
        return error_set(err, "name the nodes' files or their folder, as `%s`, or --from slurm",
                         help.example);
    return 0;
}

/* The fabric from a file, or the controller's. */
static int open_fabric(struct collect *collect, const char *path, struct error_info *err)
{
    CLEANUP_DONE(topology_input) struct topology_input input = {.fabric = NULL};
    if (topology_input_open(&input, path, NULL, &collect->catalogues, err) < 0)
        return -1;
    if (!input.fabric)
        return error_set(err,
                         "--fabric: %s is no fabric; give a topology.conf or a "
                         "parplan.fabric/1 file",
                         path);
    collect->fabric = move_pointer(input.fabric);
    return 0;
}

static void say(const char *text)
{
    struct error_info line = {.kind = ERROR_NONE};
    error_set(&line, "%s", text);
    output_error(&line);
}

/* On stderr, and in the file. */
static void note(struct collect *collect, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void note(struct collect *collect, const char *format, ...)
{
    char line[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    text_format(line, sizeof(line), format, arguments);
    va_end(arguments);
    error_clean_text(line);
    say(line);
    text_buffer_add(&collect->notes, "%s\n", line);
}

static void note_degraded(struct collect *collect)
{
    const char *fate = collect->options->exclude_degraded ? " (left out)" : "";
    cluster_collection_sort(collect->collection);
    for (size_t i = 0; i < cluster_collection_count(collect->collection); i++) {
        struct cluster_collected node = cluster_collection_node(collect->collection, i);
        if (node.problems)
            note(collect, "%s is degraded%s: %s", node.name, fate, node.problems);
    }
}

static int collect_files(struct collect *collect, struct error_info *err)
{
    const struct command_options *options = collect->options;
    collect->collection = cluster_collection_create(err);
    if (!collect->collection)
        return -1;
    for (size_t i = 0; i < options->word_count; i++)
        if (node_files_read(collect->collection, options->words[i], &collect->catalogues, err) < 0)
            return -1;
    if (options->fabric && open_fabric(collect, options->fabric, err) < 0)
        return -1;
    note_degraded(collect);
    collect->cluster = cluster_collection_build(collect->collection, COLLECTED_NAME,
                                                collect->fabric, options->exclude_degraded, err);
    return collect->cluster ? 0 : -1;
}

/* A controller without switches is common, and no failure. */
static int ask_fabric(struct collect *collect, struct error_info *err)
{
    static const char *const arguments[] = {"scontrol", "show", "topology", NULL};
    static const char name[] = "scontrol show topology";
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = child_output_read(arguments, TOPOLOGY_SOURCE_MAXIMUM_BYTES,
                                                  SCONTROL_TIMEOUT_SECONDS, &bytes, err);
    if (!text)
        return -1;
    if (!strcasestr(text, "Name=")) {
        text_buffer_add_text(&collect->notes, "the controller knows no switches: add fabric:\n");
        return 0;
    }
    collect->fabric = fabric_parse_slurm(text, bytes, name, err);
    return collect->fabric ? 0 : -1;
}

static int collect_slurm(struct collect *collect, struct error_info *err)
{
    static const char *const arguments[] = {"scontrol", "show", "node", "--oneliner", NULL};
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = child_output_read(arguments, TOPOLOGY_SOURCE_MAXIMUM_BYTES,
                                                  SCONTROL_TIMEOUT_SECONDS, &bytes, err);
    text_buffer_add_text(&collect->notes, "a draft from Slurm's controller: check the kinds\n");
    if (!text || ask_fabric(collect, err) < 0)
        return -1;
    collect->cluster = slurm_nodes_parse(text, bytes, "scontrol show node",
                                         move_pointer(collect->fabric), collect->catalogues.presets,
                                         collect->catalogues.gpus, &collect->notes, err);
    return collect->cluster ? 0 : -1;
}

static void write_comments(const struct text_buffer *notes, struct text_buffer *out)
{
    for (const char *line = text_buffer_text(notes); *line;) {
        int length = (int)strcspn(line, "\n");
        text_buffer_add(out, "# %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
}

/* What was written must be what will be read; the reader's warnings are for people now. */
static int read_again(const struct collect *collect, const struct text_buffer *text,
                      struct error_info *err)
{
    const char *output = collect->options->output;
    CLEANUP(cluster_topology)
    struct cluster_topology *cluster = cluster_topology_parse(
        text_buffer_text(text), text->length, output ? output : "cluster.yaml",
        collect->catalogues.presets, collect->catalogues.gpus, err);
    if (!cluster)
        return error_prefix(err, "the file that was made cannot be read");
    for (size_t i = 0; cluster->fabric && i < cluster->fabric->warning_count; i++)
        say(cluster->fabric->warnings[i]);
    return 0;
}

static int write_file(struct collect *collect, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, TEXT_BUFFER_REPORT_MAXIMUM);
    if (text_buffer_failed(&collect->notes))
        return error_set_memory(err);
    write_comments(&collect->notes, &text);
    if (cluster_file_write(collect->cluster, collect->catalogues.presets, collect->catalogues.gpus,
                           &text, err) < 0 ||
        read_again(collect, &text, err) < 0)
        return -1;
    if (collect->options->output)
        return text_file_write(collect->options->output, text_buffer_text(&text), text.length,
                               FILE_MODE, err);
    text_buffer_add_bytes(&io->out, text_buffer_text(&text), text.length);
    return 0;
}

/* The one short option of the program. */
static void name_output(int argc, char **argv)
{
    static char output[] = "--output";
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "-o") == 0)
            argv[i] = output;
}

int collect_command(int argc, char **argv, struct command_io *io, struct error_info *err)
{
    CLEANUP_DONE(command_options) struct command_options options = {.job = NULL};
    bool only_help = false, slurm = false;
    name_output(argc, argv);
    if (command_options_parse(&options, &help, argc, argv, io, &only_help, err) < 0 || only_help)
        return only_help ? EXIT_DONE : -1;
    CLEANUP_DONE(collect) struct collect collect = {.options = &options};
    text_buffer_init(&collect.notes, NOTES_MAXIMUM_BYTES);
    if (check_choices(&options, &slurm, err) < 0 ||
        catalogues_open(&collect.catalogues, options.data_directory, NULL, err) < 0 ||
        (slurm ? collect_slurm(&collect, err) : collect_files(&collect, err)) < 0 ||
        write_file(&collect, io, err) < 0)
        return -1;
    return EXIT_DONE;
}
