/* SPDX-License-Identifier: MIT */
#include "cli/doctor/plugstack.h"
#include "base/text_file.h"
#include "base/yaml_fields.h"
#include <glob.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#define BLANKS " \t"
#define BYTE_ORDER_MARK_BYTES 3
#define ARENA_BYTES ((size_t)8 << 20)

static const char *const words[] = {[PLUGSTACK_REQUIRED] = "required",
                                    [PLUGSTACK_OPTIONAL] = "optional",
                                    [PLUGSTACK_INCLUDE] = "include"};

static size_t skip_blanks(const char *line, size_t bytes, size_t at)
{
    while (at < bytes && strchr(BLANKS, line[at]) && line[at])
        at++;
    return at;
}

/* The next word and where it ends; false: longer than its room. */
static bool take_word(const char *line, size_t bytes, size_t *at, char ret[PLUGSTACK_WORD_BYTES])
{
    size_t begin = skip_blanks(line, bytes, *at), end = begin;
    while (end < bytes && line[end] && !strchr(BLANKS, line[end]))
        end++;
    if (end - begin >= PLUGSTACK_WORD_BYTES)
        return false;
    memcpy(ret, line + begin, end - begin);
    ret[end - begin] = '\0';
    *at = end;
    return true;
}

static bool take_rest(const char *line, size_t bytes, size_t at, char ret[PLUGSTACK_WORD_BYTES])
{
    size_t begin = skip_blanks(line, bytes, at), end = bytes;
    while (end > begin && (!line[end - 1] || strchr(BLANKS, line[end - 1])))
        end--;
    if (end - begin >= PLUGSTACK_WORD_BYTES || memchr(line + begin, '\0', end - begin))
        return false;
    memcpy(ret, line + begin, end - begin);
    ret[end - begin] = '\0';
    return true;
}

int plugstack_line_parse(const char *line, size_t bytes, enum plugstack_word *ret_word,
                         char ret_path[PLUGSTACK_WORD_BYTES],
                         char ret_arguments[PLUGSTACK_WORD_BYTES], struct error_info *err)
{
    char word[PLUGSTACK_WORD_BYTES];
    size_t at = 0;
    const char *comment = memchr(line, '#', bytes);
    *ret_word = PLUGSTACK_NOTHING;
    if (comment)
        bytes = (size_t)(comment - line);
    if (memchr(line, '\r', bytes))
        return error_set(err, "Slurm takes the carriage return of a Windows line as part of the "
                              "last word; run sed -i 's/\\r$//' on the file");
    if (!take_word(line, bytes, &at, word) || !take_word(line, bytes, &at, ret_path) ||
        !take_rest(line, bytes, at, ret_arguments))
        return error_set(err, "a word is longer than %u bytes or has a NUL; mend the line",
                         PLUGSTACK_WORD_BYTES - 1);
    if (word[0] == '\0')
        return 0;
    for (unsigned i = PLUGSTACK_REQUIRED; i < COUNT_OF(words); i++)
        if (strcmp(word, words[i]) == 0)
            *ret_word = (enum plugstack_word)i;
    if (*ret_word == PLUGSTACK_NOTHING)
        return error_set(err, "'%s' is neither required, optional nor include; mend the line",
                         word);
    if (ret_path[0] == '\0')
        return error_set(err, "nothing stands behind '%s'; name a file", word);
    return 0;
}

static int add_entry(struct plugstack *stack, bool required, const char *path,
                     const char *arguments, const char *file, unsigned line, struct error_info *err)
{
    if (stack->count == PLUGSTACK_MAXIMUM_ENTRIES)
        return error_set(err, "%s:%u: more than %u plugins; remove some", file, line,
                         PLUGSTACK_MAXIMUM_ENTRIES);
    struct plugstack_entry *entry = &stack->entries[stack->count];
    *entry = (struct plugstack_entry){
        .required = required,
        .path = arena_copy_text(stack->arena, path),
        .arguments = arena_copy_text(stack->arena, arguments),
        .where = arena_format(stack->arena, "%s:%u", file, line),
    };
    if (!entry->path || !entry->arguments || !entry->where)
        return error_set_memory(err);
    stack->count++;
    return 0;
}

static int load_file(struct plugstack *stack, const char *path, unsigned depth,
                     struct error_info *err);

static int include_pattern(struct plugstack *stack, const char *pattern, unsigned depth,
                           struct error_info *err)
{
    glob_t found = {.gl_pathc = 0};
    int failed = glob(pattern, 0, NULL, &found);
    if (failed == GLOB_NOMATCH)
        return 0;
    int result =
        failed ? error_set_system(err, "%s cannot be listed; check its folder", pattern) : 0;
    for (size_t i = 0; result == 0 && i < found.gl_pathc; i++)
        result = load_file(stack, found.gl_pathv[i], depth + 1, err);
    globfree(&found);
    return result;
}

static int include_files(struct plugstack *stack, const char *file, const char *pattern,
                         unsigned depth, struct error_info *err)
{
    char whole[PATH_MAX];
    const char *slash = strrchr(file, '/');
    int folder = pattern[0] == '/' || !slash ? 0 : (int)(slash - file + 1);
    int length = snprintf(whole, sizeof(whole), "%.*s%s", folder, file, pattern);
    if (length < 0 || (size_t)length >= sizeof(whole))
        return error_set(err, "a path is longer than %zu bytes; shorten it", sizeof(whole));
    return include_pattern(stack, whole, depth, err);
}

static int take_line(struct plugstack *stack, const char *file, unsigned number, const char *line,
                     size_t bytes, unsigned depth, struct error_info *err)
{
    char path[PLUGSTACK_WORD_BYTES], arguments[PLUGSTACK_WORD_BYTES];
    enum plugstack_word word;
    if (plugstack_line_parse(line, bytes, &word, path, arguments, err) < 0)
        return error_prefix(err, "%s:%u", file, number);
    if (word == PLUGSTACK_INCLUDE)
        return include_files(stack, file, path, depth, err);
    if (word == PLUGSTACK_NOTHING)
        return 0;
    return add_entry(stack, word == PLUGSTACK_REQUIRED, path, arguments, file, number, err);
}

static int load_file(struct plugstack *stack, const char *path, unsigned depth,
                     struct error_info *err)
{
    size_t bytes = 0;
    if (depth > PLUGSTACK_MAXIMUM_DEPTH || stack->file_count >= PLUGSTACK_MAXIMUM_FILES)
        return error_set(err, "%s: includes more than %u deep or %u files; does it include itself?",
                         path, PLUGSTACK_MAXIMUM_DEPTH, PLUGSTACK_MAXIMUM_FILES);
    CLEANUP_MEMORY char *text = text_file_read(path, PLUGSTACK_MAXIMUM_BYTES, &bytes, err);
    if (!text)
        return -1;
    struct stat status; /* text_file_read leaves the mark out, Slurm does not */
    if (stat(path, &status) == 0 && status.st_size == (off_t)bytes + BYTE_ORDER_MARK_BYTES)
        return error_set(err,
                         "%s:1: a byte order mark stands before the first word, and Slurm "
                         "takes it as part of that; save the file without it",
                         path);
    const char *name = arena_copy_text(stack->arena, path);
    if (!name)
        return error_set_memory(err);
    stack->files[stack->file_count++] = name;
    unsigned number = 1;
    for (size_t at = 0; at < bytes; number++) {
        const char *end = memchr(text + at, '\n', bytes - at);
        size_t length = end ? (size_t)(end - text) - at : bytes - at;
        if (take_line(stack, path, number, text + at, length, depth, err) < 0)
            return -1;
        at += length + 1;
    }
    return 0;
}

struct plugstack *plugstack_load(const char *path, struct error_info *err)
{
    CLEANUP(plugstack) struct plugstack *stack = memory_allocate(sizeof(*stack));
    if (!stack || !(stack->arena = arena_create(ARENA_BYTES)))
        return error_null(error_set_memory(err));
    if (load_file(stack, path, 0, err) < 0)
        return NULL;
    return move_pointer(stack);
}

void plugstack_free(struct plugstack *stack)
{
    if (stack)
        arena_free(stack->arena);
    memory_free(stack);
}

size_t plugstack_find(const struct plugstack *stack, const char *file_name, size_t from)
{
    for (; from < stack->count; from++) {
        const char *slash = strrchr(stack->entries[from].path, '/');
        if (strcmp(slash ? slash + 1 : stack->entries[from].path, file_name) == 0)
            return from;
    }
    return stack->count;
}

const struct plugstack_entry *plugstack_find_near(const struct plugstack *stack,
                                                  const char *file_name)
{
    for (size_t i = 0; i < stack->count; i++) {
        const char *path = stack->entries[i].path, *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        if (strcasestr(name, "parplan") || name_nearest(name, &file_name, 1))
            return &stack->entries[i];
    }
    return NULL;
}

bool plugstack_argument(const struct plugstack_entry *entry, const char *key, char *ret,
                        size_t bytes)
{
    size_t length = strlen(key);
    for (const char *at = entry->arguments; *at;) {
        size_t size = strcspn(at, BLANKS);
        if (size > length + 1 && size - length - 1 < bytes && at[length] == '=' &&
            memcmp(at, key, length) == 0) {
            memcpy(ret, at + length + 1, size - length - 1);
            ret[size - length - 1] = '\0';
            return true;
        }
        at += size;
        at += strspn(at, BLANKS);
    }
    ret[0] = '\0';
    return false;
}
