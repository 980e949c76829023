/* SPDX-License-Identifier: MIT */
#include "validation/calibration/nccl_table.h"

#include "base/memory.h"
#include "base/name_index.h"
#include "base/parse_number.h"
#include "base/text_file.h"
#include <string.h>

#define BLANKS " \t\r"
#define MICRO 1e-6
#define MESSAGE_MAXIMUM_BYTES (UINT64_C(1) << 50)
#define TIME_MAXIMUM 1e15 /* microseconds */
#define FIRST_ROWS 64u
#define PERF_SUFFIX "_perf"
#define TEST_NAMES "all_reduce, all_gather, reduce_scatter, alltoall, sendrecv"

struct test_kind {
    const char *name;
    bool modelled;
    enum collective collective;
};

static const struct test_kind test_kinds[] = {
    {"all_reduce", true, COLLECTIVE_ALL_REDUCE},
    {"all_gather", true, COLLECTIVE_ALL_GATHER},
    {"reduce_scatter", true, COLLECTIVE_ALL_GATHER},
    {"alltoall", true, COLLECTIVE_ALL_TO_ALL},
    {"sendrecv", true, COLLECTIVE_SEND},
    {"broadcast", false, 0},
    {"reduce", false, 0},
    {"gather", false, 0},
    {"scatter", false, 0},
    {"hypercube", false, 0},
};

struct words {
    char *of[NCCL_TABLE_MAXIMUM_WORDS];
    size_t count;
    bool is_comment;
};

struct reader {
    const char *source;
    unsigned line;
    const struct test_kind *given, *test; /* by the caller; of the rows that follow */
    struct name_index *hosts;             /* of the list that is being read */
    unsigned ranks, nodes;
    bool lists_ranks;   /* the last line was one of a list */
    size_t columns;     /* 0: no names yet */
    size_t time_column; /* in a row's words */
    struct nccl_table *table;
    struct nccl_row *rows; /* on the heap, while they grow */
    size_t capacity;
};

static const struct test_kind *find_test(const char *name, size_t length)
{
    for (size_t i = 0; i < COUNT_OF(test_kinds); i++)
        if (strlen(test_kinds[i].name) == length && memcmp(test_kinds[i].name, name, length) == 0)
            return &test_kinds[i];
    return NULL;
}

static int fail(const struct reader *reader, const char *what, const char *word,
                struct error_info *err)
{
    return error_set(err, "%s:%u: %s%s", reader->source, reader->line, what, word);
}

/* Cuts the line up in place. */
static void split(char *line, struct words *ret)
{
    char *at = line + strspn(line, BLANKS);
    ret->count = 0;
    ret->is_comment = *at == '#';
    at += strspn(at, "#");
    while (ret->count < NCCL_TABLE_MAXIMUM_WORDS) {
        at += strspn(at, BLANKS);
        if (*at == '\0')
            return;
        ret->of[ret->count++] = at;
        at += strcspn(at, BLANKS);
        if (*at != '\0')
            *at++ = '\0';
    }
}

/* --- which test ------------------------------------------------------------------------ */

static int use_test(struct reader *reader, const struct test_kind *test, struct error_info *err)
{
    if (reader->given && test != reader->given)
        return error_set(err, "%s:%u: this is %s, but %s:%s was given; leave out the name",
                         reader->source, reader->line, test->name, reader->given->name,
                         reader->source);
    reader->test = test;
    return 0;
}

/* "./build/all_reduce_perf" in any line that is no row. */
static int look_for_test(struct reader *reader, const struct words *words, struct error_info *err)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *slash = strrchr(words->of[i], '/');
        const char *name = slash ? slash + 1 : words->of[i];
        size_t length = strlen(name), suffix = strlen(PERF_SUFFIX);
        if (length <= suffix || strcmp(name + length - suffix, PERF_SUFFIX) != 0)
            continue;
        const struct test_kind *test = find_test(name, length - suffix);
        if (test && use_test(reader, test, err) < 0)
            return -1;
    }
    return 0;
}

/* --- who took part --------------------------------------------------------------------- */

static size_t find_word(const struct words *words, const char *word, size_t from)
{
    for (size_t i = from; i < words->count; i++)
        if (strcmp(words->of[i], word) == 0)
            return i;
    return words->count;
}

/* The words behind "[0x07]". */
static int keep_gpu(struct reader *reader, const struct words *words, struct error_info *err)
{
    const char *name = NULL;
    for (size_t i = find_word(words, "device", 0); i < words->count; i++) {
        if (name) {
            name =
                arena_format(reader->table->arena, "%s%s%s", name, *name ? " " : "", words->of[i]);
            if (!name)
                return error_set_memory(err);
        } else if (words->of[i][0] == '[') {
            name = "";
        }
    }
    reader->table->gpu = name && *name ? name : NULL;
    return 0;
}

static int begin_list(struct reader *reader, struct error_info *err)
{
    name_index_free(reader->hosts);
    reader->hosts = name_index_create();
    reader->ranks = reader->nodes = 0;
    return reader->hosts ? 0 : error_set_memory(err);
}

static int read_rank(struct reader *reader, const struct words *words, struct error_info *err)
{
    size_t on = find_word(words, "on", 2);
    if (!reader->lists_ranks && begin_list(reader, err) < 0)
        return -1;
    reader->lists_ranks = true;
    if (on + 1 >= words->count)
        return fail(reader, "a line of a rank without the host that it runs on", "", err);
    if (reader->ranks == NCCL_TABLE_MAXIMUM_RANKS)
        return fail(reader, "more ranks than are possible", "", err);
    int added = name_index_add(reader->hosts, words->of[on + 1], reader->nodes);
    if (added < 0)
        return error_set_memory(err);
    reader->nodes += added == 0;
    reader->ranks++;
    return reader->table->gpu ? 0 : keep_gpu(reader, words, err);
}

/* --- the table ------------------------------------------------------------------------- */

static int read_comment(struct reader *reader, const struct words *words, struct error_info *err)
{
    bool is_rank = words->count > 2 && strcmp(words->of[0], "Rank") == 0;
    if (is_rank)
        return read_rank(reader, words, err);
    reader->lists_ranks = false;
    if (words->count > 1 && strcmp(words->of[0], "(B)") == 0 &&
        find_word(words, "(us)", 1) == words->count)
        return fail(reader, "times are not in microseconds (us)", "", err);
    size_t time = find_word(words, "time", 1);
    if (words->count == 0 || strcmp(words->of[0], "size") != 0 || time == words->count)
        return 0;
    reader->columns = words->count;
    reader->time_column = time;
    return 0;
}

static int check_row(const struct reader *reader, const struct words *words, struct error_info *err)
{
    if (!reader->test)
        return error_set(err,
                         "%s:%u: nothing above says which test this is; name it, as "
                         "TEST:%s (TEST: " TEST_NAMES ")",
                         reader->source, reader->line, reader->source);
    if (!reader->test->modelled)
        return error_set(err, "%s:%u: a row of %s, which is not modelled; take " TEST_NAMES,
                         reader->source, reader->line, reader->test->name);
    if (words->count != reader->columns)
        return error_set(err, "%s:%u: %zu words, but the column names are %zu", reader->source,
                         reader->line, words->count, reader->columns);
    if (reader->ranks > 0 && reader->ranks % reader->nodes != 0)
        return error_set(err, "%s:%u: %u ranks on %u nodes: every node must have as many",
                         reader->source, reader->line, reader->ranks, reader->nodes);
    if (reader->table->count == NCCL_TABLE_MAXIMUM_ROWS)
        return error_set(err, "%s: more than %u rows", reader->source, NCCL_TABLE_MAXIMUM_ROWS);
    return 0;
}

static int add_row(struct reader *reader, const struct nccl_row *row, struct error_info *err)
{
    struct nccl_table *table = reader->table;
    if (table->count == reader->capacity) {
        size_t capacity = reader->capacity > 0 ? reader->capacity * 2 : FIRST_ROWS;
        struct nccl_row *grown =
            memory_grow_array(reader->rows, reader->capacity, capacity, sizeof(*grown));
        if (!grown)
            return error_set_memory(err);
        reader->rows = grown;
        reader->capacity = capacity;
    }
    reader->rows[table->count++] = *row;
    return 0;
}

static int read_row(struct reader *reader, const struct words *words, struct error_info *err)
{
    uint64_t bytes = 0;
    double time = 0;
    if (check_row(reader, words, err) < 0)
        return -1;
    if (parse_unsigned(words->of[0], 0, MESSAGE_MAXIMUM_BYTES, &bytes, err) < 0 ||
        parse_real(words->of[reader->time_column], 0, TIME_MAXIMUM, &time, err) < 0)
        return error_prefix(err, "%s:%u", reader->source, reader->line);
    if (bytes == 0 || time <= 0)
        return 0;
    const struct nccl_row row = {
        .collective = reader->test->collective,
        .test = reader->test->name,
        .ranks = reader->ranks,
        .nodes = reader->nodes,
        .bytes = (double)bytes,
        .seconds = time * MICRO,
        .line = reader->line,
    };
    return add_row(reader, &row, err);
}

static bool is_number(const char *word) { return word[strspn(word, "0123456789")] == '\0'; }

static int read_line(struct reader *reader, char *line, struct error_info *err)
{
    struct words words;
    split(line, &words);
    if (!words.is_comment && words.count > 0 && reader->columns > 0 && is_number(words.of[0]))
        return read_row(reader, &words, err);
    if (look_for_test(reader, &words, err) < 0)
        return -1;
    return words.is_comment ? read_comment(reader, &words, err) : 0;
}

static int read_lines(struct reader *reader, const char *text, size_t bytes, struct error_info *err)
{
    char line[NCCL_TABLE_LINE_BYTES];
    const char *end = text + bytes;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((newline ? newline : end) - text);
        reader->line++;
        if (length < sizeof(line)) {
            memcpy(line, text, length);
            line[length] = '\0';
            if (read_line(reader, line, err) < 0)
                return -1;
        }
        text += length + 1;
    }
    return 0;
}

static int finish(struct reader *reader, struct error_info *err)
{
    struct nccl_table *table = reader->table;
    if (table->count == 0 || !reader->rows)
        return error_set(err,
                         "%s: no row of a table of nccl-tests; give what all_reduce_perf printed",
                         reader->source);
    struct nccl_row *rows = arena_allocate_array(table->arena, table->count, sizeof(*rows));
    if (!rows)
        return error_set_memory(err);
    memcpy(rows, reader->rows, table->count * sizeof(*rows));
    table->rows = rows;
    return 0;
}

static int read_text(struct reader *reader, const char *text, size_t bytes, const char *test,
                     struct error_info *err)
{
    if (bytes > NCCL_TABLE_MAXIMUM_BYTES)
        return error_set(err, "%s: larger than %zu MiB", reader->source,
                         NCCL_TABLE_MAXIMUM_BYTES >> 20);
    if (bytes > 0 && memchr(text, '\0', bytes))
        return error_set(err, "%s: has a NUL byte; a text file is expected", reader->source);
    reader->given = reader->test = test ? find_test(test, strlen(test)) : NULL;
    if (test && !reader->test)
        return error_set(err, "%s: no test is called %s; take " TEST_NAMES, reader->source, test);
    return read_lines(reader, text, bytes, err) < 0 ? -1 : finish(reader, err);
}

struct nccl_table *nccl_table_parse(const char *text, size_t bytes, const char *source,
                                    const char *test, struct error_info *err)
{
    CLEANUP(arena) struct arena *arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    struct reader reader = {.source = source};
    reader.table = arena ? arena_allocate(arena, sizeof(*reader.table)) : NULL;
    if (!reader.table)
        return error_null(error_set_memory(err));
    reader.table->arena = arena;
    reader.table->source = arena_copy_text(arena, source);
    int status =
        reader.table->source ? read_text(&reader, text, bytes, test, err) : error_set_memory(err);
    memory_free(reader.rows);
    name_index_free(reader.hosts);
    if (status < 0)
        return NULL;
    arena = NULL;
    return reader.table;
}

struct nccl_table *nccl_table_load(const char *name, struct error_info *err)
{
    char test[32];
    const char *colon = strchr(name, ':'), *path = name;
    bool named = colon && colon > name && (size_t)(colon - name) < sizeof(test) &&
                 find_test(name, (size_t)(colon - name));
    if (named) {
        memcpy(test, name, (size_t)(colon - name));
        test[colon - name] = '\0';
        path = colon + 1;
    }
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = text_file_read(path, NCCL_TABLE_MAXIMUM_BYTES, &bytes, err);
    return text ? nccl_table_parse(text, bytes, path, named ? test : NULL, err) : NULL;
}

void nccl_table_free(struct nccl_table *table)
{
    if (table)
        arena_free(table->arena);
}
