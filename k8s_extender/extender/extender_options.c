/* SPDX-License-Identifier: MIT */
#include "k8s_extender/extender/extender_options.h"
#include "base/parse_number.h"
#include <argp.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define KEY_BASE 256 /* above every character: these options have no short form */

enum option_kind { OPTION_TEXT, OPTION_FLAG, OPTION_NUMBER, OPTION_LISTEN };

struct option_rule {
    const char *name, *argument, *help;
    enum option_kind kind;
    size_t offset;
    unsigned minimum, maximum;
};

#define AT(field) offsetof(struct extender_options, field)

static const struct option_rule rules[] = {
    {"kubeconfig", "FILE", "how to reach the API server; default: the pod's own service account",
     OPTION_TEXT, AT(kubeconfig), 0, 0},
    {"config", "FILE", "the admins' file with the policy; default /etc/parplan/parplan.yaml",
     OPTION_TEXT, AT(config), 0, 0},
    {"label-keys", "FILE", "which labels of nodes tell the fabric (parplan.labels/1)", OPTION_TEXT,
     AT(label_keys), 0, 0},
    {"listen", "ADDRESS:PORT", "where the scheduler asks; default 127.0.0.1:8888", OPTION_LISTEN, 0,
     0, 0},
    {"tls-certificate", "FILE", "serve https with this certificate; read again when it changes",
     OPTION_TEXT, AT(certificate), 0, 0},
    {"tls-key", "FILE", "the certificate's key", OPTION_TEXT, AT(key), 0, 0},
    {"client-ca", "FILE", "who signs the certificates that schedulers must show", OPTION_TEXT,
     AT(client_ca), 0, 0},
    {"lease-namespace", "NAME", "where the Lease of the leader is; default: the pod's own",
     OPTION_TEXT, AT(lease_namespace), 0, 0},
    {"lease-name", "NAME", "its name; default parplan-extender", OPTION_TEXT, AT(lease_name), 0, 0},
    {"identity", "NAME", "this process in the Lease; default: host name and process number",
     OPTION_TEXT, AT(identity), 0, 0},
    {"stale-seconds", "N",
     "how long to answer from memory while the API server is away; default 60", OPTION_NUMBER,
     AT(stale_seconds), 1, 86400},
    {"workers", "N", "requests to the API server under way at once; default 4", OPTION_NUMBER,
     AT(workers), 1, 64},
    {"bind", NULL, "write bindings too (bindVerb), as a last veto", OPTION_FLAG, AT(bind), 0, 0},
};

#define RULE_COUNT (sizeof(rules) / sizeof(rules[0]))

struct parse_state {
    struct extender_options *options;
    struct error_info *err;
    bool done;
};

static const char version_text[] = "parplan-extender " PARPLAN_VERSION;

static int set_listen(struct extender_options *options, const char *value, struct error_info *err)
{
    const char *colon = strrchr(value, ':');
    size_t length = colon ? (size_t)(colon - value) : 0;
    uint64_t port;
    struct error_info ignored;
    if (length > 2 && value[0] == '[' && colon[-1] == ']') {
        value++;
        length -= 2;
    }
    if (length == 0 || length >= sizeof(options->address) ||
        parse_unsigned(colon + 1, 0, UINT16_MAX, &port, &ignored) < 0)
        return error_set(err, "--listen: %.100s is not ADDRESS:PORT, as 127.0.0.1:8888", value);
    memcpy(options->address, value, length);
    options->address[length] = '\0';
    options->port = (uint16_t)port;
    return 0;
}

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
    case OPTION_NUMBER:
        if (parse_unsigned(value, rule->minimum, rule->maximum, &number, state->err) < 0)
            return error_prefix(state->err, "--%s", rule->name);
        *(unsigned *)(void *)field = (unsigned)number;
        return 0;
    case OPTION_LISTEN:
        return set_listen(state->options, value, state->err);
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
        puts(version_text);
        state->done = true;
        return ECANCELED;
    case ARGP_KEY_ARG:
        error_set(state->err, "%.100s: parplan-extender takes options only; see --help", argument);
        return EINVAL;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int check(const struct extender_options *options, struct error_info *err)
{
    int files = !!options->certificate + !!options->key + !!options->client_ca;
    if (files != 0 && files != 3)
        return error_set(err, "--tls-certificate, --tls-key and --client-ca belong together: "
                              "schedulers must show a certificate");
    bool loopback = strncmp(options->address, "127.", 4) == 0 ||
                    strcmp(options->address, "::1") == 0 ||
                    strcmp(options->address, "localhost") == 0;
    if (files == 0 && !loopback)
        return error_set(err,
                         "--listen: %s can be reached from elsewhere, and without certificates "
                         "everybody could decide; listen on 127.0.0.1, or give --tls-certificate, "
                         "--tls-key and --client-ca",
                         options->address);
    return 0;
}

int extender_options_parse(int argc, char **argv, struct extender_options *ret, bool *ret_done,
                           struct error_info *err)
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
        .doc = "Places whole gangs of training pods by topology, as an extender of kube-scheduler.",
    };
    *ret = (struct extender_options){.address = "127.0.0.1",
                                     .port = 8888,
                                     .lease_name = "parplan-extender",
                                     .stale_seconds = 60,
                                     .workers = 4};
    struct parse_state state = {.options = ret, .err = err};
    err->text[0] = '\0';
    error_t status = argp_parse(&argp, argc, argv, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &state);
    *ret_done = state.done;
    if (state.done)
        return 0;
    if (status != 0)
        return -1; /* argp has said what is wrong where err has no text */
    return check(ret, err);
}
