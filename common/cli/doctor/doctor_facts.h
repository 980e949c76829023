/* SPDX-License-Identifier: MIT */
/*
 * doctor_facts: what the checks judge: Slurm's answers and files as texts, and where ours are.
 * Reading them never hangs: every program has DOCTOR_*_SECONDS, and a controller that does not
 * answer once is not asked again.
 */
#ifndef CLI_DOCTOR_DOCTOR_FACTS_H
#define CLI_DOCTOR_DOCTOR_FACTS_H

#include "cli/doctor/plugstack.h"
#include "cli/doctor/slurm_text.h"
#include <limits.h>

#define DOCTOR_LOCAL_SECONDS 2u      /* `scontrol -V` */
#define DOCTOR_CONTROLLER_SECONDS 5u /* the first question */
#define DOCTOR_ANSWER_SECONDS 10u    /* the others: lists of all nodes */
#define DOCTOR_WORD_BYTES 4096u

#define DOCTOR_PLUGIN "spank_parplan.so"
#define DOCTOR_SUBMIT_PLUGIN "job_submit_parplan.so"

struct doctor_request {
    const char *slurm_conf; /* or NULL: SLURM_CONF, else /etc/slurm/slurm.conf */
    const char *plugstack;  /* or NULL: as slurm.conf says */
    const char *config;     /* or NULL: as the plugin's line says */
};

struct doctor_facts {
    char host[256];         /* SLURMD_NODENAME, else this host's name */
    const char *slurm_conf; /* a path */
    char *client_version;   /* `scontrol -V`, NULL: client_error */
    struct error_info client_error;
    char *settings;                     /* `scontrol show config`; else slurm.conf; or NULL */
    struct error_info controller_error; /* kind ERROR_NONE: it answers */
    char *topology;                     /* `scontrol show topology`, NULL: topology_error */
    struct error_info topology_error;
    char *nodes; /* `scontrol show node --oneliner`, NULL: nodes_error */
    struct error_info nodes_error;
    char *partitions;   /* `scontrol show partition --oneliner`, or NULL */
    char *associations; /* accounts and QOS as slurmctld holds them; NULL: they are not known */
    char *environment;  /* of slurmctld where it runs here: entries with NULs between, or NULL */
    size_t environment_bytes;
    unsigned controller_pid; /* 0: it does not run here, or nobody says */

    char plugstack_path[PATH_MAX];
    struct plugstack *stack; /* NULL: stack_error */
    struct error_info stack_error;
    const struct plugstack_entry *entry; /* of our plugin; NULL: there is none */
    char config_path[PATH_MAX];          /* "": the default one, which need not exist */
    char cache_path[PATH_MAX];
    unsigned owner; /* who must own the admins' files, beside root */
};

/* Asks and reads. -1: out of memory alone; all else is in the facts. SLURM_CONF is set for the
 * programs that are run. */
int doctor_facts_read(const struct doctor_request *request, struct doctor_facts *ret,
                      struct error_info *err);
void doctor_facts_done(struct doctor_facts *facts);

/* 0: nobody says. */
uint32_t doctor_local_version(const struct doctor_facts *facts);
uint32_t doctor_controller_version(const struct doctor_facts *facts);
/* The value of slurmctld's variable, or NULL. */
const char *doctor_controller_variable(const struct doctor_facts *facts, const char *name);

/* Where Slurm would look for a plugin: a path is itself, a name is searched in PluginDir (and,
 * where nobody says what that is, in the usual folders). False: it is nowhere. */
bool doctor_find_plugin(const struct doctor_facts *facts, const char *name, char ret[PATH_MAX]);

DEFINE_CLEANUP_DONE(doctor_facts);

#endif
