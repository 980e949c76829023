/* SPDX-License-Identifier: MIT */
/*
 * file_tree: small trees of files, links and folders below one temporary folder, for tests of
 * what reads sysfs. A failing call fails the test. Everything goes in file_tree_end, also what a
 * failed or tortured test left behind.
 */
#ifndef TESTS_SUPPORT_FILE_TREE_H
#define TESTS_SUPPORT_FILE_TREE_H

#include <stdbool.h>
#include <stddef.h>

#define FILE_TREE_ROOT_BYTES 128u

/* Around unit_test_main; false: no temporary folder. */
bool file_tree_begin(void);
void file_tree_end(void);

/* A new, empty tree. */
void file_tree_create(char ret_root[FILE_TREE_ROOT_BYTES]);
/* Other users may enter it. */
void file_tree_open(const char *root);
/* Folders on the way are made. The path is the format's. */
void file_tree_write(const char *root, const char *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As a kubelet does: a new file takes the place of the one that is there, if one is. */
void file_tree_replace(const char *path, const char *text);
void file_tree_write_bytes(const char *root, const void *bytes, size_t count, const char *path);
void file_tree_link(const char *root, const char *target, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void file_tree_folder(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void file_tree_fifo(const char *root, const char *path);
/* One file, link or empty folder. */
void file_tree_remove(const char *root, const char *path);

#endif
