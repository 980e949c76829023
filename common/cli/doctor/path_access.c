/* SPDX-License-Identifier: MIT */
#include "cli/doctor/path_access.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The bits of others; those of the group are three to the left, the owner's six. */
#define GROUP_SHIFT 3
#define OWNER_SHIFT 6

struct walk {
    enum path_reader reader;
    unsigned owner;
    struct error_info *err;
};

static enum path_access refuse(const struct walk *walk, const char *path, const struct stat *status)
{
    unsigned mode = (unsigned)status->st_mode & 07777u;
    unsigned group = (unsigned)status->st_gid;
    const char *remedy = S_ISDIR(status->st_mode) ? "755" : "644";
    if (group != 0 && mode & (S_ISDIR(status->st_mode) ? S_IXGRP : S_IRGRP)) {
        error_set(walk->err, "%s (mode %04o) shuts out who is not in group %u; run chmod %s '%s'",
                  path, mode, group, remedy, path);
        return PATH_GROUP_ONLY;
    }
    error_set(walk->err, "%s (mode %04o) shuts out all users; run chmod %s '%s'", path, mode,
              remedy, path);
    return PATH_CLOSED;
}

/* One folder on the way, or the file at its end. */
static enum path_access judge(const struct walk *walk, const char *path, bool last_folder)
{
    struct stat status;
    if (stat(path, &status) < 0)
        return PATH_FREE;
    unsigned wanted = S_IROTH;
    if (S_ISDIR(status.st_mode))
        wanted = last_folder && walk->reader == PATH_FROM_FOLDER ? S_IROTH | S_IXOTH : S_IXOTH;
    bool own = walk->owner != 0 && status.st_uid == walk->owner;
    unsigned bits = (unsigned)status.st_mode >> (own ? OWNER_SHIFT : 0);
    return (bits & wanted) == wanted ? PATH_FREE : refuse(walk, path, &status);
}

/* All that stands on an absolute path, from the root on. */
static enum path_access walk_path(const struct walk *walk, const char *path)
{
    char part[PATH_MAX];
    const char *last = strrchr(path, '/');
    enum path_access worst = judge(walk, "/", last == path);
    for (const char *slash = path; slash && worst == PATH_FREE;) {
        slash = strchr(slash + 1, '/');
        snprintf(part, sizeof(part), "%.*s", slash ? (int)(slash - path) : PATH_MAX - 1, path);
        worst = judge(walk, part, slash && slash == last);
    }
    return worst;
}

/* Where links lead; a file that is not there is looked for in its folder. */
static bool find_real(const char *path, char ret[PATH_MAX])
{
    char folder[PATH_MAX];
    if (realpath(path, ret))
        return true;
    snprintf(folder, sizeof(folder), "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return realpath(".", ret);
    slash[slash == folder] = '\0';
    return realpath(folder, ret);
}

enum path_access path_access_find(const char *path, enum path_reader reader, unsigned owner,
                                  struct error_info *err)
{
    const struct walk walk = {.reader = reader, .owner = owner, .err = err};
    char real[PATH_MAX];
    enum path_access access = path[0] == '/' ? walk_path(&walk, path) : PATH_FREE;
    if (access != PATH_FREE || !find_real(path, real))
        return access;
    return walk_path(&walk, real);
}
