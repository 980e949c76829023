/* SPDX-License-Identifier: MIT */
#include "base/texts/packed_text.h"

#ifdef TEXTS_PACKED
#include "base/data_file.h"
#include "base/memory.h"
#include <stdint.h>
#include <string.h>

/* The linker's: the image's first byte, and the section that pack_texts.sh fills. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const unsigned char __start_packed_texts[] __attribute__((visibility("hidden")));
extern const unsigned char __stop_packed_texts[] __attribute__((visibility("hidden")));

static char *unpack_all(size_t bytes)
{
    const unsigned char *packed = __start_packed_texts + sizeof(uint32_t);
    char *texts = memory_allocate(bytes);
    if (!texts)
        return NULL;
    if (data_file_unpack(packed, (size_t)(__stop_packed_texts - packed), texts, bytes) == 0)
        return texts;
    memory_free(texts);
    return NULL;
}

const char *packed_text(const char *text)
{
    static char *texts;
    uint32_t bytes;
    memcpy(&bytes, __start_packed_texts, sizeof(bytes));
    uintptr_t number = (uintptr_t)text - (uintptr_t)__ehdr_start;
    if (number >= bytes)
        return text;
    if (!texts)
        texts = unpack_all(bytes);
    return texts ? texts + number : "out of memory";
}
#endif
