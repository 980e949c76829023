/* SPDX-License-Identifier: MIT */
/* KFD's "key value" lines: what is read stands in the text, and is read again from itself. */
#include "base/cleanup.h"
#include "tests/fuzz/fuzz_target.h"
#include "topology/node_readers/sysfs/sysfs_text.h"

static const char *const keys[] = {"type", "node_to", "weight", "simd_count", "hive_id"};

static unsigned parse(const char *text, struct sysfs_property values[COUNT_OF(keys)],
                      struct error_info *why)
{
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        values[i] = (struct sysfs_property){.key = keys[i]};
    return sysfs_parse_properties(text, values, COUNT_OF(keys), why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info why = {.kind = ERROR_NONE};
    struct sysfs_property values[COUNT_OF(keys)], again[COUNT_OF(keys)];
    char *text = fuzz_text(data, size);
    if (parse(text, values, &why) > 0)
        fuzz_require_error(&why);
    char written[512] = "";
    size_t length = 0;
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        fuzz_require(values[i].known || values[i].value == 0, "an unknown value", keys[i]);
        fuzz_require(!values[i].known || strstr(text, keys[i]), "a key from nowhere", keys[i]);
        if (values[i].known)
            length += (size_t)snprintf(written + length, sizeof(written) - length, "%s %llu\n",
                                       keys[i], (unsigned long long)values[i].value);
    }
    fuzz_require(parse(written, again, NULL) == 0, "own lines are malformed", written);
    for (size_t i = 0; i < COUNT_OF(keys); i++)
        fuzz_require(again[i].known == values[i].known && again[i].value == values[i].value,
                     "a value changed", written);
    memory_free(text);
    return 0;
}
