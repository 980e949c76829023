/* SPDX-License-Identifier: MIT */
#include "k8s_extender/extender/extender_options.h"
#include "base/cleanup.h"
#include "base/parse_number.h"
#include "k8s_extender/api/lease_decision.h"
#include "k8s_extender/options/program_options.h"
#include <arpa/inet.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define AT(field) offsetof(struct extender_options, field)

static int error_listen(const char *value, struct error_info *err)
{
    return error_set(err, "%.100s is not ADDRESS:PORT, as 127.0.0.1:8888 or [::1]:8888", value);
}

/* Numbers only: a name would be looked up, and could become an address that others reach. */
static bool is_address(const char *text, bool brackets)
{
    struct in6_addr six;
    struct in_addr four;
    return brackets ? inet_pton(AF_INET6, text, &six) == 1 : inet_pton(AF_INET, text, &four) == 1;
}

static int set_listen(void *fields, const char *value, struct error_info *err)
{
    struct extender_options *options = fields;
    const char *colon = strrchr(value, ':');
    size_t length = colon ? (size_t)(colon - value) : 0;
    bool brackets = length > 2 && value[0] == '[' && colon[-1] == ']';
    uint64_t port;
    struct error_info ignored;
    char address[LISTEN_ADDRESS_BYTES];
    if (length == 0 || parse_unsigned(colon + 1, 0, UINT16_MAX, &port, &ignored) < 0)
        return error_listen(value, err);
    if (brackets) {
        value++;
        length -= 2;
    }
    snprintf(address, sizeof(address), "%.*s", (int)length, value);
    if (length >= sizeof(address) || !is_address(address, brackets))
        return error_set(err,
                         "'%.*s' is no IP address; as 127.0.0.1:8888, or [::1]:8888 with brackets "
                         "around IPv6",
                         (int)(length < 100 ? length : 100), value);
    memcpy(options->address, address, sizeof(address));
    options->port = (uint16_t)port;
    return 0;
}

/* As the Lease keeps it (lease_decision.h). */
static int set_identity(void *fields, const char *value, struct error_info *err)
{
    struct extender_options *options = fields;
    char clean[LEASE_TEXT_BYTES];
    if (strlen(value) >= LEASE_TEXT_BYTES)
        return error_set(err, "it has %zu bytes, and a Lease is read with %u at most",
                         strlen(value), LEASE_TEXT_BYTES - 1);
    snprintf(clean, sizeof(clean), "%s", value);
    error_clean_text(clean);
    if (strcmp(clean, value) != 0)
        return error_set(err, "it has bytes that are no text; give it in UTF-8");
    options->identity = value;
    return 0;
}

static const struct program_option rules[] = {
    {"kubeconfig", "FILE", "how to reach the API server; default: the pod's own service account",
     OPTION_TEXT, AT(kubeconfig), 0, 0, NULL},
    {"config", "FILE", "the admins' file with the policy; default /etc/parplan/parplan.yaml",
     OPTION_TEXT, AT(config), 0, 0, NULL},
    {"label-keys", "FILE", "which labels of nodes tell the fabric (parplan.labels/1)", OPTION_TEXT,
     AT(label_keys), 0, 0, NULL},
    {"listen", "ADDRESS:PORT", "where the scheduler asks; default 127.0.0.1:8888", OPTION_OTHER, 0,
     0, 0, set_listen},
    {"tls-certificate", "FILE", "serve https with this certificate; read again when it changes",
     OPTION_TEXT, AT(certificate), 0, 0, NULL},
    {"tls-key", "FILE", "the certificate's key", OPTION_TEXT, AT(key), 0, 0, NULL},
    {"client-ca", "FILE", "who signs the certificates that schedulers must show", OPTION_TEXT,
     AT(client_ca), 0, 0, NULL},
    {"lease-namespace", "NAME", "where the Lease of the leader is; default: the pod's own",
     OPTION_LABEL, AT(lease_namespace), 0, 0, NULL},
    {"lease-name", "NAME", "its name; default parplan-extender", OPTION_SUBDOMAIN, AT(lease_name),
     0, 0, NULL},
    {"identity", "NAME", "this process in the Lease; default: host name and process number",
     OPTION_OTHER, 0, 0, 0, set_identity},
    {"stale-seconds", "N",
     "how long to answer from memory while the API server is away; default 60", OPTION_NUMBER,
     AT(stale_seconds), 1, 86400, NULL},
    {"workers", "N", "requests to the API server under way at once; default 4", OPTION_NUMBER,
     AT(workers), 1, 64, NULL},
    {"probe", "URL", "only ask another one, as http://127.0.0.1:8888/readyz; exit status 0 or 1",
     OPTION_TEXT, AT(probe), 0, 0, NULL},
    {"bind", NULL, "write bindings too (bindVerb), as a last veto", OPTION_FLAG, AT(bind), 0, 0,
     NULL},
};

static const struct program_usage usage = {
    .program = "parplan-extender",
    .purpose = "Places whole gangs of training pods by topology, as an extender of kube-scheduler.",
    .options = rules,
    .count = COUNT_OF(rules),
};

static bool is_loopback(const char *address)
{
    struct in6_addr six;
    return strncmp(address, "127.", 4) == 0 ||
           (inet_pton(AF_INET6, address, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six));
}

static int check(const struct extender_options *options, struct error_info *err)
{
    int files = !!options->certificate + !!options->key + !!options->client_ca;
    if (files != 0 && files != 3)
        return error_set(err, "--tls-certificate, --tls-key and --client-ca belong together: "
                              "schedulers must show a certificate; give all three or none");
    if (files == 0 && !is_loopback(options->address))
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
    *ret = (struct extender_options){.address = "127.0.0.1",
                                     .port = 8888,
                                     .lease_name = "parplan-extender",
                                     .stale_seconds = 60,
                                     .workers = 4};
    if (program_options_parse(&usage, argc, argv, ret, ret_done, err) < 0)
        return -1;
    return *ret_done ? 0 : check(ret, err);
}
