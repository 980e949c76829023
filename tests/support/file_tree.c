/* SPDX-License-Identifier: MIT */
#include "tests/support/file_tree.h"
#include "base/text_file.h"
#include "tests/support/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_BYTES 1024

static char base[64];

/* In memory where there is such a folder: thousands of small files take seconds on some disks. */
bool file_tree_begin(void)
{
    static const char *const folders[] = {"/dev/shm", "/tmp"};
    for (size_t i = 0; i < COUNT_OF(folders); i++) {
        snprintf(base, sizeof(base), "%s/parplan_tree.XXXXXX", folders[i]);
        if (mkdtemp(base))
            return true;
    }
    return false;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    return remove(path);
}

void file_tree_end(void) { nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

void file_tree_create(char ret_root[FILE_TREE_ROOT_BYTES])
{
    snprintf(ret_root, FILE_TREE_ROOT_BYTES, "%s/tree.XXXXXX", base);
    assert_non_null(mkdtemp(ret_root));
}

__attribute__((format(printf, 3, 0))) static void make_path(char path[PATH_BYTES], const char *root,
                                                            const char *format, va_list arguments)
{
    int length = snprintf(path, PATH_BYTES, "%s/", root);
    length += vsnprintf(path + length, PATH_BYTES - (size_t)length, format, arguments);
    assert_true(length < PATH_BYTES);
}

void file_tree_open(const char *root)
{
    assert_int_equal(chmod(base, 0755), 0);
    assert_int_equal(chmod(root, 0755), 0);
}

/* mkdir -p of what stands before the last '/'. */
static void make_folders(char path[PATH_BYTES])
{
    for (char *slash = strchr(path + strlen(base) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            fail_msg("%s: cannot make this folder", path);
        *slash = '/';
    }
}

static void write_whole(char path[PATH_BYTES], const void *bytes, size_t count)
{
    make_folders(path);
    unlink(path);
    CLEANUP_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, count) != (ssize_t)count)
        fail_msg("%s: cannot write this file", path);
}

void file_tree_write(const char *root, const char *text, const char *format, ...)
{
    char path[PATH_BYTES];
    va_list arguments;
    va_start(arguments, format);
    make_path(path, root, format, arguments);
    va_end(arguments);
    write_whole(path, text, strlen(text));
}

void file_tree_replace(const char *path, const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    if (text_file_write(path, text, strlen(text), 0600, &err) < 0)
        fail_msg("%s", err.text);
}

void file_tree_write_bytes(const char *root, const void *bytes, size_t count, const char *path)
{
    char full[PATH_BYTES];
    snprintf(full, sizeof(full), "%s/%s", root, path);
    write_whole(full, bytes, count);
}

void file_tree_link(const char *root, const char *target, const char *format, ...)
{
    char path[PATH_BYTES];
    va_list arguments;
    va_start(arguments, format);
    make_path(path, root, format, arguments);
    va_end(arguments);
    make_folders(path);
    unlink(path);
    if (symlink(target, path) < 0)
        fail_msg("%s: cannot make this link", path);
}

void file_tree_folder(const char *root, const char *format, ...)
{
    char path[PATH_BYTES];
    va_list arguments;
    va_start(arguments, format);
    make_path(path, root, format, arguments);
    va_end(arguments);
    make_folders(path);
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        fail_msg("%s: cannot make this folder", path);
}

void file_tree_fifo(const char *root, const char *path)
{
    char full[PATH_BYTES];
    snprintf(full, sizeof(full), "%s/%s", root, path);
    make_folders(full);
    if (mkfifo(full, 0600) < 0)
        fail_msg("%s: cannot make this FIFO", full);
}

void file_tree_remove(const char *root, const char *path)
{
    char full[PATH_BYTES];
    snprintf(full, sizeof(full), "%s/%s", root, path);
    assert_int_equal(remove(full), 0);
}
