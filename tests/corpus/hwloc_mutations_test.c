/* SPDX-License-Identifier: MIT */
/*
 * hwloc_mutations: damaged hwloc XML, by the thousand, through hwloc_read_xml and the merge.
 * hwloc itself crashes on about one in a hundred (2.9); here each must end as evidence or as
 * one line of error, in time, and leave no child, no open file, no memory and no output behind.
 * Files: ../shared/topologies/hwloc (HWLOC_MUTATIONS_FOLDER) where it is, and one of ours.
 * HWLOC_MUTATIONS: how many, spread over all of them (default 2000; 0: every one, minutes).
 * HWLOC_MUTATIONS_SEED: another one flips other bits and spreads otherwise. Speaks TAP.
 */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/parse_number.h"
#include "base/text_file.h"
#include "tests/support/xml_mutation.h"
#include "topology/gpu_catalogue.h"
#include "topology/node_readers/hwloc/hwloc_reader.h"
#include "topology/node_readers/reader_child.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_MUTATIONS 2000u
#define OWN_FILE "tests/suites/topology/xml-pairs/node.xml"
#define MAXIMUM_FILES 64u
#define PATH_BYTES 512u
#define SLACK_SECONDS 5 /* over the child's own limit */
#define TROUBLE_BYTES 400u

/* Shared with the process that does the work, so that it counts up to its own crash. */
struct tally {
    size_t read, refused, crashed, slow, failures, current;
    double slowest_seconds;
    size_t slowest;              /* which mutation that was */
    char trouble[TROUBLE_BYTES]; /* the first failure */
};

struct work {
    const struct xml_mutation *mutation;
    const struct gpu_catalogue *gpus;
    struct tally *tally;
    int output; /* where stdout and stderr go */
    int lowest_file;
    unsigned long live_blocks;
};

static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int lowest_free_file(void)
{
    int fd = open("/dev/null", O_RDONLY);
    close(fd);
    return fd;
}

static unsigned long count_live_blocks(void)
{
#ifdef MEMORY_TORTURE
    return memory_torture_live();
#else
    return 0;
#endif
}

static void note_trouble(const struct work *work, const char *what, const char *detail)
{
    struct tally *tally = work->tally;
    size_t offset = 0;
    if (tally->failures++ > 0)
        return;
    const char *damage = xml_mutation_describe(work->mutation, tally->current, &offset);
    snprintf(tally->trouble, sizeof(tally->trouble), "mutation %zu, %s at byte %zu: %s%.200s",
             tally->current, damage, offset, what, detail);
}

static void count_error(const struct work *work, const struct error_info *err)
{
    if (err->kind != ERROR_INPUT || err->text[0] == '\0' || strchr(err->text, '\n'))
        note_trouble(work, "no line of error of the input: ", err->text);
    else if (strstr(err->text, "crashed while reading"))
        work->tally->crashed++;
    else if (strstr(err->text, "needs more than"))
        work->tally->slow++;
    else
        work->tally->refused++;
}

static void read_one(const struct work *work, const char *text, size_t bytes)
{
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_evidence)
    struct node_evidence *evidence = hwloc_read_xml(text, bytes, "damaged.xml", &err);
    if (!evidence) {
        count_error(work, &err);
        return;
    }
    const struct node_evidence *const all[] = {evidence};
    CLEANUP(node_topology)
    struct node_topology *node = node_topology_merge("damaged", all, 1, work->gpus, &err);
    if (node)
        work->tally->read++;
    else
        count_error(work, &err);
}

static void check_remains(const struct work *work, double seconds)
{
    struct tally *tally = work->tally;
    struct stat output = {.st_size = 0};
    if (seconds > tally->slowest_seconds) {
        tally->slowest_seconds = seconds;
        tally->slowest = tally->current;
    }
    if (seconds > READER_CHILD_SECONDS + SLACK_SECONDS)
        note_trouble(work, "ran over its limit", "");
    if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD)
        note_trouble(work, "left a child", "");
    if (lowest_free_file() != work->lowest_file)
        note_trouble(work, "left a file open", "");
    if (count_live_blocks() != work->live_blocks)
        note_trouble(work, "left memory", "");
    if (fstat(work->output, &output) < 0 || output.st_size > 0)
        note_trouble(work, "wrote to stdout or stderr", "");
}

/* In a process of its own: all mutations first, first + step, … */
static void work_through(struct work *work, size_t first, size_t step)
{
    size_t count = xml_mutation_count(work->mutation);
    CLEANUP_MEMORY char *text = memory_allocate(xml_mutation_maximum_bytes(work->mutation));
    dup2(work->output, STDOUT_FILENO);
    dup2(work->output, STDERR_FILENO);
    work->lowest_file = lowest_free_file();
    work->live_blocks = count_live_blocks();
    for (size_t number = first; text && number < count; number += step) {
        work->tally->current = number;
        size_t bytes = xml_mutation_write(work->mutation, number, text);
        double start = now_seconds();
        read_one(work, text, bytes);
        check_remains(work, now_seconds() - start);
    }
}

/* What goes wrong with the process itself counts as a failure too. */
static void run_worker(struct work *work, size_t first, size_t step)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        work_through(work, first, step);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        char how[64];
        snprintf(how, sizeof(how), "we crashed (status %d)", status);
        note_trouble(work, how, "");
    }
}

static void report(unsigned number, const char *path, const struct tally *tally, double seconds)
{
    const char *name = strrchr(path, '/');
    size_t tried = tally->read + tally->refused + tally->crashed + tally->slow + tally->failures;
    printf("%sok %u - %s\n", tally->failures > 0 ? "not " : "", number, name ? name + 1 : path);
    printf("# %zu damaged: %zu read, %zu refused, %zu crashed hwloc, %zu too slow; %.1f s, "
           "slowest %.2f s (mutation %zu)\n",
           tried, tally->read, tally->refused, tally->crashed, tally->slow, seconds,
           tally->slowest_seconds, tally->slowest);
    if (tally->failures > 0)
        printf("# %zu failures, the first: %s\n", tally->failures, tally->trouble);
    fflush(stdout);
}

/* --- files --------------------------------------------------------------------------- */

struct input {
    char path[PATH_BYTES];
    char *text;
    struct xml_mutation *mutation;
};

struct inputs {
    struct input list[MAXIMUM_FILES];
    size_t count;
};

static int compare_inputs(const void *left, const void *right)
{
    return strcmp(((const struct input *)left)->path, ((const struct input *)right)->path);
}

static void list_folder(struct inputs *inputs, const char *folder)
{
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    while (directory && (entry = readdir(directory)) && inputs->count < MAXIMUM_FILES) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".xml") != 0)
            continue;
        snprintf(inputs->list[inputs->count++].path, PATH_BYTES, "%s/%s", folder, entry->d_name);
    }
    if (directory)
        closedir(directory);
    qsort(inputs->list, inputs->count, sizeof(inputs->list[0]), compare_inputs);
}

static int open_inputs(struct inputs *inputs, uint64_t seed, struct error_info *err)
{
    const char *folder = getenv("HWLOC_MUTATIONS_FOLDER");
    list_folder(inputs, folder ? folder : "../shared/topologies/hwloc");
    if (inputs->count < MAXIMUM_FILES)
        snprintf(inputs->list[inputs->count++].path, PATH_BYTES, "%s", OWN_FILE);
    for (size_t i = 0; i < inputs->count; i++) {
        struct input *input = &inputs->list[i];
        size_t bytes = 0;
        input->text = text_file_read(input->path, HWLOC_XML_MAXIMUM_BYTES, &bytes, err);
        if (!input->text)
            return -1;
        input->mutation = xml_mutation_create(input->text, bytes, seed);
        if (!input->mutation)
            return error_set_memory(err);
    }
    return 0;
}

static size_t count_all(const struct inputs *inputs)
{
    size_t count = 0;
    for (size_t i = 0; i < inputs->count; i++)
        count += xml_mutation_count(inputs->list[i].mutation);
    return count;
}

static void free_inputs(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->count; i++) {
        xml_mutation_free(inputs->list[i].mutation);
        memory_free(inputs->list[i].text);
    }
}

/* --- all of them --------------------------------------------------------------------- */

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    uint64_t number = otherwise;
    return text && parse_unsigned(text, 0, UINT64_MAX, &number, NULL) < 0 ? otherwise : number;
}

static void add_tally(struct tally *sum, const struct tally *tally)
{
    sum->read += tally->read;
    sum->refused += tally->refused;
    sum->crashed += tally->crashed;
    sum->slow += tally->slow;
    sum->failures += tally->failures;
    if (tally->slowest_seconds > sum->slowest_seconds) {
        sum->slowest_seconds = tally->slowest_seconds;
        sum->slowest = tally->slowest;
    }
}

static int run_all(const struct inputs *inputs, const struct gpu_catalogue *gpus, size_t step,
                   size_t first)
{
    int output = memfd_create("output", MFD_CLOEXEC);
    struct tally *tally =
        mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (output < 0 || tally == MAP_FAILED)
        return -1;
    struct tally sum = {.read = 0};
    double began = now_seconds();
    for (size_t i = 0; i < inputs->count; i++) {
        const struct input *input = &inputs->list[i];
        struct work work = {
            .mutation = input->mutation, .gpus = gpus, .tally = tally, .output = output};
        size_t count = xml_mutation_count(input->mutation);
        double start = now_seconds();
        memset(tally, 0, sizeof(*tally));
        run_worker(&work, first, step);
        report((unsigned)i + 1, input->path, tally, now_seconds() - start);
        add_tally(&sum, tally);
        /* The next file goes on where this one's last step points to. */
        first = first >= count ? first - count : (step - (count - first) % step) % step;
    }
    report((unsigned)inputs->count + 1, "all files", &sum, now_seconds() - began);
    munmap(tally, sizeof(*tally));
    close(output);
    return sum.failures > 0 || sum.read == 0 ? -1 : 0;
}

int main(void)
{
    static struct inputs inputs;
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t seed = number_from("HWLOC_MUTATIONS_SEED", 1);
    size_t wanted = (size_t)number_from("HWLOC_MUTATIONS", DEFAULT_MUTATIONS);
    CLEANUP(gpu_catalogue) struct gpu_catalogue *gpus = gpu_catalogue_builtin(&err);
    if (!gpus || open_inputs(&inputs, seed, &err) < 0) {
        fprintf(stderr, "hwloc_mutations: %s\n", err.text);
        free_inputs(&inputs);
        return EXIT_FAILURE;
    }
    size_t count = count_all(&inputs);
    size_t step = wanted > 0 && wanted < count ? (count + wanted - 1) / wanted : 1;
    printf("1..%zu\n# %zu ways of damage in %zu files, one of %zu tried, seed %llu\n",
           inputs.count + 1, count, inputs.count, step, (unsigned long long)seed);
    int status = run_all(&inputs, gpus, step, (size_t)(seed % step));
    free_inputs(&inputs);
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
