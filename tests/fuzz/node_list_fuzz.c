/* SPDX-License-Identifier: MIT */
#include "base/node_list.h"
#include "tests/fuzz/fuzz_target.h"

#define ENCODED_MAXIMUM ((size_t)512 << 20) /* a million names of 255 characters */

static void require_same(const struct node_list *left, const struct node_list *right,
                         const char *text)
{
    fuzz_require(node_list_count(left) == node_list_count(right), "another count came back", text);
    for (size_t i = 0; i < node_list_count(left); i++)
        fuzz_require(strcmp(node_list_name(left, i), node_list_name(right, i)) == 0,
                     "another name came back", node_list_name(left, i));
}

static void require_order(const struct node_list *list)
{
    for (size_t i = 0; i + 1 < node_list_count(list) && i < 50; i++) {
        const char *left = node_list_name(list, i), *right = node_list_name(list, i + 1);
        int order = node_name_compare(left, right);
        int reverse = node_name_compare(right, left);
        fuzz_require((order > 0) == (reverse < 0), "the order has no direction", left);
        fuzz_require((order == 0) == (strcmp(left, right) == 0), "different names tie", left);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(node_list) struct node_list *list = node_list_decode(text, &err);
    if (!list) {
        fuzz_require_error(&err);
        return 0;
    }
    require_order(list);
    CLEANUP_DONE(text_buffer) struct text_buffer encoded;
    text_buffer_init(&encoded, ENCODED_MAXIMUM);
    node_list_encode(list, &encoded);
    fuzz_require(!text_buffer_failed(&encoded), "encoding failed", text);
    CLEANUP(node_list) struct node_list *back = node_list_decode(text_buffer_text(&encoded), &err);
    fuzz_require(back, "what we wrote is refused", err.text);
    require_same(list, back, text_buffer_text(&encoded));
    return 0;
}
