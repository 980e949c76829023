/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/text/matrix_text.h"
#include "base/parse_number.h"
#include <string.h>

#define WORDS_MAXIMUM 256u /* of a line that may be a row */
#define ROWS_MAXIMUM (2 * MATRIX_MAXIMUM_COLUMNS)
#define LEGENDS_MAXIMUM NODE_MAXIMUM_NICS
#define TRAILING_MAXIMUM 3u
#define GPU_NUMBER_MAXIMUM 65535u
#define NO_POSITION (~0u)
#define ESCAPE '\033'

struct words {
    const char *const *words;
    unsigned count, line;
};

struct legend {
    const char *name; /* "NIC0:" */
    const char *nic_name;
};

struct reader {
    const char *source;
    struct evidence_draft *draft;
    struct matrix_text *matrix;
    struct words header; /* count 0: not found */
    struct words rows[ROWS_MAXIMUM];
    unsigned row_count;
    struct legend legends[LEGENDS_MAXIMUM];
    unsigned legend_count;
    unsigned trailing; /* columns behind the cells: CPUs, NUMA node, the GPU's own NUMA node */
};

static const struct {
    const char *word;
    enum link_kind link;
} classes[] = {
    {"PIX", LINK_PIX},   {"PXB", LINK_PXB}, {"PHB", LINK_PHB},
    {"NODE", LINK_NODE}, {"SYS", LINK_SYS}, {"SOC", LINK_SYS}, /* SYS before driver 384 */
};

/* --- characters ------------------------------------------------------------------- */

static bool is_letter(char character)
{
    return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z');
}

/* "\033[4m", "\033(B": its length, 0 where there is none. */
static size_t escape_length(const char *text)
{
    if (text[0] != ESCAPE)
        return 0;
    size_t length = 1;
    if (text[length] == '[')
        for (length++; text[length] >= 0x20 && text[length] <= 0x3f;)
            length++;
    else
        while (text[length] >= 0x20 && text[length] <= 0x2f)
            length++;
    return length + (text[length] != '\0' && text[length] != '\n');
}

/* Colour codes out, every kind of blank to ' ': NO-BREAK SPACE comes with web pages. */
static void clean(char *text)
{
    char *write = text;
    for (const char *read = text; *read;) {
        size_t escape = escape_length(read);
        if (escape > 0) {
            read += escape;
        } else if (read[0] == '\xc2' && read[1] == '\xa0') {
            *write++ = ' ';
            read += 2;
        } else {
            bool blank = strchr("\t\r\v\f", *read) != NULL;
            *write++ = blank ? ' ' : *read;
            read++;
        }
    }
    *write = '\0';
}

/* --- words ------------------------------------------------------------------------ */

/* Past WORDS_MAXIMUM they are dropped: no such line is a row. */
static unsigned split(char *line, const char *words[WORDS_MAXIMUM])
{
    unsigned count = 0;
    for (char *at = line + strspn(line, " "); *at && count < WORDS_MAXIMUM;) {
        words[count++] = at;
        at += strcspn(at, " ");
        if (*at)
            *at++ = '\0';
        at += strspn(at, " ");
    }
    return count;
}

static bool read_gpu_number(const char *word, uint64_t *ret)
{
    return strncmp(word, "GPU", 3) == 0 &&
           parse_unsigned(word + 3, 0, GPU_NUMBER_MAXIMUM, ret, NULL) == 0;
}

static bool is_gpu_name(const char *word)
{
    uint64_t number;
    return read_gpu_number(word, &number);
}

static bool is_self(const char *word) { return strcmp(word, "X") == 0; }

static bool read_cell(const char *word, struct matrix_cell *ret)
{
    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        if (strcmp(word, classes[i].word) != 0)
            continue;
        *ret = (struct matrix_cell){.link = (uint8_t)classes[i].link};
        return true;
    }
    uint64_t links;
    if (strncmp(word, "NV", 2) != 0 ||
        parse_unsigned(word + 2, 1, MATRIX_MAXIMUM_LINKS, &links, NULL) < 0)
        return false;
    *ret = (struct matrix_cell){.link = LINK_NVLINK, .links = (uint8_t)links};
    return true;
}

static bool is_cell(const char *word)
{
    struct matrix_cell cell;
    return is_self(word) || read_cell(word, &cell);
}

/* Stands in a cell's place: also what we do not know, or two words glued together. */
static bool has_place_of_cell(const char *word)
{
    return is_letter(word[0]) && strcmp(word, "N/A") != 0;
}

/* --- lines ------------------------------------------------------------------------ */

static unsigned count_cells(const struct words *line)
{
    unsigned cells = 0;
    for (unsigned i = 1; i < line->count; i++)
        cells += is_cell(line->words[i]);
    return cells;
}

static bool is_header(const struct words *line)
{
    if (line->count < 2 || !is_gpu_name(line->words[0]) || count_cells(line) > 0)
        return false;
    bool names_affinity = false;
    for (unsigned i = 1; i < line->count; i++)
        names_affinity = names_affinity || strcmp(line->words[i], "Affinity") == 0;
    return names_affinity || is_gpu_name(line->words[1]);
}

static unsigned find_column(const struct reader *reader, const char *name)
{
    for (unsigned i = 0; i < reader->matrix->count; i++)
        if (reader->matrix->columns[i].name && strcmp(reader->matrix->columns[i].name, name) == 0)
            return i;
    return NO_POSITION;
}

/* A NIC's row that no header announces must be nothing but cells. */
static bool is_row(const struct reader *reader, const struct words *line)
{
    unsigned cells = count_cells(line);
    if (cells == 0)
        return false;
    if (is_gpu_name(line->words[0]) || find_column(reader, line->words[0]) != NO_POSITION)
        return true;
    return reader->header.count == 0 && cells > 1 && cells == line->count - 1;
}

/* "NIC0: mlx5_0" */
static void take_legend(struct reader *reader, const struct words *line)
{
    if (line->count != 2 || reader->legend_count == LEGENDS_MAXIMUM)
        return;
    const char *name = line->words[0];
    if (strncmp(name, "NIC", 3) == 0 && name[strlen(name) - 1] == ':')
        reader->legends[reader->legend_count++] =
            (struct legend){.name = name, .nic_name = line->words[1]};
}

static int store_words(const struct reader *reader, const struct words *line, struct words *ret,
                       struct error_info *err)
{
    const char **words = arena_allocate_array(reader->draft->arena, line->count, sizeof(*words));
    if (!words)
        return error_set_memory(err);
    memcpy(words, line->words, line->count * sizeof(*words));
    *ret = (struct words){.words = words, .count = line->count, .line = line->line};
    return 0;
}

/* --- the header ------------------------------------------------------------------- */

/* How many of the columns behind the cells the rest of the header names; NO_POSITION where
 * they are others, or the line is cut off. */
static unsigned count_trailing(const struct words *header, unsigned at)
{
    static const char *const titles[TRAILING_MAXIMUM][3] = {
        {"CPU", "Affinity"}, {"NUMA", "Affinity"}, {"GPU", "NUMA", "ID"}};
    unsigned count = 0;
    while (at < header->count) {
        if (count == TRAILING_MAXIMUM)
            return NO_POSITION;
        for (unsigned i = 0; i < 3 && titles[count][i]; i++, at++)
            if (at == header->count || strcmp(header->words[at], titles[count][i]) != 0)
                return NO_POSITION;
        count++;
    }
    return count;
}

static bool is_title(const char *word)
{
    return strcmp(word, "CPU") == 0 || strcmp(word, "NUMA") == 0 || strcmp(word, "GPU") == 0;
}

static int read_header(struct reader *reader, struct error_info *err)
{
    struct matrix_text *matrix = reader->matrix;
    const struct words *header = &reader->header;
    unsigned at = 0;
    for (; at < header->count && !is_title(header->words[at]); at++) {
        const char *name = header->words[at];
        if (find_column(reader, name) != NO_POSITION)
            return error_set(err, "%s:%u: the column %s stands twice in the header", reader->source,
                             header->line, name);
        if (matrix->count == MATRIX_MAXIMUM_COLUMNS)
            return error_set(err, "%s:%u: more than %u columns", reader->source, header->line,
                             MATRIX_MAXIMUM_COLUMNS);
        matrix->columns[matrix->count++] = (struct matrix_column){
            .name = name,
            .device = is_gpu_name(name) ? MATRIX_GPU : MATRIX_NIC,
        };
    }
    reader->trailing = count_trailing(header, at);
    if (reader->trailing == NO_POSITION)
        evidence_draft_note(reader->draft,
                            "%s:%u: the header is cut off or has unknown columns behind the "
                            "cells: CPUs and NUMA nodes are not read",
                            reader->source, header->line);
    return 0;
}

/* *ret_last: another table starts here. */
static int take_line(struct reader *reader, char *text, unsigned number, bool *ret_last,
                     struct error_info *err)
{
    const char *words[WORDS_MAXIMUM];
    struct words line = {.words = words, .count = split(text, words), .line = number};
    if (line.count == 0)
        return 0;
    if (is_header(&line)) {
        *ret_last = reader->header.count > 0 || reader->row_count > 0;
        if (*ret_last)
            evidence_draft_warn(reader->draft,
                                "%s:%u: another table starts here; only the first is read",
                                reader->source, number);
        else if (store_words(reader, &line, &reader->header, err) < 0 ||
                 read_header(reader, err) < 0)
            return -1;
        return 0;
    }
    if (!is_row(reader, &line)) {
        take_legend(reader, &line);
        return 0;
    }
    if (reader->row_count == ROWS_MAXIMUM)
        return error_set(err, "%s:%u: more than %u rows", reader->source, number, ROWS_MAXIMUM);
    return store_words(reader, &line, &reader->rows[reader->row_count++], err);
}

static int take_lines(struct reader *reader, char *text, struct error_info *err)
{
    bool last = false;
    for (unsigned number = 1; *text && !last; number++) {
        char *end = text + strcspn(text, "\n");
        char *next = *end ? end + 1 : end;
        *end = '\0';
        if (take_line(reader, text, number, &last, err) < 0)
            return -1;
        text = next;
    }
    return 0;
}

/* --- rows ------------------------------------------------------------------------- */

struct shape {
    unsigned cells;    /* words in the places of cells */
    unsigned self;     /* position of the only X, or NO_POSITION */
    unsigned trailing; /* words behind the cells */
};

static struct shape measure(const struct words *row)
{
    struct shape shape = {.self = NO_POSITION};
    unsigned selves = 0;
    for (unsigned i = 1; i < row->count && has_place_of_cell(row->words[i]); i++) {
        if (is_self(row->words[i])) {
            selves++;
            shape.self = shape.cells;
        }
        shape.cells++;
    }
    if (selves != 1)
        shape.self = NO_POSITION;
    shape.trailing = row->count - 1 - shape.cells;
    return shape;
}

/* The place of a row's device among the columns, as its X tells; NO_POSITION where the X is
 * missing or contradicts the GPU's number. */
static unsigned place_of_row(const struct words *row, const struct shape *shape)
{
    uint64_t number;
    if (shape->self == NO_POSITION || shape->self >= MATRIX_MAXIMUM_COLUMNS)
        return NO_POSITION;
    if (read_gpu_number(row->words[0], &number) && number != shape->self)
        return NO_POSITION;
    return shape->self;
}

/* NICs have no NVLinks: the last column with one is a GPU's. */
static unsigned count_gpu_columns(const struct words *row, const struct shape *shape)
{
    unsigned count = shape->self + 1;
    struct matrix_cell cell;
    for (unsigned i = shape->self + 1; i < shape->cells; i++)
        if (read_cell(row->words[1 + i], &cell) && cell.link == LINK_NVLINK)
            count = i + 1;
    return count < MATRIX_MAXIMUM_COLUMNS ? count : MATRIX_MAXIMUM_COLUMNS;
}

static void note_made_columns(struct reader *reader, unsigned gpus)
{
    unsigned nameless = 0;
    for (unsigned i = gpus; i < reader->matrix->count; i++)
        nameless += reader->matrix->columns[i].name == NULL;
    evidence_draft_warn(reader->draft,
                        "%s: the header is missing: %u GPUs by the rows and the NV cells",
                        reader->source, gpus);
    if (nameless > 0)
        evidence_draft_warn(reader->draft,
                            "%s: %u columns that no header and no row names are left out; they "
                            "may be NICs",
                            reader->source, nameless);
}

static void name_column(struct matrix_text *matrix, unsigned at, enum matrix_device device,
                        const char *name)
{
    if (matrix->columns[at].name)
        return; /* two rows claim it */
    matrix->columns[at].name = name;
    matrix->columns[at].device = device;
}

/* Takes what one row says of the table's width; *gpus: the columns that are GPUs. */
static int widen(struct reader *reader, const struct words *row, unsigned *gpus,
                 struct error_info *err)
{
    struct shape shape = measure(row);
    if (place_of_row(row, &shape) == NO_POSITION)
        return 0;
    if (shape.cells > MATRIX_MAXIMUM_COLUMNS)
        return error_set(err, "%s:%u: more than %u columns", reader->source, row->line,
                         MATRIX_MAXIMUM_COLUMNS);
    if (shape.cells > reader->matrix->count)
        reader->matrix->count = shape.cells;
    if (!is_gpu_name(row->words[0]))
        return 0;
    unsigned row_gpus = count_gpu_columns(row, &shape);
    *gpus = row_gpus > *gpus ? row_gpus : *gpus;
    if (shape.trailing <= TRAILING_MAXIMUM && shape.trailing > reader->trailing)
        reader->trailing = shape.trailing;
    return 0;
}

/* Without a header: each row's X tells where its device stands. */
static int make_columns(struct reader *reader, struct error_info *err)
{
    unsigned gpus = 0;
    for (unsigned i = 0; i < reader->row_count; i++)
        if (widen(reader, &reader->rows[i], &gpus, err) < 0)
            return -1;
    if (gpus == 0)
        return error_set(err, "%s: no row of a GPU has its X in its place, and there is no header",
                         reader->source);
    for (unsigned i = 0; i < gpus; i++)
        name_column(reader->matrix, i, MATRIX_GPU,
                    evidence_draft_format(reader->draft, "GPU%u", i));
    for (unsigned i = 0; i < reader->row_count; i++) {
        const struct words *row = &reader->rows[i];
        struct shape shape = measure(row);
        unsigned place = place_of_row(row, &shape);
        if (place != NO_POSITION && place >= gpus)
            name_column(reader->matrix, place, MATRIX_NIC, row->words[0]);
    }
    note_made_columns(reader, gpus);
    return 0;
}

static void set_cell(struct reader *reader, const struct words *row, unsigned own, unsigned column,
                     const char *word)
{
    struct matrix_cell cell;
    if (read_cell(word, &cell)) {
        reader->matrix->cells[own][column] = cell;
        return;
    }
    const char *name = reader->matrix->columns[column].name;
    evidence_draft_note(reader->draft, "%s:%u: %s: '%.40s' in the column of %s is no link class",
                        reader->source, row->line, row->words[0], word, name ? name : "?");
}

static void note_cells(struct reader *reader, const struct words *row, const char *where,
                       unsigned have, unsigned need)
{
    evidence_draft_warn(reader->draft,
                        "%s:%u: %s: %u cells %s its X, and %u columns: they cannot be told apart "
                        "and are not used",
                        reader->source, row->line, row->words[0], have, where, need);
}

/* The cells before and behind the X, each side on its own. cut: the line ends too early, so
 * its cells are the leading ones, and of the last there may be more ("NV1" of "NV12"). */
static void take_cells(struct reader *reader, const struct words *row, const struct shape *shape,
                       unsigned own, bool cut)
{
    const char *const *cells = row->words + 1;
    if (shape->self == own)
        for (unsigned i = 0; i < own; i++)
            set_cell(reader, row, own, i, cells[i]);
    else
        note_cells(reader, row, "before", shape->self, own);
    unsigned behind = shape->cells - shape->self - 1, expected = reader->matrix->count - own - 1;
    if (behind > expected || (behind < expected && !cut)) {
        note_cells(reader, row, "behind", behind, expected);
        return;
    }
    if (cut)
        evidence_draft_warn(reader->draft, "%s:%u: %s: the row is cut off behind %u cells",
                            reader->source, row->line, row->words[0], shape->cells);
    for (unsigned i = 0; i < behind; i++) {
        const char *word = cells[shape->self + 1 + i];
        if (!cut || i + 1 < behind || strncmp(word, "NV", 2) != 0)
            set_cell(reader, row, own, own + 1 + i, word);
    }
}

static void take_trailing(struct reader *reader, const struct words *row, const struct shape *shape,
                          struct matrix_column *column)
{
    if (reader->trailing == NO_POSITION || shape->trailing == 0)
        return;
    if (shape->trailing != reader->trailing) {
        evidence_draft_note(reader->draft,
                            "%s:%u: %s: %u words behind the cells, and %u columns: its CPUs and "
                            "its NUMA node are not known",
                            reader->source, row->line, row->words[0], shape->trailing,
                            reader->trailing);
        return;
    }
    const char **const values[TRAILING_MAXIMUM] = {&column->cpus, &column->numa, &column->gpu_numa};
    for (unsigned i = 0; i < shape->trailing && i < TRAILING_MAXIMUM; i++)
        *values[i] = row->words[1 + shape->cells + i];
}

/* A GPU's row ends with words behind its cells, a NIC's with its cells. */
static bool is_cut(const struct reader *reader, const struct shape *shape, bool is_gpu)
{
    if (shape->trailing > 0)
        return false;
    if (is_gpu)
        return reader->trailing > 0 && reader->trailing != NO_POSITION;
    return shape->cells < reader->matrix->count;
}

static void take_row(struct reader *reader, const struct words *row)
{
    struct shape shape = measure(row);
    unsigned own = find_column(reader, row->words[0]);
    const char *problem = own == NO_POSITION                      ? "has no column"
                          : shape.self == NO_POSITION             ? "has no X, or several"
                          : reader->matrix->columns[own].line > 0 ? "stands twice"
                                                                  : NULL;
    if (problem) {
        evidence_draft_warn(reader->draft, "%s:%u: %s %s: the row is not used", reader->source,
                            row->line, row->words[0], problem);
        return;
    }
    struct matrix_column *column = &reader->matrix->columns[own];
    column->line = row->line;
    bool is_gpu = column->device == MATRIX_GPU;
    take_cells(reader, row, &shape, own, is_cut(reader, &shape, is_gpu));
    if (is_gpu)
        take_trailing(reader, row, &shape, column);
}

/* --- names of NICs ---------------------------------------------------------------- */

static bool is_numbered_nic(const char *name)
{
    uint64_t number;
    return strncmp(name, "NIC", 3) == 0 &&
           parse_unsigned(name + 3, 0, GPU_NUMBER_MAXIMUM, &number, NULL) == 0;
}

/* NULL: none tells. */
static const char *find_legend(const struct reader *reader, const char *name)
{
    size_t length = strlen(name);
    for (unsigned i = 0; i < reader->legend_count; i++)
        if (strncmp(reader->legends[i].name, name, length) == 0 &&
            strcmp(reader->legends[i].name + length, ":") == 0)
            return reader->legends[i].nic_name;
    return NULL;
}

static void name_nics(struct reader *reader)
{
    unsigned nameless = 0;
    for (unsigned i = 0; i < reader->matrix->count; i++) {
        struct matrix_column *column = &reader->matrix->columns[i];
        if (column->device != MATRIX_NIC)
            continue;
        const char *legend = find_legend(reader, column->name);
        column->nic_name = legend || is_numbered_nic(column->name) ? legend : column->name;
        nameless += !column->nic_name;
    }
    if (nameless > 0)
        evidence_draft_note(reader->draft, "%s: the legend of NICs does not name %u of them",
                            reader->source, nameless);
}

static int read_table(struct reader *reader, char *text, struct error_info *err)
{
    clean(text);
    if (take_lines(reader, text, err) < 0)
        return -1;
    if (reader->row_count == 0)
        return error_set(err,
                         "%s: has no table of nvidia-smi topo -m: lines as 'GPU0  X  NV18 …' are "
                         "expected",
                         reader->source);
    if (reader->header.count == 0 && make_columns(reader, err) < 0)
        return -1;
    name_nics(reader);
    for (unsigned i = 0; i < reader->row_count; i++)
        take_row(reader, &reader->rows[i]);
    return 0;
}

int matrix_text_read(char *text, const char *source, struct evidence_draft *draft,
                     struct matrix_text *ret, struct error_info *err)
{
    struct reader *reader = memory_allocate(sizeof(*reader));
    if (!reader)
        return error_set_memory(err);
    reader->source = source;
    reader->draft = draft;
    reader->matrix = ret;
    int status = read_table(reader, text, err);
    memory_free(reader);
    return status;
}
