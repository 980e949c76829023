/* SPDX-License-Identifier: MIT */
/*
 * sysfs_tree: small files below one root directory: the live machine ("" or "/") or a copy of
 * another machine's sysfs ("node17/"), which may be hostile.
 *
 * The root is opened once. Paths are resolved here, component by component: links, also
 * absolute ones and "..", stay inside the root; at most SYSFS_MAXIMUM_LINKS of them, so a loop
 * ends. Only regular files are opened for reading, so no FIFO and no device can hang us. Sizes
 * and the entries of a folder are limited, and so is all the work on one tree together:
 * SYSFS_MAXIMUM_STEPS components and entries, some seconds whatever the tree holds. Real nodes
 * need 10,000 to 200,000.
 *
 * Every function takes a folder and a name below it, both relative to the root and both with any
 * number of components ("sys/class/infiniband/mlx5_0", "device/numa_node"). Errors name the path
 * as people would: "node17/sys/…/rate: No such file or directory". A file that is missing, not
 * ours to read or not what it should be is ERROR_INPUT, which a reader may note and pass over;
 * ERROR_SYSTEM (the steps are used up) and ERROR_MEMORY are final. Not thread safe.
 */
#ifndef TOPOLOGY_SYSFS_TREE_H
#define TOPOLOGY_SYSFS_TREE_H

#include "base/arena.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYSFS_PATH_BYTES 2048u
#define SYSFS_VALUE_BYTES 256u /* room for a one-line attribute */
#define SYSFS_MAXIMUM_LINKS 40u
#define SYSFS_MAXIMUM_ENTRIES 65536u
#define SYSFS_MAXIMUM_STEPS 1000000u

struct sysfs_tree;

/* Names of a folder; owned by the arena that the caller gave. */
struct sysfs_entries {
    const char *const *names;
    size_t count;
};

struct sysfs_tree *sysfs_tree_open(const char *root, struct error_info *err);
void sysfs_tree_free(struct sysfs_tree *tree);
bool sysfs_tree_is_live(const struct sysfs_tree *tree);

/* A name is there, whatever it is; also a link that leads nowhere. */
bool sysfs_tree_has(struct sysfs_tree *tree, const char *folder, const char *name);
/* The name is, or leads to, a folder. */
bool sysfs_tree_has_folder(struct sysfs_tree *tree, const char *folder, const char *name);

/* The whole file as text, final blanks cut; refused when it does not fit into ret_text or has a
 * NUL byte. */
int sysfs_tree_read(struct sysfs_tree *tree, const char *folder, const char *name, char *ret_text,
                    size_t room, struct error_info *err);
/* The first bytes of a binary file, room of them at most. */
int sysfs_tree_read_bytes(struct sysfs_tree *tree, const char *folder, const char *name,
                          void *ret_bytes, size_t room, size_t *ret_count, struct error_info *err);
int sysfs_tree_read_unsigned(struct sysfs_tree *tree, const char *folder, const char *name,
                             uint64_t maximum, uint64_t *ret, struct error_info *err);
int sysfs_tree_read_signed(struct sysfs_tree *tree, const char *folder, const char *name,
                           int64_t minimum, int64_t maximum, int64_t *ret, struct error_info *err);
/* "0x15b3" */
int sysfs_tree_read_hexadecimal(struct sysfs_tree *tree, const char *folder, const char *name,
                                uint64_t maximum, uint64_t *ret, struct error_info *err);

/* Names that begin with prefix ("": all), in natural order, without "." and "..". */
int sysfs_tree_list(struct sysfs_tree *tree, const char *folder, const char *name,
                    const char *prefix, struct arena *arena, struct sysfs_entries *ret,
                    struct error_info *err);

/* Where folder/name ends after all links, relative to the root:
 * "sys/devices/pci0000:15/0000:15:01.0/0000:18:00.0". */
int sysfs_tree_real_path(struct sysfs_tree *tree, const char *folder, const char *name,
                         char ret_path[SYSFS_PATH_BYTES], struct error_info *err);

DEFINE_CLEANUP(sysfs_tree);

#endif
