/* SPDX-License-Identifier: MIT */
#include "k8s_extender/agent/agent_options.h"
#include "base/cleanup.h"
#include "k8s_extender/api/config/object_name.h"
#include "k8s_extender/options/program_options.h"
#include <stddef.h>

#define INTERVAL_DEFAULT_SECONDS 300u
#define INTERVAL_MAXIMUM_SECONDS 86400u

#define AT(field) offsetof(struct agent_options, field)

static const struct program_option rules[] = {
    {"node", "NAME", "this machine's node; default: NODE_NAME of the environment", OPTION_SUBDOMAIN,
     AT(node), 0, 0, NULL},
    {"kubeconfig", "FILE", "how to reach the API server; default: the pod's own service account",
     OPTION_TEXT, AT(kubeconfig), 0, 0, NULL},
    {"interval", "SECONDS", "how often the machine is looked at; default 300", OPTION_NUMBER,
     AT(interval_seconds), 1, INTERVAL_MAXIMUM_SECONDS, NULL},
    {"once", NULL, "look and write once, then end", OPTION_FLAG, AT(once), 0, 0, NULL},
    {"print", NULL, "print the annotation and end; no API server is asked", OPTION_FLAG, AT(print),
     0, 0, NULL},
    {"data", "DIRECTORY", "take gpus.yaml from there", OPTION_TEXT, AT(data), 0, 0, NULL},
    {"nvml", "FILE", "NVIDIA's management library; default libnvidia-ml.so.1", OPTION_TEXT,
     AT(nvml), 0, 0, NULL},
    {"sysfs", "DIRECTORY", "the folder that has this machine's sys/; default /", OPTION_TEXT,
     AT(sysfs), 0, 0, NULL},
};

static const struct program_usage usage = {
    .program = "parplan-node-agent",
    .purpose = "Writes this machine's GPUs, NVLink and NICs to annotation parplan.io/topology of "
               "its node,\nwhen they change.",
    .options = rules,
    .count = COUNT_OF(rules),
};

int agent_options_parse(int argc, char **argv, const char *node_variable, struct agent_options *ret,
                        bool *ret_done, struct error_info *err)
{
    *ret = (struct agent_options){.interval_seconds = INTERVAL_DEFAULT_SECONDS};
    if (program_options_parse(&usage, argc, argv, ret, ret_done, err) < 0)
        return -1;
    if (*ret_done || ret->print || ret->node)
        return 0;
    if (!node_variable || !*node_variable)
        return error_set(err, "which node is this? Set " AGENT_NODE_VARIABLE
                              " from spec.nodeName (downward API), or give --node");
    ret->node = node_variable;
    return object_name_check(ret->node, err) < 0 ? error_prefix(err, AGENT_NODE_VARIABLE) : 0;
}
