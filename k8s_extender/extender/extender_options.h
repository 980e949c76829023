/* SPDX-License-Identifier: MIT */
/*
 * extender_options: the command line of parplan-extender (docs/man/parplan-extender.8).
 */
#ifndef K8S_EXTENDER_EXTENDER_EXTENDER_OPTIONS_H
#define K8S_EXTENDER_EXTENDER_EXTENDER_OPTIONS_H

#include "base/error.h"
#include <stdbool.h>
#include <stdint.h>

#define LISTEN_ADDRESS_BYTES 64u

struct extender_options {
    const char *kubeconfig; /* NULL: the pod's own mounts */
    const char *config;     /* parplan.yaml; NULL: the default path, which may be missing */
    const char *label_keys; /* which labels of nodes count (parplan.labels/1); NULL: the default */
    char address[LISTEN_ADDRESS_BYTES];
    uint16_t port;
    const char *certificate, *key, *client_ca; /* all or none */
    const char *lease_namespace;               /* NULL: the pod's own */
    const char *lease_name;
    const char *identity;   /* NULL: host name and process */
    unsigned stale_seconds; /* how old what was last heard may be while the API server is away */
    unsigned workers;       /* requests that are under way at once */
    bool bind;              /* answer bind, and write the bindings */
    const char *probe;      /* ask that URL and end; NULL: serve */
};

/* *ret_done: --help or --version was all. Errors are bad usage: exit status 2. */
int extender_options_parse(int argc, char **argv, struct extender_options *ret, bool *ret_done,
                           struct error_info *err);

#endif
