/* SPDX-License-Identifier: MIT */
#include "base/id_set.h"
#include "tests/fuzz/fuzz_target.h"

static void require_same(const struct id_set *left, const struct id_set *right, const char *text)
{
    fuzz_require(id_set_count(left) == id_set_count(right), "another count came back", text);
    for (unsigned id = id_set_next(left, 0); id != ID_SET_END; id = id_set_next(left, id + 1))
        fuzz_require(id_set_contains(right, id), "a number is lost", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(id_set) struct id_set *set = id_set_decode(text, &err);
    if (!set) {
        fuzz_require_error(&err);
        return 0;
    }
    CLEANUP_DONE(text_buffer) struct text_buffer encoded;
    text_buffer_init(&encoded, (size_t)1 << 20);
    id_set_encode(set, &encoded);
    CLEANUP(id_set) struct id_set *back = id_set_decode(text_buffer_text(&encoded), &err);
    fuzz_require(back, "what we wrote is refused", text_buffer_text(&encoded));
    require_same(set, back, text_buffer_text(&encoded));
    return 0;
}
