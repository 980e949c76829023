/* SPDX-License-Identifier: MIT */
/*
 * command: the sub-commands of `parplan`, as a table, and what each gets and gives.
 *
 * A command fills io->out and returns an exit status, or -1 with err. The text of err, if
 * any, becomes one line on stderr; whatever is in io->out is written to stdout (the usage of
 * `parplan` alone to stderr).
 */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/error.h"
#include "base/text_buffer.h"
#include "report/text_style.h"

enum exit_status {
    EXIT_DONE,    /* also "tight" */
    EXIT_FAILED,  /* I/O, a child process, memory */
    EXIT_USAGE,   /* bad usage or bad input */
    EXIT_NO_FIT,  /* nothing fits */
    EXIT_REFUSED, /* by policy, which is tested before fit */
};

struct command_io {
    struct text_buffer out;
    struct text_style style;
    bool out_is_complaint; /* goes to stderr: the usage of `parplan` alone */
};

typedef int (*command_fn)(int argc, char **argv, struct command_io *io, struct error_info *err);

struct command {
    const char *name;
    const char *summary; /* one line, for the list of commands */
    command_fn run;
};

extern const struct command commands[];
extern const size_t command_count;

int topology_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int collect_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int plan_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int check_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int map_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int policy_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int env_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int doctor_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int calibrate_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int flags_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int models_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int mfu_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int gpus_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int validate_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int roles_command(int argc, char **argv, struct command_io *io, struct error_info *err);
int sweep_command(int argc, char **argv, struct command_io *io, struct error_info *err);

/* argv[0] is the program: finds the command and runs it; without one the short usage. */
int command_run(int argc, char **argv, struct command_io *io, struct error_info *err);

/* What the process exits with, for what a command returned. */
enum exit_status command_status(int returned, const struct error_info *err);

#endif
