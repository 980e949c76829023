/* SPDX-License-Identifier: MIT */
#include "base/text_file.h"
#include "base/cleanup.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRESH_SUFFIX ".new.XXXXXX"

#define FIRST_READ_BYTES ((size_t)16 << 10)

/* O_NONBLOCK: opening a FIFO must not wait for its writer. */
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* At most `room` bytes of the file; -1 with errno. */
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

/* Editors on Windows write one before UTF-8; no format that we read has it. */
static size_t drop_byte_order_mark(char *text, size_t length)
{
    static const char mark[] = {'\xef', '\xbb', '\xbf'};
    if (length < sizeof(mark) || memcmp(text, mark, sizeof(mark)) != 0)
        return length;
    memmove(text, text + sizeof(mark), length - sizeof(mark));
    return length - sizeof(mark);
}

/* Reads to the end whatever fstat said: files under /proc and /sys have no true size, and a
 * file can grow. */
static char *read_all(int fd, const char *path, size_t first_bytes, size_t maximum_bytes,
                      size_t *ret_bytes, struct error_info *err)
{
    size_t capacity = first_bytes < maximum_bytes ? first_bytes : maximum_bytes;
    size_t length = 0;
    CLEANUP_MEMORY char *text = memory_allocate(capacity + 2);
    if (!text)
        return error_null(error_set_memory(err));
    for (;;) {
        /* One byte past the capacity tells "full" from "more to come". */
        ssize_t got = read_full(fd, text + length, capacity + 1 - length);
        if (got < 0)
            return error_null(error_set_system(err, "%s: %s", path, error_errno_text(errno)));
        length += (size_t)got;
        if (length <= capacity)
            break;
        if (capacity == maximum_bytes)
            return error_null(error_set(err,
                                        "%s: the file is larger than the %zu bytes that are "
                                        "read",
                                        path, maximum_bytes));
        size_t larger = capacity > maximum_bytes / 2 ? maximum_bytes : capacity * 2;
        char *grown = memory_grow_array(text, capacity + 2, larger + 2, 1);
        if (!grown)
            return error_null(error_set_memory(err));
        text = grown;
        capacity = larger;
    }
    *ret_bytes = drop_byte_order_mark(text, length);
    text[*ret_bytes] = '\0';
    return move_pointer(text);
}

static char *read_regular(int fd, const char *path, const struct stat *status, size_t maximum_bytes,
                          size_t *ret_bytes, struct error_info *err)
{
    if (maximum_bytes > SIZE_MAX - 2)
        maximum_bytes = SIZE_MAX - 2;
    size_t expected = (size_t)status->st_size;
    return read_all(fd, path, expected < FIRST_READ_BYTES ? FIRST_READ_BYTES : expected,
                    maximum_bytes, ret_bytes, err);
}

char *text_file_read(const char *path, size_t maximum_bytes, size_t *ret_bytes,
                     struct error_info *err)
{
    CLEANUP_FD int fd = open(path, OPEN_FLAGS);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0) {
        int kind = errno;
        if (kind == ENOENT || kind == ENOTDIR || kind == EACCES || kind == ELOOP)
            return error_null(error_set(err, "%s: %s", path, error_errno_text(kind)));
        return error_null(error_set_system(err, "%s: %s", path, error_errno_text(kind)));
    }
    if (!S_ISREG(status.st_mode))
        return error_null(error_set(err, "%s: not a regular file", path));
    return read_regular(fd, path, &status, maximum_bytes, ret_bytes, err);
}

/* --- admins' files ---------------------------------------------------------------- */

static enum text_file_trust unsafe(int ignored)
{
    (void)ignored;
    return TEXT_FILE_UNSAFE;
}

static enum text_file_trust check_owner_and_mode(const char *path, const struct stat *status,
                                                 unsigned owner_uid, struct error_info *err)
{
    if (status->st_uid != 0 && status->st_uid != owner_uid)
        return unsafe(error_set(err, "%s is owned by user %u; run chown %u '%s'", path,
                                (unsigned)status->st_uid, owner_uid, path));
    if (status->st_mode & (S_IWGRP | S_IWOTH))
        return unsafe(error_set(err, "%s is writable by %s (mode %04o); run chmod go-w '%s'", path,
                                status->st_mode & S_IWOTH ? "others" : "its group",
                                (unsigned)status->st_mode & 07777u, path));
    return TEXT_FILE_OK;
}

static enum text_file_trust error_open(const char *path, int errno_value, struct error_info *err)
{
    switch (errno_value) {
    case ENOENT:
        /* In parentheses, the function itself: most nodes lack a file, and would unpack all
         * messages at each step. */
        (error_set)(err, "%s does not exist", path);
        return TEXT_FILE_MISSING;
    case ELOOP:
        return unsafe(error_set(err, "%s is a symbolic link; put the file itself there", path));
    case EACCES:
        error_set_system(err, "%s: no permission to read it; parplan doctor says why", path);
        return TEXT_FILE_FAILED;
    case ENXIO: /* a socket, or a device that nobody serves */
        return unsafe(error_set(err, "%s is not a regular file", path));
    default:
        error_set_system(err, "%s: %s", path, error_errno_text(errno_value));
        return TEXT_FILE_FAILED;
    }
}

static enum text_file_trust open_folder(const char *folder, unsigned owner_uid, int *ret_fd,
                                        struct error_info *err)
{
    CLEANUP_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return error_open(folder, errno, err);
    enum text_file_trust trust = check_owner_and_mode(folder, &status, owner_uid, err);
    if (trust == TEXT_FILE_OK) {
        *ret_fd = fd;
        fd = -1;
    }
    return trust;
}

/* "/etc/parplan/parplan.yaml" -> "/etc/parplan"; "x" -> "."; "/x" -> "/". */
static int folder_of(const char *path, char folder[PATH_MAX], const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    *ret_name = slash ? slash + 1 : path;
    size_t bytes = slash ? (size_t)(slash - path) : 1;
    if (bytes == 0)
        bytes = 1; /* the root itself */
    if (bytes >= PATH_MAX || **ret_name == '\0')
        return -1;
    memcpy(folder, slash ? path : ".", bytes);
    folder[bytes] = '\0';
    return 0;
}

enum text_file_trust text_file_read_trusted(const char *path, unsigned owner_uid,
                                            size_t maximum_bytes, char **ret_text,
                                            size_t *ret_bytes, struct error_info *err)
{
    char folder[PATH_MAX];
    const char *name;
    if (folder_of(path, folder, &name) < 0) {
        error_set(err, "'%s' is not the path of a file", path);
        return TEXT_FILE_FAILED;
    }
    /* The file is opened through its folder's descriptor: nobody can swap the folder
     * between the two checks. */
    CLEANUP_FD int folder_fd = -1;
    enum text_file_trust trust = open_folder(folder, owner_uid, &folder_fd, err);
    if (trust != TEXT_FILE_OK)
        return trust;
    CLEANUP_FD int fd = openat(folder_fd, name, OPEN_FLAGS | O_NOFOLLOW);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0)
        return error_open(path, errno, err);
    if (!S_ISREG(status.st_mode))
        return unsafe(error_set(err, "%s is not a regular file", path));
    trust = check_owner_and_mode(path, &status, owner_uid, err);
    if (trust != TEXT_FILE_OK)
        return trust;
    char *text = read_regular(fd, path, &status, maximum_bytes, ret_bytes, err);
    if (!text)
        return TEXT_FILE_FAILED;
    *ret_text = text;
    return TEXT_FILE_OK;
}

int text_file_explain_name(const char *name, struct error_info *err)
{
    struct stat status;
    if (!err || err->kind != ERROR_INPUT || name[0] == '\0' || stat(name, &status) < 0)
        return -1;
    const char *start = name[0] == '/' ? "" : "./";
    if (S_ISREG(status.st_mode))
        return error_set(err, "%s is a file here; give %s%s", name, start, name);
    if (S_ISDIR(status.st_mode))
        return error_set(err, "%s is a folder here; give a file in it, as %s%s/FILE", name, start,
                         name);
    return error_set(err, "%s here is no regular file; give the path of one", name);
}

static int write_all(int file, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(file, text, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return -1;
        text += written;
        bytes -= (size_t)written;
    }
    return 0;
}

/* The new file takes the place of a regular one with its mode and, where that is allowed, its
 * owner. errno says why not. */
static int fill_file(int file, const char *text, size_t bytes, mode_t mode, const struct stat *old)
{
    if (old && fchown(file, old->st_uid, old->st_gid) < 0 && errno != EPERM)
        return -1;
    return write_all(file, text, bytes) < 0 || fchmod(file, mode) < 0 || fsync(file) < 0 ? -1 : 0;
}

static int error_write(const char *path, int why, struct error_info *err)
{
    return error_set_system(err, "%s cannot be written: %s", path, error_errno_text(why));
}

typedef int (*name_fn)(const char *fresh, const char *path);

/* link(2) fails where the name is taken, also over NFS; some file systems have no links. */
static int name_once(const char *fresh, const char *path)
{
    if (link(fresh, path) == 0)
        return unlink(fresh);
    return errno == EEXIST ? -1 : renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_NOREPLACE);
}

/* Closes the file in every case; errno says why not. */
static int finish(int file, const char *fresh, const char *path, name_fn name, int failed)
{
    int why = errno;
    if (close(file) < 0 && failed == 0) {
        failed = -1;
        why = errno;
    }
    if (failed == 0 && name(fresh, path) < 0) {
        failed = -1;
        why = errno;
    }
    if (failed < 0)
        unlink(fresh);
    errno = why;
    return failed;
}

/* Devices, FIFOs and sockets are written to: they hold nothing that could be half written. */
static int write_through(const char *path, const char *text, size_t bytes, struct error_info *err)
{
    int file = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return error_write(path, errno, err);
    int failed = write_all(file, text, bytes);
    int why = errno;
    if (close(file) < 0 && failed == 0)
        return error_write(path, errno, err);
    return failed < 0 ? error_write(path, why, err) : 0;
}

static mode_t masked(unsigned mode)
{
    mode_t mask = umask(0);
    umask(mask);
    return (mode_t)mode & ~mask;
}

/* path is no link. old: what stands there, or NULL. name: how the file gets its name. */
static int write_beside(const char *path, const char *text, size_t bytes, mode_t mode,
                        const struct stat *old, name_fn name, struct error_info *err)
{
    size_t length = strlen(path);
    CLEANUP_MEMORY char *fresh = memory_allocate(length + sizeof(FRESH_SUFFIX));
    if (!fresh)
        return error_set_memory(err);
    memcpy(fresh, path, length);
    memcpy(fresh + length, FRESH_SUFFIX, sizeof(FRESH_SUFFIX));
    int file = mkostemp(fresh, O_CLOEXEC);
    if (file < 0)
        return error_write(path, errno, err);
    if (finish(file, fresh, path, name, fill_file(file, text, bytes, mode, old)) < 0)
        return error_write(path, errno, err);
    return 0;
}

int text_file_write(const char *path, const char *text, size_t bytes, unsigned mode,
                    struct error_info *err)
{
    struct stat old;
    char resolved[PATH_MAX];
    if (stat(path, &old) < 0)
        return errno == ENOENT && lstat(path, &old) < 0
                   ? write_beside(path, text, bytes, masked(mode), NULL, rename, err)
                   : error_write(path, errno, err);
    if (S_ISDIR(old.st_mode))
        return error_write(path, EISDIR, err);
    if (!S_ISREG(old.st_mode))
        return write_through(path, text, bytes, err);
    if (!realpath(path, resolved))
        return error_write(path, errno, err);
    return write_beside(resolved, text, bytes, old.st_mode & 07777, &old, rename, err);
}

int text_file_create(const char *path, const char *text, size_t bytes, unsigned mode,
                     struct error_info *err)
{
    return write_beside(path, text, bytes, masked(mode), NULL, name_once, err);
}
