/* SPDX-License-Identifier: MIT */
/*
 * path_access: whether users can read a file that root looks at. Root can read everything, so the
 * modes on the whole way to it are judged: as the path is written, and as its links lead.
 */
#ifndef CLI_DOCTOR_PATH_ACCESS_H
#define CLI_DOCTOR_PATH_ACCESS_H

#include "base/error.h"
#include <stdbool.h>

enum path_reader {
    PATH_OPENED,      /* by its name: folders are passed through */
    PATH_FROM_FOLDER, /* as admins' files (text_file_read_trusted): its folder is opened too */
};

enum path_access {
    PATH_FREE,       /* for all, or there is no such file, or who asks cannot see so far */
    PATH_GROUP_ONLY, /* for a group that is not root's */
    PATH_CLOSED
};

/* owner: of clusters that one user alone runs (not 0): what he owns, he reads by his own bits.
 * Other than PATH_FREE: *err says which file or folder, its mode, and the chmod. */
enum path_access path_access_find(const char *path, enum path_reader reader, unsigned owner,
                                  struct error_info *err);

#endif
