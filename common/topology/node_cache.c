/* SPDX-License-Identifier: MIT */
#include "topology/node_cache.h"
#include "base/text_file.h"
#include "topology/node_evidence.h"
#include "topology/node_readers/evidence_text.h"
#include "topology/node_readers/node_restate.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define FIRST_LINE "parplan.node-cache/1\n"
#define BOOT_FILE "/proc/sys/kernel/random/boot_id"

/* NVIDIA's kernel module, else AMD's; each says its version. */
static const char *const driver_files[] = {"/sys/module/nvidia/version",
                                           "/sys/module/amdgpu/version"};

/* The file's first word; empty when there is none. */
static void read_word(const char *path, char ret[NODE_CACHE_KEY_BYTES])
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file < 0 ? -1 : read(file, ret, NODE_CACHE_KEY_BYTES - 1);
    if (file >= 0)
        close(file);
    size_t length = 0;
    while (bytes > 0 && length < (size_t)bytes && ret[length] > ' ' && ret[length] < 0x7f)
        length++;
    ret[length] = '\0';
}

void node_cache_key_read(struct node_cache_key *ret)
{
    read_word(BOOT_FILE, ret->boot);
    ret->driver[0] = '\0';
    for (size_t i = 0; i < COUNT_OF(driver_files) && !ret->driver[0]; i++)
        read_word(driver_files[i], ret->driver);
}

int node_cache_encode(const struct node_topology *node, const struct node_cache_key *key,
                      struct text_buffer *out, struct error_info *err)
{
    CLEANUP(node_evidence) struct node_evidence *evidence = node_restate(node, err);
    if (!evidence)
        return -1;
    text_buffer_add(out, "%sboot %s\ndriver %s\n", FIRST_LINE, key->boot, key->driver);
    evidence_text_encode(evidence, out);
    return 0;
}

/* Takes "WORD VALUE\n" off the front; false: something else stands there. */
static bool take_line(const char **text, const char *end, const char *word,
                      char ret[NODE_CACHE_KEY_BYTES])
{
    size_t length = strlen(word);
    const char *stop = memchr(*text, '\n', (size_t)(end - *text));
    if (!stop || (size_t)(stop - *text) < length || memcmp(*text, word, length) != 0 ||
        (size_t)(stop - *text) - length >= NODE_CACHE_KEY_BYTES)
        return false;
    memcpy(ret, *text + length, (size_t)(stop - *text) - length);
    ret[(size_t)(stop - *text) - length] = '\0';
    *text = stop + 1;
    return true;
}

static enum node_cache_state merge(const char *text, size_t bytes, const char *source,
                                   struct node_topology **ret_node, struct error_info *err)
{
    CLEANUP(node_evidence)
    struct node_evidence *evidence = evidence_text_decode(text, bytes, source, err);
    if (!evidence)
        return NODE_CACHE_BAD;
    /* Models were looked up when the cache was written. */
    *ret_node = node_topology_of(evidence->source_text, evidence, NULL, err);
    return *ret_node ? NODE_CACHE_USED : NODE_CACHE_BAD;
}

static const char *remedy(void)
{
    return UNPACKED_TEXT("write it again with `parplan topology --write-cache`");
}

enum node_cache_state node_cache_decode(const char *text, size_t bytes, const char *source,
                                        const struct node_cache_key *key,
                                        struct node_topology **ret_node, struct error_info *err)
{
    struct node_cache_key was;
    const char *rest = text, *end = text + bytes;
    size_t first = strlen(FIRST_LINE);
    if (bytes < first || memcmp(text, FIRST_LINE, first) != 0) {
        error_set(err, "%s: not a node cache of this version; %s", source, remedy());
        return NODE_CACHE_BAD;
    }
    rest += first;
    if (!take_line(&rest, end, "boot ", was.boot) ||
        !take_line(&rest, end, "driver ", was.driver)) {
        error_set(err, "%s: the lines boot and driver are expected; %s", source, remedy());
        return NODE_CACHE_BAD;
    }
    if (strcmp(was.boot, key->boot) != 0 || strcmp(was.driver, key->driver) != 0) {
        error_set(err, "%s: written %s; %s", source,
                  strcmp(was.boot, key->boot) != 0 ? "in another boot"
                                                   : UNPACKED_TEXT("with another GPU driver"),
                  remedy());
        return NODE_CACHE_STALE;
    }
    return merge(rest, (size_t)(end - rest), source, ret_node, err);
}

enum node_cache_state node_cache_load(const char *path, unsigned owner_uid,
                                      const struct node_cache_key *key,
                                      struct node_topology **ret_node, struct error_info *err)
{
    char *text = NULL;
    size_t bytes = 0;
    enum text_file_trust trust =
        text_file_read_trusted(path, owner_uid, NODE_CACHE_MAXIMUM_BYTES, &text, &bytes, err);
    CLEANUP_MEMORY char *owned = text;
    if (trust != TEXT_FILE_OK)
        return trust == TEXT_FILE_MISSING ? NODE_CACHE_MISSING : NODE_CACHE_BAD;
    return node_cache_decode(owned, bytes, path, key, ret_node, err);
}
