/* SPDX-License-Identifier: MIT */
/*
 * sysfs_text: what stands in the small files of sysfs, without any I/O: KFD's "key value" lines,
 * port rates, vital product data, PCI ids. Pure; hostile input is refused, never misread.
 */
#ifndef TOPOLOGY_SYSFS_TEXT_H
#define TOPOLOGY_SYSFS_TEXT_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYSFS_PROPERTIES_MAXIMUM_LINES 512u
#define PCI_BUS_ID_BYTES 24u /* "00000000:ff:1f.7" and a NUL */

struct sysfs_property {
    const char *key;
    uint64_t value; /* 0 where it is not known */
    bool known;
};

/* Lines "key value", the value a decimal number. Fills those of the given keys that stand in the
 * text; other keys pass. Returns the number of malformed lines (no number, a key that stands
 * twice, lines past the maximum); the first is told in *why: "line 3: …". */
unsigned sysfs_parse_properties(const char *text, struct sysfs_property *properties, size_t count,
                                struct error_info *why);

/* "400 Gb/sec (4X NDR)" -> 50e9 bytes per second, "2.5 Gb/sec (1X SDR)" -> 0.25e9. The payload:
 * up to QDR eight of ten bits, FDR 54.5 of its 56; later generations are named by it. */
int sysfs_parse_rate(const char *text, double *ret_bytes_per_second, struct error_info *err);

/* "a088:c203:0012:3456" */
int sysfs_parse_guid(const char *text, uint64_t *ret_guid, struct error_info *err);

/* The management functions of an HGX B200's NVSwitches look like HCAs but for this word. */
bool sysfs_vpd_is_nvswitch(const void *bytes, size_t count);

/* "0000:18:00.0" of either case, domain of four to eight digits, into its normal form. */
bool sysfs_parse_bus_id(const char *text, size_t length, char ret_bus_id[PCI_BUS_ID_BYTES]);

/* The last component of a path that is a bus id. */
bool sysfs_path_bus_id(const char *path, char ret_bus_id[PCI_BUS_ID_BYTES]);

#endif
