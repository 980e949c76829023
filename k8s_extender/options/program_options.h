/* SPDX-License-Identifier: MIT */
/*
 * program_options: the command line of a program of this folder, from one table: `--name value` or
 * `--name=value`, whole names only, each once; --help and --version beside the table's own. What is
 * wrong is said in one line, with the nearest option where a name is misspelt. Pure, but that help
 * and version are printed to standard output.
 */
#ifndef K8S_EXTENDER_OPTIONS_PROGRAM_OPTIONS_H
#define K8S_EXTENDER_OPTIONS_PROGRAM_OPTIONS_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

#define PROGRAM_OPTIONS_MAXIMUM 32u

enum program_option_kind {
    OPTION_TEXT,      /* const char *, not empty */
    OPTION_FLAG,      /* bool; no value */
    OPTION_NUMBER,    /* unsigned, from minimum to maximum */
    OPTION_SUBDOMAIN, /* const char *: the name of an object of Kubernetes (object_name.h) … */
    OPTION_LABEL,     /* … or of a namespace */
    OPTION_OTHER      /* set() knows */
};

struct program_option {
    const char *name;     /* "stale-seconds" */
    const char *argument; /* "N", as help and messages write the value; NULL: a flag */
    const char *help;
    enum program_option_kind kind;
    size_t offset; /* of the field in the caller's struct */
    unsigned minimum, maximum;
    /* OPTION_OTHER: an error gets the option's name as its prefix */
    int (*set)(void *fields, const char *value, struct error_info *err);
};

struct program_usage {
    const char *program; /* "parplan-extender" */
    const char *purpose; /* what it does, for --help */
    const struct program_option *options;
    size_t count; /* PROGRAM_OPTIONS_MAXIMUM at most */
};

/* Fields hold their defaults before; texts stay argv's. *ret_done: --help or --version was all that
 * there is to do (-1: it could not be printed). Errors of the command line are ERROR_INPUT: exit
 * status 2. */
int program_options_parse(const struct program_usage *usage, int argc, char **argv, void *fields,
                          bool *ret_done, struct error_info *err);

#endif
