/* SPDX-License-Identifier: MIT */
/* The one-line files of sysfs: rates, GUIDs, bus ids; and vital product data. */
#include "tests/fuzz/fuzz_target.h"
#include "topology/node_readers/sysfs/sysfs_text.h"

static void require_rate(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    double rate = -1;
    if (sysfs_parse_rate(text, &rate, &err) < 0) {
        fuzz_require_error(&err);
        fuzz_require(rate < 0, "a rate was written on failure", text);
    } else {
        fuzz_require(rate >= 0 && rate < 1e15, "a rate is out of range", text);
    }
}

static void require_guid(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    uint64_t guid = 0, again = 0;
    char written[32];
    if (sysfs_parse_guid(text, &guid, &err) < 0) {
        fuzz_require_error(&err);
        return;
    }
    snprintf(written, sizeof(written), "%016llx", (unsigned long long)guid);
    fuzz_require(sysfs_parse_guid(written, &again, NULL) == 0 && again == guid, "a GUID changed",
                 text);
}

static void require_bus_id(const char *text)
{
    char bus_id[PCI_BUS_ID_BYTES], again[PCI_BUS_ID_BYTES];
    if (!sysfs_path_bus_id(text, bus_id))
        return;
    fuzz_require(strlen(bus_id) < PCI_BUS_ID_BYTES && strlen(bus_id) >= strlen("0000:00:00.0"),
                 "a bus id of odd length", bus_id);
    fuzz_require(sysfs_parse_bus_id(bus_id, strlen(bus_id), again) && strcmp(bus_id, again) == 0,
                 "a bus id is not in its normal form", bus_id);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    require_rate(text);
    require_guid(text);
    require_bus_id(text);
    fuzz_require(!sysfs_vpd_is_nvswitch(data, size) || size >= 6, "a word from nowhere", text);
    memory_free(text);
    return 0;
}
