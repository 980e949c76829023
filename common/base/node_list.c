/* SPDX-License-Identifier: MIT */
#include "base/node_list.h"
#include "base/arena.h"
#include "base/parse_number.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FIRST_CAPACITY 16u
#define MAXIMUM_GROUPS 8u  /* brackets in one item */
#define MAXIMUM_DIGITS 18u /* of a number in brackets: fits 64 bits */

struct node_list {
    struct arena *arena;
    const char **names;
    size_t count;
    size_t capacity;
};

struct node_list *node_list_create(struct error_info *err)
{
    CLEANUP(node_list) struct node_list *list = memory_allocate(sizeof(*list));
    if (!list)
        return error_null(error_set_memory(err));
    list->arena = arena_create(ARENA_DEFAULT_MAXIMUM_BYTES);
    if (!list->arena)
        return error_null(error_set_memory(err));
    return move_pointer(list);
}

void node_list_free(struct node_list *list)
{
    if (!list)
        return;
    arena_free(list->arena);
    memory_free(list->names);
    memory_free(list);
}

static bool is_digit(char character) { return character >= '0' && character <= '9'; }

static bool name_character_is_valid(char character)
{
    return character > ' ' && character < 0x7f && character != ',' && character != '[' &&
           character != ']';
}

static int check_name(const char *name, struct error_info *err)
{
    size_t length = 0;
    while (name_character_is_valid(name[length]))
        length++;
    if (name[length])
        return error_set(err, "'%.60s' has a character that no node name has", name);
    if (length == 0)
        return error_set(err, "a node name is empty");
    if (length >= NODE_LIST_NAME_BYTES)
        return error_set(err, "the node name '%.60s…' has %zu characters; at most %u are possible",
                         name, length, NODE_LIST_NAME_BYTES - 1);
    return 0;
}

static int reserve_name(struct node_list *list)
{
    if (list->count < list->capacity)
        return 0;
    size_t capacity = list->capacity ? list->capacity * 2 : FIRST_CAPACITY;
    const char **grown =
        memory_grow_array(list->names, list->capacity, capacity, sizeof(*list->names));
    if (!grown)
        return -1;
    list->names = grown;
    list->capacity = capacity;
    return 0;
}

int node_list_add(struct node_list *list, const char *name, struct error_info *err)
{
    if (check_name(name, err) < 0)
        return -1;
    if (list->count >= NODE_LIST_MAXIMUM_NODES)
        return error_set(err, "more than %u nodes", NODE_LIST_MAXIMUM_NODES);
    const char *copy = arena_copy_text(list->arena, name);
    if (!copy || reserve_name(list) < 0)
        return error_set_memory(err);
    list->names[list->count++] = copy;
    return 0;
}

size_t node_list_count(const struct node_list *list) { return list->count; }

const char *node_list_name(const struct node_list *list, size_t index)
{
    return list->names[index];
}

/* --- decode ----------------------------------------------------------------------- */

/* One item, "rack[1-2]n[0-7]-ib": literals with a bracket group behind each but the last. */
struct item {
    const char *literal[MAXIMUM_GROUPS + 1];
    size_t literal_bytes[MAXIMUM_GROUPS + 1];
    const char *group[MAXIMUM_GROUPS]; /* behind its '[' */
    size_t group_count;
};

struct number_range {
    uint64_t first, last;
    int width;
};

static bool read_number(const char *text, uint64_t *ret, size_t *ret_digits)
{
    char digits[MAXIMUM_DIGITS + 1] = "";
    size_t count = strspn(text, "0123456789");
    if (count == 0 || count > MAXIMUM_DIGITS)
        return false;
    memcpy(digits, text, count);
    *ret_digits = count;
    return parse_unsigned(digits, 0, UINT64_MAX, ret, NULL) == 0;
}

static int error_number(const char *text, struct error_info *err)
{
    if (*text == '\0')
        return error_set(err, "a '[' has no ']'");
    return error_set(err, "'%.40s' does not start with a number of at most %u digits", text,
                     MAXIMUM_DIGITS);
}

/* "001-016" or "020"; returns what follows it. */
static const char *read_range(const char *text, struct number_range *ret, struct error_info *err)
{
    uint64_t first, last;
    size_t digits, last_digits;
    if (!read_number(text, &first, &digits))
        return error_null(error_number(text, err));
    const char *end = text + digits;
    last = first;
    if (*end == '-') {
        const char *second = end + 1;
        if (!read_number(second, &last, &last_digits))
            return error_null(error_number(second, err));
        end = second + last_digits;
        if (last < first)
            return error_null(
                error_set(err, "the range %.*s runs backwards", (int)(end - text), text));
        if (last_digits != digits && (*second == '0' || (*text == '0' && last_digits < digits)))
            return error_null(error_set(err, "the numbers of the range %.*s differ in width",
                                        (int)(end - text), text));
    }
    *ret = (struct number_range){.first = first, .last = last, .width = (int)digits};
    return end;
}

/* The next range of a group; *read is then at the ',' or the ']' behind it. */
static int next_range(const char **read, struct number_range *ret, struct error_info *err)
{
    const char *end = read_range(*read, ret, err);
    if (!end)
        return -1;
    if (*end != ',' && *end != ']')
        return *end ? error_set(err, "'%.20s' where ',' or ']' was expected", end)
                    : error_number(end, err);
    *read = end;
    return 0;
}

/* Checks a group and counts its numbers; returns what follows its ']'. */
static const char *check_group(const char *group, uint64_t *ret_count, struct error_info *err)
{
    uint64_t count = 0;
    const char *read = group;
    do {
        struct number_range range;
        if (next_range(&read, &range, err) < 0)
            return NULL;
        count += range.last - range.first + 1;
        if (count > NODE_LIST_MAXIMUM_NODES)
            return error_null(error_set(err,
                                        "the brackets hold more than the %u nodes that are "
                                        "possible",
                                        NODE_LIST_MAXIMUM_NODES));
    } while (*read++ == ',');
    *ret_count = count;
    return read;
}

/* Splits one item, up to a comma outside brackets or the end, and checks it whole, so that
 * nothing is expanded before its size is known. */
static const char *split_item(const char *text, size_t room, struct item *ret,
                              struct error_info *err)
{
    uint64_t names = 1;
    *ret = (struct item){0};
    for (const char *read = text;;) {
        size_t bytes = strcspn(read, ",[]");
        ret->literal[ret->group_count] = read;
        ret->literal_bytes[ret->group_count] = bytes;
        read += bytes;
        if (*read == ']')
            return error_null(error_set(err, "a ']' has no '['"));
        if (*read != '[')
            return names > room
                       ? error_null(error_set(err, "more than %u nodes", NODE_LIST_MAXIMUM_NODES))
                       : read;
        if (ret->group_count == MAXIMUM_GROUPS)
            return error_null(error_set(err, "more than %u brackets in one name", MAXIMUM_GROUPS));
        uint64_t count;
        ret->group[ret->group_count++] = read + 1;
        read = check_group(read + 1, &count, err);
        if (!read)
            return NULL;
        names *= count;
        if (names > NODE_LIST_MAXIMUM_NODES)
            return error_null(error_set(err,
                                        "the brackets make more than the %u nodes that are "
                                        "possible",
                                        NODE_LIST_MAXIMUM_NODES));
    }
}

struct partial_name {
    char text[NODE_LIST_NAME_BYTES];
    size_t length;
};

static int append_literal(struct partial_name *name, const char *text, size_t bytes,
                          struct error_info *err)
{
    if (bytes >= NODE_LIST_NAME_BYTES - name->length)
        return error_set(err, "a node name has more than %u characters", NODE_LIST_NAME_BYTES - 1);
    memcpy(name->text + name->length, text, bytes);
    name->length += bytes;
    name->text[name->length] = '\0';
    return 0;
}

/* At least `width` digits. By hand, since this is most of the time that decoding takes. */
static int append_number(struct partial_name *name, uint64_t number, int width,
                         struct error_info *err)
{
    char digits[MAXIMUM_DIGITS];
    size_t start = sizeof(digits);
    for (; number > 0 || width > 0; number /= 10, width--)
        digits[--start] = (char)('0' + number % 10);
    return append_literal(name, digits + start, sizeof(digits) - start, err);
}

static int expand_range(struct node_list *list, const struct item *item, size_t group,
                        const struct number_range *range, struct partial_name *name,
                        struct error_info *err);

/* Recursion over the item's groups: at most MAXIMUM_GROUPS deep. */
static int expand_item(struct node_list *list, const struct item *item, size_t group,
                       struct partial_name *name, struct error_info *err)
{
    if (append_literal(name, item->literal[group], item->literal_bytes[group], err) < 0)
        return -1;
    if (group == item->group_count)
        return node_list_add(list, name->text, err);
    const char *read = item->group[group];
    do {
        struct number_range range;
        if (next_range(&read, &range, err) < 0 ||
            expand_range(list, item, group, &range, name, err) < 0)
            return -1;
    } while (*read++ == ',');
    return 0;
}

static int expand_range(struct node_list *list, const struct item *item, size_t group,
                        const struct number_range *range, struct partial_name *name,
                        struct error_info *err)
{
    size_t length = name->length;
    for (uint64_t number = range->first; number <= range->last; number++) {
        if (append_number(name, number, range->width, err) < 0 ||
            expand_item(list, item, group + 1, name, err) < 0)
            return -1;
        name->length = length;
    }
    return 0;
}

static int decode_items(struct node_list *list, const char *text, struct error_info *err)
{
    if (*text == '\0')
        return 0;
    for (const char *read = text;;) {
        struct item item;
        const char *end = split_item(read, NODE_LIST_MAXIMUM_NODES - list->count, &item, err);
        struct partial_name name = {.text = ""};
        if (!end || expand_item(list, &item, 0, &name, err) < 0)
            return -1;
        if (*end == '\0')
            return 0;
        read = end + 1;
    }
}

struct node_list *node_list_decode(const char *text, struct error_info *err)
{
    CLEANUP(node_list) struct node_list *list = node_list_create(err);
    if (!list)
        return NULL;
    struct error_info why = {.kind = ERROR_NONE};
    if (decode_items(list, text, &why) == 0)
        return move_pointer(list);
    if (why.kind == ERROR_MEMORY)
        return error_null(error_set_memory(err));
    return error_null(error_set(err, "node list '%.60s': %s", text, why.text));
}

/* --- encode ----------------------------------------------------------------------- */

/* One digit run of a name: where a run of names varies. */
struct varying_part {
    size_t start;
    size_t digits;
};

static bool number_at(const char *name, struct varying_part part, uint64_t *ret)
{
    char digits[MAXIMUM_DIGITS + 1] = "";
    if (part.digits == 0 || part.digits > MAXIMUM_DIGITS)
        return false;
    memcpy(digits, name + part.start, part.digits);
    return parse_unsigned(digits, 0, UINT64_MAX, ret, NULL) == 0;
}

/* The digit run of `name` around or right behind the position. */
static struct varying_part digit_run_at(const char *name, size_t position)
{
    struct varying_part part = {.start = position};
    while (part.start > 0 && is_digit(name[part.start - 1]))
        part.start--;
    while (is_digit(name[part.start + part.digits]))
        part.digits++;
    return part;
}

/* Where two neighbours differ; the last digit run when they are the same. */
static struct varying_part find_varying_part(const char *left, const char *right)
{
    size_t position = 0;
    while (left[position] && left[position] == right[position])
        position++;
    if (left[position] || right[position])
        return digit_run_at(left, position);
    while (position > 0 && !is_digit(left[position - 1]))
        position--;
    return digit_run_at(left, position);
}

/* Whether `name` is `first` with another number in the part, and that number's digits. */
static bool shares_frame(const char *first, struct varying_part part, const char *name,
                         struct varying_part *ret_part)
{
    if (strncmp(first, name, part.start) != 0)
        return false;
    *ret_part = digit_run_at(name, part.start);
    uint64_t ignored;
    return ret_part->start == part.start && number_at(name, *ret_part, &ignored) &&
           strcmp(first + part.start + part.digits, name + ret_part->start + ret_part->digits) == 0;
}

/* Whether decode would write this name's number behind `number` in a range that began with `width`.
 */
static bool follows(const char *name, struct varying_part part, uint64_t number, int width)
{
    char expected[MAXIMUM_DIGITS + 3];
    int digits =
        snprintf(expected, sizeof(expected), "%0*llu", width, (unsigned long long)(number + 1));
    return part.digits == (size_t)digits && memcmp(name + part.start, expected, part.digits) == 0;
}

/* The names from `first` on that fit one bracket; writes it and returns their number. */
static size_t encode_bracket(const struct node_list *list, size_t first, struct varying_part part,
                             struct text_buffer *out)
{
    const char *frame = list->names[first];
    size_t index = first;
    struct varying_part current = part;
    const char *separator = "";
    text_buffer_add(out, "%.*s[", (int)part.start, frame);
    do {
        struct varying_part opening = current;
        const char *name = list->names[index];
        uint64_t number = 0;
        number_at(name, opening, &number);
        size_t run = 1;
        while (++index < list->count && shares_frame(frame, part, list->names[index], &current) &&
               follows(list->names[index], current, number, (int)opening.digits)) {
            number++;
            run++;
        }
        text_buffer_add(out, "%s%.*s", separator, (int)opening.digits, name + opening.start);
        if (run > 1)
            text_buffer_add(out, "-%0*llu", (int)opening.digits, (unsigned long long)number);
        separator = ",";
    } while (index < list->count && shares_frame(frame, part, list->names[index], &current));
    text_buffer_add(out, "]%s", frame + part.start + part.digits);
    return index - first;
}

void node_list_encode(const struct node_list *list, struct text_buffer *out)
{
    for (size_t i = 0; i < list->count;) {
        if (i > 0)
            text_buffer_add_text(out, ",");
        const char *name = list->names[i];
        struct varying_part part = {0}, other;
        uint64_t ignored;
        if (i + 1 < list->count) {
            part = find_varying_part(name, list->names[i + 1]);
            if (number_at(name, part, &ignored) &&
                shares_frame(name, part, list->names[i + 1], &other)) {
                i += encode_bracket(list, i, part, out);
                continue;
            }
        }
        text_buffer_add_text(out, name);
        i++;
    }
}

/* --- order ------------------------------------------------------------------------ */

static int compare_digit_runs(const char **left, const char **right)
{
    *left += strspn(*left, "0");
    *right += strspn(*right, "0");
    size_t left_digits = strspn(*left, "0123456789");
    size_t right_digits = strspn(*right, "0123456789");
    if (left_digits != right_digits)
        return left_digits < right_digits ? -1 : 1;
    int order = strncmp(*left, *right, left_digits);
    *left += left_digits;
    *right += right_digits;
    return order;
}

int node_name_compare(const char *left, const char *right)
{
    const char *l = left, *r = right;
    while (*l && *r) {
        int order;
        if (is_digit(*l) && is_digit(*r))
            order = compare_digit_runs(&l, &r);
        else
            order = (unsigned char)*l++ - (unsigned char)*r++;
        if (order != 0)
            return order;
    }
    if (*l || *r)
        return *l ? 1 : -1;
    return strcmp(left, right);
}
