/* SPDX-License-Identifier: MIT */
#include "cli/cache_file.h"
#include "base/text_file.h"
#include "topology/node_cache.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER_BYTES 4096u

/* /run is empty after a boot; no other folder is ours to make. */
static int make_folder(const char *path, struct error_info *err)
{
    if (strcmp(path, NODE_CACHE_PATH) != 0)
        return 0;
    char folder[FOLDER_BYTES];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length == 0)
        return 0;
    if (length >= sizeof(folder))
        return error_set(err, "--write-cache: the path is longer than %u bytes", FOLDER_BYTES);
    memcpy(folder, path, length);
    folder[length] = '\0';
    if (mkdir(folder, 0755) == 0 || errno == EEXIST)
        return 0;
    return error_set_system(err, "%s cannot be made: %s", folder, error_errno_text(errno));
}

int cache_file_write(const struct node_topology *node, const char *path, struct error_info *err)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    struct node_cache_key key;
    text_buffer_init(&text, NODE_CACHE_MAXIMUM_BYTES);
    node_cache_key_read(&key);
    if (make_folder(path, err) < 0 || node_cache_encode(node, &key, &text, err) < 0)
        return -1;
    const char *written = text_buffer_text(&text);
    if (text.failed)
        return error_set_memory(err);
    return text_file_write(path, written, strlen(written), 0644, err);
}
