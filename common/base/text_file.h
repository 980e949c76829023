/* SPDX-License-Identifier: MIT */
/*
 * text_file: whole files in, with limits and without surprises: regular files only (no
 * FIFO can block us, no device is read), O_CLOEXEC, a maximum size.
 */
#ifndef BASE_TEXT_FILE_H
#define BASE_TEXT_FILE_H

#include "base/error.h"
#include <stddef.h>

/* Text with a final NUL (memory_free), without UTF-8's byte order mark. Errors name the path and
 * the reason. */
char *text_file_read(const char *path, size_t maximum_bytes, size_t *ret_bytes,
                     struct error_info *err);

/* For a name that turned out to be nothing known: where it is a path after all, err becomes
 * "X is a file here; give ./X". Errors other than ERROR_INPUT stay. Always returns -1. */
int text_file_explain_name(const char *name, struct error_info *err);

enum text_file_trust {
    TEXT_FILE_OK,      /* *ret_text is set */
    TEXT_FILE_MISSING, /* nothing there */
    TEXT_FILE_UNSAFE,  /* not owned by root, writable by others, a link, not a regular file */
    TEXT_FILE_FAILED   /* unreadable, too large, I/O, memory */
};

/* For admins' files: the file and its folder are owned by root (or by owner_uid, for
 * tests and for clusters run by another user) and not writable by group or others; the
 * last path component is no symbolic link. err says which rule failed and the remedy,
 * also for TEXT_FILE_MISSING. */
enum text_file_trust text_file_read_trusted(const char *path, unsigned owner_uid,
                                            size_t maximum_bytes, char **ret_text,
                                            size_t *ret_bytes, struct error_info *err);

/* Writes the file whole or not at all: a new file beside it, then renamed over it, through links
 * and with the old one's mode and owner. mode: of a file that is new, as 0644, less the umask. An
 * old file stays when something fails. What is no regular file (/dev/null) is written to. */
int text_file_write(const char *path, const char *text, size_t bytes, unsigned mode,
                    struct error_info *err);

/* The same for a name that is to be free: a file that is there by then stays, and the call fails.
 * The name appears by link(2), or where the file system has no links by renameat2(2): of several
 * callers at once one succeeds. */
int text_file_create(const char *path, const char *text, size_t bytes, unsigned mode,
                     struct error_info *err);

#endif
