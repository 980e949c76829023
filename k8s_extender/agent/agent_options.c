/* SPDX-License-Identifier: MIT */
#include "k8s_extender/agent/agent_options.h"
#include "base/parse_number.h"
#include <argp.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define KEY_BASE 256 /* above every character: these options have no short form */
#define NODE_NAME_MAXIMUM 253u
#define INTERVAL_DEFAULT_SECONDS 300u
#define INTERVAL_MAXIMUM_SECONDS 86400u

enum option_kind { OPTION_TEXT, OPTION_FLAG, OPTION_SECONDS };

struct option_rule {
    const char *name, *argument, *help;
    enum option_kind kind;
    size_t offset;
};

#define AT(field) offsetof(struct agent_options, field)

static const struct option_rule rules[] = {
    {"node", "NAME", "this machine's node; default: NODE_NAME of the environment", OPTION_TEXT,
     AT(node)},
    {"kubeconfig", "FILE", "how to reach the API server; default: the pod's own service account",
     OPTION_TEXT, AT(kubeconfig)},
    {"interval", "SECONDS", "how often the machine is looked at; default 300", OPTION_SECONDS,
     AT(interval_seconds)},
    {"once", NULL, "look and write once, then end", OPTION_FLAG, AT(once)},
    {"print", NULL, "print the annotation and end; no API server is asked", OPTION_FLAG, AT(print)},
    {"data", "DIRECTORY", "take gpus.yaml from there", OPTION_TEXT, AT(data)},
    {"nvml", "FILE", "NVIDIA's management library; default libnvidia-ml.so.1", OPTION_TEXT,
     AT(nvml)},
    {"sysfs", "DIRECTORY", "the folder that has this machine's sys/; default /", OPTION_TEXT,
     AT(sysfs)},
};

#define RULE_COUNT (sizeof(rules) / sizeof(rules[0]))

struct parse_state {
    struct agent_options *options;
    struct error_info *err;
    bool done;
};

static int set_option(const struct option_rule *rule, const char *value, struct parse_state *state)
{
    char *field = (char *)state->options + rule->offset;
    uint64_t number;
    switch (rule->kind) {
    case OPTION_TEXT:
        if (!*value)
            return error_set(state->err, "--%s: a value is missing", rule->name);
        *(const char **)(void *)field = value;
        return 0;
    case OPTION_FLAG:
        *(bool *)(void *)field = true;
        return 0;
    case OPTION_SECONDS:
        if (parse_unsigned(value, 1, INTERVAL_MAXIMUM_SECONDS, &number, state->err) < 0)
            return error_prefix(state->err, "--%s", rule->name);
        *(unsigned *)(void *)field = (unsigned)number;
        return 0;
    }
    return 0;
}

static error_t on_option(int key, char *argument, struct argp_state *argp)
{
    struct parse_state *state = argp->input;
    if (key >= KEY_BASE && (size_t)(key - KEY_BASE) < RULE_COUNT)
        return set_option(&rules[key - KEY_BASE], argument, state) < 0 ? EINVAL : 0;
    switch (key) {
    case 'h':
        argp_state_help(argp, stdout, ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK);
        state->done = true;
        return ECANCELED;
    case 'V':
        puts("parplan-node-agent " PARPLAN_VERSION);
        state->done = true;
        return ECANCELED;
    case ARGP_KEY_ARG:
        error_set(state->err, "%.100s: parplan-node-agent takes options only; see --help",
                  argument);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* RFC 1123 subdomains are what the API server takes as names of nodes: nothing else gets near a
 * path. */
static int check(const struct agent_options *options, struct error_info *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
    if (options->print)
        return 0;
    if (!options->node)
        return error_set(err, "which node is this? Set " AGENT_NODE_VARIABLE
                              " from spec.nodeName (downward API), or give --node");
    size_t length = strlen(options->node);
    if (length > NODE_NAME_MAXIMUM || strspn(options->node, letters) != length)
        return error_set(err,
                         "--node: '%.100s' is no name of a node: small letters, digits, '-' "
                         "and '.', at most %u",
                         options->node, NODE_NAME_MAXIMUM);
    return 0;
}

int agent_options_parse(int argc, char **argv, const char *node_variable, struct agent_options *ret,
                        bool *ret_done, struct error_info *err)
{
    struct argp_option table[RULE_COUNT + 3] = {{NULL, 0, NULL, 0, NULL, 0}};
    for (size_t i = 0; i < RULE_COUNT; i++)
        table[i] = (struct argp_option){.name = rules[i].name,
                                        .key = KEY_BASE + (int)i,
                                        .arg = rules[i].argument,
                                        .doc = rules[i].help};
    table[RULE_COUNT] = (struct argp_option){.name = "help", .key = 'h', .doc = "this list"};
    table[RULE_COUNT + 1] = (struct argp_option){.name = "version", .key = 'V', .doc = "print it"};
    const struct argp argp = {
        .options = table,
        .parser = on_option,
        .doc = "Writes this machine's GPUs, NVLink and NICs to annotation parplan.io/topology of "
               "its node, when they change.",
    };
    *ret = (struct agent_options){.interval_seconds = INTERVAL_DEFAULT_SECONDS};
    if (node_variable && *node_variable)
        ret->node = node_variable;
    struct parse_state state = {.options = ret, .err = err};
    err->text[0] = '\0';
    error_t status = argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &state);
    *ret_done = state.done;
    if (state.done)
        return 0;
    return status != 0 ? -1 : check(ret, err);
}
