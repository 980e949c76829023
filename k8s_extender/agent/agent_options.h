/* SPDX-License-Identifier: MIT */
/*
 * agent_options: the command line of parplan-node-agent (docs/man/parplan-node-agent.8).
 */
#ifndef K8S_EXTENDER_AGENT_AGENT_OPTIONS_H
#define K8S_EXTENDER_AGENT_AGENT_OPTIONS_H

#include "base/error.h"
#include <stdbool.h>

#define AGENT_NODE_VARIABLE "NODE_NAME" /* from the downward API: spec.nodeName */

struct agent_options {
    const char *node;       /* NULL: only with --print */
    const char *kubeconfig; /* or NULL: the pod's service account */
    const char *data;       /* a folder with gpus.yaml, or NULL: compiled in */
    const char *nvml, *sysfs;
    unsigned interval_seconds;
    bool once, print;
};

/* node_variable: the value of AGENT_NODE_VARIABLE, or NULL. The texts stay argv's. *ret_done:
 * --help or --version was answered. */
int agent_options_parse(int argc, char **argv, const char *node_variable, struct agent_options *ret,
                        bool *ret_done, struct error_info *err);

#endif
