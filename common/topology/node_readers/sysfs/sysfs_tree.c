/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/sysfs/sysfs_tree.h"
#include "base/node_list.h"
#include "base/parse_number.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAXIMUM_COMPONENTS 512u /* in one resolution, after links */
#define PLACE_FLAGS (O_PATH | O_NOFOLLOW | O_CLOEXEC)
/* O_NONBLOCK: what was a file a moment ago can be a FIFO now. */
#define READ_FLAGS (O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

struct sysfs_tree {
    int fd;
    bool live;
    unsigned steps;
    char root[SYSFS_PATH_BYTES]; /* for messages: ends in '/' */
};

/* One resolution on its way. */
struct walk {
    struct sysfs_tree *tree;
    char pending[SYSFS_PATH_BYTES];  /* still to be walked */
    char resolved[SYSFS_PATH_BYTES]; /* free of links; "" is the root */
    int fd;                          /* of resolved, O_PATH */
    unsigned links, components;
};

static void cleanup_walk(struct walk *walk)
{
    if (walk->fd >= 0)
        close(walk->fd);
}

#define CLEANUP_WALK __attribute__((cleanup(cleanup_walk)))

struct sysfs_tree *sysfs_tree_open(const char *root, struct error_info *err)
{
    size_t length = strlen(root);
    while (length > 0 && root[length - 1] == '/')
        length--;
    if (length + 2 > SYSFS_PATH_BYTES)
        return error_null(
            error_set(err, "the path of the root is longer than %u bytes", SYSFS_PATH_BYTES - 2));
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = memory_allocate(sizeof(*tree));
    if (!tree)
        return error_null(error_set_memory(err));
    memcpy(tree->root, root, length);
    tree->root[length] = '/';
    tree->live = length == 0;
    tree->fd = open(tree->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (tree->fd < 0)
        return error_null(error_set(err, "%s: %s", root, error_errno_text(errno)));
    return move_pointer(tree);
}

void sysfs_tree_free(struct sysfs_tree *tree)
{
    if (!tree)
        return;
    if (tree->fd >= 0)
        close(tree->fd);
    memory_free(tree);
}

bool sysfs_tree_is_live(const struct sysfs_tree *tree) { return tree->live; }

/* --- resolving -------------------------------------------------------------------- */

static int spend_step(struct sysfs_tree *tree)
{
    if (tree->steps >= SYSFS_MAXIMUM_STEPS) {
        errno = EMFILE;
        return -1;
    }
    tree->steps++;
    return 0;
}

static int open_place(struct walk *walk, const char *component, int flags)
{
    return spend_step(walk->tree) < 0 ? -1 : openat(walk->fd, component, PLACE_FLAGS | flags);
}

static int enter(struct walk *walk, int fd)
{
    if (fd < 0)
        return -1;
    if (walk->fd >= 0)
        close(walk->fd);
    walk->fd = fd;
    return 0;
}

static int enter_root(struct walk *walk)
{
    walk->resolved[0] = '\0';
    return enter(walk, fcntl(walk->tree->fd, F_DUPFD_CLOEXEC, 0));
}

/* Takes the first component off pending; false: there is none. */
static bool take_component(struct walk *walk, char component[NAME_MAX + 1])
{
    const char *start = walk->pending + strspn(walk->pending, "/");
    size_t length = strcspn(start, "/");
    if (length == 0)
        return false;
    size_t kept = length <= NAME_MAX ? length : 0; /* no file has a longer name, nor "" */
    memcpy(component, start, kept);
    component[kept] = '\0';
    memmove(walk->pending, start + length, strlen(start + length) + 1);
    return true;
}

static int append(char path[SYSFS_PATH_BYTES], const char *component)
{
    size_t length = strlen(path), more = strlen(component);
    if (length + more + 2 > SYSFS_PATH_BYTES) {
        errno = ENAMETOOLONG;
        return -1;
    }
    if (length > 0)
        path[length++] = '/';
    memcpy(path + length, component, more + 1);
    return 0;
}

/* The target, then what is still pending. */
static int follow_link(struct walk *walk, int link_fd)
{
    char target[SYSFS_PATH_BYTES];
    if (++walk->links > SYSFS_MAXIMUM_LINKS) {
        errno = ELOOP;
        return -1;
    }
    ssize_t length = readlinkat(link_fd, "", target, sizeof(target) - 1);
    if (length < 0)
        return -1;
    target[length] = '\0';
    bool absolute = target[0] == '/';
    if (append(target, walk->pending) < 0)
        return -1;
    memcpy(walk->pending, target, strlen(target) + 1);
    return absolute ? enter_root(walk) : 0;
}

/* By the names that led here, not by "..": that could leave the root when a folder moves. */
static int go_up(struct walk *walk)
{
    char parent[SYSFS_PATH_BYTES];
    memcpy(parent, walk->resolved, strlen(walk->resolved) + 1);
    char *slash = strrchr(parent, '/');
    if (slash)
        *slash = '\0';
    else
        parent[0] = '\0';
    if (enter_root(walk) < 0)
        return -1;
    for (char *at = parent; *at;) {
        size_t length = strcspn(at, "/");
        char *next = at[length] == '/' ? at + length + 1 : at + length;
        at[length] = '\0';
        if (enter(walk, open_place(walk, at, O_DIRECTORY)) < 0 || append(walk->resolved, at) < 0)
            return -1;
        at = next;
    }
    return 0;
}

static int step(struct walk *walk, const char *component)
{
    struct stat status;
    if (++walk->components > MAXIMUM_COMPONENTS) {
        errno = ELOOP;
        return -1;
    }
    if (strcmp(component, ".") == 0)
        return 0;
    if (strcmp(component, "..") == 0)
        return go_up(walk);
    CLEANUP_FD int fd = open_place(walk, component, 0);
    if (fd < 0 || fstat(fd, &status) < 0)
        return -1;
    if (S_ISLNK(status.st_mode))
        return follow_link(walk, fd);
    if (append(walk->resolved, component) < 0)
        return -1;
    int entered = fd;
    fd = -1;
    return enter(walk, entered);
}

static int start_walk(struct walk *walk, struct sysfs_tree *tree, const char *folder,
                      const char *name)
{
    *walk = (struct walk){.tree = tree, .fd = -1};
    if (spend_step(tree) < 0 || append(walk->pending, folder) < 0 ||
        append(walk->pending, name) < 0)
        return -1;
    return enter_root(walk);
}

static int resolve(struct walk *walk, struct sysfs_tree *tree, const char *folder, const char *name)
{
    char component[NAME_MAX + 1];
    if (start_walk(walk, tree, folder, name) < 0)
        return -1;
    while (take_component(walk, component))
        if (step(walk, component) < 0)
            return -1;
    return 0;
}

static int explain(const struct sysfs_tree *tree, const char *folder, const char *name,
                   const char *why, struct error_info *err)
{
    return error_set(err, "%s%s%s%s: %s", tree->root, folder, folder[0] && name[0] ? "/" : "", name,
                     why);
}

static int explain_errno(const struct sysfs_tree *tree, const char *folder, const char *name,
                         struct error_info *err)
{
    if (tree->steps >= SYSFS_MAXIMUM_STEPS)
        return error_set_system(err,
                                "%s: holds more than a real machine has; gave up after %u steps",
                                tree->root, SYSFS_MAXIMUM_STEPS);
    return explain(tree, folder, name, error_errno_text(errno), err);
}

/* --- opening ---------------------------------------------------------------------- */

/* The resolved place for reading. O_PATH descriptors cannot be reopened without /proc: it is
 * opened by its last name below its own folder. */
static int reopen(struct walk *walk, int flags)
{
    char last[NAME_MAX + 1] = ".";
    const char *slash = strrchr(walk->resolved, '/');
    const char *from = slash ? slash + 1 : walk->resolved;
    if (*from == '\0')
        return openat(walk->fd, ".", flags);
    memcpy(last, from, strlen(from) + 1);
    if (go_up(walk) < 0)
        return -1;
    return openat(walk->fd, last, flags);
}

static int open_file(struct sysfs_tree *tree, const char *folder, const char *name,
                     struct error_info *err)
{
    CLEANUP_WALK struct walk walk;
    struct stat status;
    if (resolve(&walk, tree, folder, name) < 0 || fstat(walk.fd, &status) < 0)
        return explain_errno(tree, folder, name, err);
    if (!S_ISREG(status.st_mode))
        return explain(tree, folder, name, "not a regular file", err);
    CLEANUP_FD int fd = reopen(&walk, READ_FLAGS);
    if (fd < 0 || fstat(fd, &status) < 0)
        return explain_errno(tree, folder, name, err);
    if (!S_ISREG(status.st_mode))
        return explain(tree, folder, name, "not a regular file", err);
    int opened = fd;
    fd = -1;
    return opened;
}

/* At most room bytes; -1 with errno. */
static ssize_t read_full(int fd, char *into, size_t room)
{
    size_t length = 0;
    while (length < room) {
        ssize_t got = read(fd, into + length, room - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

int sysfs_tree_read_bytes(struct sysfs_tree *tree, const char *folder, const char *name,
                          void *ret_bytes, size_t room, size_t *ret_count, struct error_info *err)
{
    CLEANUP_FD int fd = open_file(tree, folder, name, err);
    if (fd < 0)
        return -1;
    ssize_t got = read_full(fd, ret_bytes, room);
    if (got < 0)
        return explain_errno(tree, folder, name, err);
    *ret_count = (size_t)got;
    return 0;
}

static bool is_blank(char character)
{
    return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

int sysfs_tree_read(struct sysfs_tree *tree, const char *folder, const char *name, char *ret_text,
                    size_t room, struct error_info *err)
{
    size_t length = 0;
    if (sysfs_tree_read_bytes(tree, folder, name, ret_text, room, &length, err) < 0)
        return -1;
    if (length == room && ret_text[length - 1] != '\0') {
        char why[64];
        snprintf(why, sizeof(why), "larger than the %zu bytes that are read", room - 1);
        return explain(tree, folder, name, why, err);
    }
    while (length > 0 && ret_text[length - 1] == '\0')
        length--; /* tar pads files of /sys to the size that they claim */
    if (length > 0 && memchr(ret_text, '\0', length))
        return explain(tree, folder, name, "has a NUL byte; text is expected", err);
    while (length > 0 && is_blank(ret_text[length - 1]))
        length--;
    ret_text[length] = '\0';
    return 0;
}

/* --- numbers ---------------------------------------------------------------------- */

static int explain_number(const struct sysfs_tree *tree, const char *folder, const char *name,
                          const struct error_info *why, struct error_info *err)
{
    return explain(tree, folder, name, why->text, err);
}

int sysfs_tree_read_unsigned(struct sysfs_tree *tree, const char *folder, const char *name,
                             uint64_t maximum, uint64_t *ret, struct error_info *err)
{
    char text[SYSFS_VALUE_BYTES];
    struct error_info why = {.kind = ERROR_NONE};
    if (sysfs_tree_read(tree, folder, name, text, sizeof(text), err) < 0)
        return -1;
    if (parse_unsigned(text, 0, maximum, ret, &why) < 0)
        return explain_number(tree, folder, name, &why, err);
    return 0;
}

int sysfs_tree_read_signed(struct sysfs_tree *tree, const char *folder, const char *name,
                           int64_t minimum, int64_t maximum, int64_t *ret, struct error_info *err)
{
    char text[SYSFS_VALUE_BYTES];
    struct error_info why = {.kind = ERROR_NONE};
    if (sysfs_tree_read(tree, folder, name, text, sizeof(text), err) < 0)
        return -1;
    if (parse_signed(text, minimum, maximum, ret, &why) < 0)
        return explain_number(tree, folder, name, &why, err);
    return 0;
}

int sysfs_tree_read_hexadecimal(struct sysfs_tree *tree, const char *folder, const char *name,
                                uint64_t maximum, uint64_t *ret, struct error_info *err)
{
    char text[SYSFS_VALUE_BYTES];
    struct error_info why = {.kind = ERROR_NONE};
    if (sysfs_tree_read(tree, folder, name, text, sizeof(text), err) < 0)
        return -1;
    const char *digits = strncmp(text, "0x", 2) == 0 ? text + 2 : text;
    if (parse_hexadecimal(digits, maximum, ret, &why) < 0)
        return explain_number(tree, folder, name, &why, err);
    return 0;
}

/* --- folders ---------------------------------------------------------------------- */

bool sysfs_tree_has(struct sysfs_tree *tree, const char *folder, const char *name)
{
    CLEANUP_WALK struct walk walk;
    char component[NAME_MAX + 1];
    if (start_walk(&walk, tree, folder, name) < 0)
        return false;
    while (take_component(&walk, component)) {
        if (walk.pending[strspn(walk.pending, "/")] == '\0' && component[0] != '.') {
            struct stat status;
            return fstatat(walk.fd, component, &status, AT_SYMLINK_NOFOLLOW) == 0;
        }
        if (step(&walk, component) < 0)
            return false;
    }
    return true;
}

bool sysfs_tree_has_folder(struct sysfs_tree *tree, const char *folder, const char *name)
{
    CLEANUP_WALK struct walk walk;
    struct stat status;
    return resolve(&walk, tree, folder, name) == 0 && fstat(walk.fd, &status) == 0 &&
           S_ISDIR(status.st_mode);
}

struct listing {
    const char **names;
    size_t count, capacity;
    struct arena *arena;
};

static int add_name(struct listing *listing, const char *name, struct error_info *err)
{
    if (listing->count == listing->capacity) {
        size_t larger = listing->capacity ? listing->capacity * 2 : 64;
        const char **grown =
            memory_grow_array(listing->names, listing->capacity, larger, sizeof(*listing->names));
        if (!grown)
            return error_set_memory(err);
        listing->names = grown;
        listing->capacity = larger;
    }
    listing->names[listing->count] = arena_copy_text(listing->arena, name);
    return listing->names[listing->count++] ? 0 : error_set_memory(err);
}

static void cleanup_folder(DIR **folder)
{
    if (*folder)
        closedir(*folder);
}

static DIR *open_folder(struct sysfs_tree *tree, const char *folder, const char *name,
                        struct error_info *err)
{
    CLEANUP_WALK struct walk walk;
    if (resolve(&walk, tree, folder, name) < 0)
        return error_null(explain_errno(tree, folder, name, err));
    CLEANUP_FD int fd = reopen(&walk, READ_FLAGS | O_DIRECTORY);
    DIR *opened = fd >= 0 ? fdopendir(fd) : NULL;
    if (!opened)
        return error_null(explain_errno(tree, folder, name, err));
    fd = -1;
    return opened;
}

static int compare_names(const void *left, const void *right)
{
    const char *const *left_name = left;
    const char *const *right_name = right;
    int order = node_name_compare(*left_name, *right_name);
    return order ? order : strcmp(*left_name, *right_name);
}

static int read_names(struct sysfs_tree *tree, DIR *opened, const char *prefix,
                      struct listing *listing, struct error_info *err)
{
    const struct dirent *entry;
    unsigned seen = 0;
    while ((entry = readdir(opened))) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (spend_step(tree) < 0)
            return explain_errno(tree, "", "", err);
        if (++seen > SYSFS_MAXIMUM_ENTRIES)
            return error_set(err, "more than %u entries in one folder", SYSFS_MAXIMUM_ENTRIES);
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0 &&
            add_name(listing, entry->d_name, err) < 0)
            return -1;
    }
    return 0;
}

static int keep_names(const struct listing *listing, struct sysfs_entries *ret,
                      struct error_info *err)
{
    const char **names = arena_allocate_array(listing->arena, listing->count, sizeof(*names));
    if (!names)
        return error_set_memory(err);
    if (listing->count > 0) {
        memcpy(names, listing->names, listing->count * sizeof(*names));
        qsort(names, listing->count, sizeof(*names), compare_names);
    }
    *ret = (struct sysfs_entries){.names = names, .count = listing->count};
    return 0;
}

int sysfs_tree_list(struct sysfs_tree *tree, const char *folder, const char *name,
                    const char *prefix, struct arena *arena, struct sysfs_entries *ret,
                    struct error_info *err)
{
    __attribute__((cleanup(cleanup_folder))) DIR *opened = open_folder(tree, folder, name, err);
    struct listing listing = {.arena = arena};
    if (!opened)
        return -1;
    int result = read_names(tree, opened, prefix, &listing, err);
    if (result == 0)
        result = keep_names(&listing, ret, err);
    else if (err && err->kind == ERROR_INPUT)
        error_prefix(err, "%s%s/%s", tree->root, folder, name);
    memory_free(listing.names);
    return result;
}

int sysfs_tree_real_path(struct sysfs_tree *tree, const char *folder, const char *name,
                         char ret_path[SYSFS_PATH_BYTES], struct error_info *err)
{
    CLEANUP_WALK struct walk walk;
    if (resolve(&walk, tree, folder, name) < 0)
        return explain_errno(tree, folder, name, err);
    memcpy(ret_path, walk.resolved, strlen(walk.resolved) + 1);
    return 0;
}
