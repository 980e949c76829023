/* SPDX-License-Identifier: MIT */
#include "base/data_file.h"
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

#define GZIP_WINDOW (16 + MAX_WBITS) /* zlib's sign for gzip's header */

struct data_file {
    const char *name;      /* "gpus.yaml" */
    uint32_t start, bytes; /* in data_file_room; a NUL follows */
};

/* Made by embed_data.sh. */
extern const struct data_file data_file_table[];
extern const size_t data_file_table_count;
extern const unsigned char data_file_texts[] __attribute__((visibility("hidden")));
extern const size_t data_file_texts_bytes __attribute__((visibility("hidden")));
/* As large as what data_file_texts unpacks to; no page of it is in use before. */
extern char data_file_room[] __attribute__((visibility("hidden")));

static const struct data_file *find(const char *name)
{
    for (size_t i = 0; i < data_file_table_count; i++)
        if (strcmp(data_file_table[i].name, name) == 0)
            return &data_file_table[i];
    return NULL;
}

/* The last file, and its NUL, end the room. */
static size_t all_bytes(void)
{
    const struct data_file *last = &data_file_table[data_file_table_count - 1];
    return (size_t)last->start + last->bytes + 1;
}

int data_file_unpack(const unsigned char *packed, size_t packed_bytes, char *text, size_t bytes)
{
    z_stream stream = {
        .next_in = (z_const Bytef *)packed,
        .avail_in = (uInt)packed_bytes,
        .next_out = (Bytef *)text,
        .avail_out = (uInt)bytes,
    };
    if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
        return -1;
    int end = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return end == Z_STREAM_END && stream.total_out == bytes ? 0 : -1;
}

static int unpack_all(struct error_info *err)
{
    static bool unpacked;
    if (!unpacked &&
        data_file_unpack(data_file_texts, data_file_texts_bytes, data_file_room, all_bytes()) < 0)
        return error_set_memory(err);
    unpacked = true;
    return 0;
}

const char *data_file_text(const char *name, size_t *ret_bytes, struct error_info *err)
{
    const struct data_file *file = find(name);
    if (!file)
        return error_null(error_set_system(err, "%s was not compiled in", name));
    if (unpack_all(err) < 0)
        return NULL;
    *ret_bytes = file->bytes;
    return data_file_room + file->start;
}

struct yaml_document *data_file_open(const char *name, struct error_info *err)
{
    size_t bytes;
    const char *events = data_file_text(name, &bytes, err);
    return events ? yaml_document_replay(events, name, err) : NULL;
}
