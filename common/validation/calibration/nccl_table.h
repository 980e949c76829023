/* SPDX-License-Identifier: MIT */
/*
 * nccl_table: what nccl-tests (NVIDIA/nccl-tests, ROCm/rccl-tests) printed: for each size of a
 * message the time of one collective.
 *
 * A line of column names ("# size count type redop root time algbw busbw …") begins a table; a row
 * is a line that starts with a number and has as many words; of the two measurements the first
 * (out of place) counts. Lines "# Rank 0 Group 0 Pid 1 on HOST device 0 [0x07] NAME" say how many
 * ranks sit on how many nodes. The test's name stands in the output of newer releases or in the
 * command's own line ("all_reduce_perf"); else the caller gives it. Several runs may follow each
 * other in one text; all other lines are skipped, as are rows without bytes or without time.
 * Sizes are the whole tensor's, for alltoall_perf and sendrecv_perf what one rank sends
 * (nccl-tests doc/PERFORMANCE.md): communication_model.h's V. Immutable.
 */
#ifndef VALIDATION_CALIBRATION_NCCL_TABLE_H
#define VALIDATION_CALIBRATION_NCCL_TABLE_H

#include "base/arena.h"
#include "base/error.h"
#include "planner/sizes/communication_volume.h"

#define NCCL_TABLE_MAXIMUM_BYTES ((size_t)8 << 20)
#define NCCL_TABLE_MAXIMUM_ROWS 4096u
#define NCCL_TABLE_MAXIMUM_WORDS 64u /* of a line; those behind it do not count */
#define NCCL_TABLE_LINE_BYTES 1024u  /* longer lines are no rows */
#define NCCL_TABLE_MAXIMUM_RANKS 65536u

struct nccl_row {
    enum collective collective;
    const char *test;      /* "all_reduce", static */
    unsigned ranks, nodes; /* 0: the text does not say */
    double bytes, seconds; /* above 0 */
    unsigned line;
};

struct nccl_table {
    const char *source;
    const char *gpu; /* of the first rank, as its driver names it, or NULL */
    const struct nccl_row *rows;
    size_t count; /* above 0 */
    struct arena *arena;
};

/* test: "all_reduce", or NULL: the text says which. Refuses: no row, a text that says another test
 * than that, a test that is not modelled (broadcast, reduce, …), a row of another number of words
 * than the names above it, times in another unit, ranks that do not share the nodes evenly. Errors
 * name the line. */
struct nccl_table *nccl_table_parse(const char *text, size_t bytes, const char *source,
                                    const char *test, struct error_info *err);
/* name: a path, or "TEST:PATH" as "all_reduce:out.txt". */
struct nccl_table *nccl_table_load(const char *name, struct error_info *err);
void nccl_table_free(struct nccl_table *table);

DEFINE_CLEANUP(nccl_table);

#endif
