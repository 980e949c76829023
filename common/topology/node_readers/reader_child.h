/* SPDX-License-Identifier: MIT */
/*
 * reader_child: a reader that runs a library on text from outside, or on devices, in a forked
 * child with limits on memory, time and core files, and nothing to print to. The child sends
 * evidence (evidence_text.h) or its error through a pipe; whatever it sends is checked. A crash,
 * a hang or too much output is an error in one line. A child that not even SIGKILL ends (it is
 * stuck in a driver) is left behind.
 * For single-threaded callers (the command line).
 */
#ifndef TOPOLOGY_READER_CHILD_H
#define TOPOLOGY_READER_CHILD_H

#include "topology/node_evidence.h"

#define READER_CHILD_SECONDS 20u
#define READER_CHILD_MEMORY_BYTES ((size_t)2 << 30)

typedef struct node_evidence *(*reader_fn)(const char *text, size_t bytes, const char *source,
                                           struct error_info *err);

struct reader_job {
    reader_fn read;
    const char *text; /* this, bytes and source are read's */
    size_t bytes;
    const char *source;
    const char *what;   /* for messages: "hwloc" */
    const char *remedy; /* what to do after a crash */
    unsigned seconds;   /* 0: READER_CHILD_SECONDS */
};

struct node_evidence *reader_child_run(const struct reader_job *job, struct error_info *err);

#endif
