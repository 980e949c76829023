/* SPDX-License-Identifier: MIT */
/*
 * log_sink: where an adapter's messages go (stderr, Slurm's log, a test's buffer). The
 * core never logs: it returns errors and results, and the adapter writes each once.
 */
#ifndef BASE_LOG_SINK_H
#define BASE_LOG_SINK_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO, LOG_LEVEL_COUNT };

typedef void (*log_write_fn)(void *context, enum log_level level, const char *line);

struct log_sink {
    log_write_fn write; /* NULL: dropped */
    void *context;
};

void log_message(const struct log_sink *sink, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
