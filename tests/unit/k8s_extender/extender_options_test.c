/* SPDX-License-Identifier: MIT */
#include "k8s_extender/extender/extender_options.h"
#include "tests/support/argument_list.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <string.h>

static int parse(const char *line, struct extender_options *ret, struct error_info *err)
{
    static struct argument_list list; /* the options point into it */
    bool done;
    argument_list_init(&list, "parplan-extender", line);
    *err = (struct error_info){.kind = ERROR_NONE};
    return extender_options_parse(list.argc, list.argv, ret, &done, err);
}

static void takes_what_is_given(void **state)
{
    struct extender_options options;
    struct error_info err;
    (void)state;
    if (parse("", &options, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(options.address, "127.0.0.1");
    assert_int_equal(options.port, 8888);
    assert_int_equal(options.stale_seconds, 60);
    assert_null(options.kubeconfig);
    if (parse("--listen [::1]:0 --kubeconfig k --stale-seconds 5 --bind", &options, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(options.address, "::1");
    assert_int_equal(options.port, 0);
    assert_string_equal(options.kubeconfig, "k");
    assert_int_equal(options.stale_seconds, 5);
    assert_true(options.bind);
    if (parse("--listen [0:0:0:0:0:0:0:1]:65535 --identity me", &options, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(options.port, 65535);
    assert_string_equal(options.identity, "me");
    if (parse("--listen 0.0.0.0:8443 --tls-certificate c --tls-key k --client-ca a", &options,
              &err) < 0)
        fail_msg("%s", err.text);
}

static const struct {
    const char *line, *says;
} refused[] = {
    {"--listen 127.0.0.1", "--listen: 127.0.0.1 is not ADDRESS:PORT"},
    {"--listen [::1]", "--listen: [::1] is not ADDRESS:PORT"},
    {"--listen ::1:80", "--listen: '::1' is no IP address; as 127.0.0.1:8888, or [::1]:8888"},
    {"--listen [127.0.0.1]:80", "'127.0.0.1' is no IP address"},
    {"--listen [fe80::1%lo]:80", "is no IP address"},
    {"--listen localhost:80", "'localhost' is no IP address"},
    {"--listen 127.1:80", "'127.1' is no IP address"},
    {"--listen 127.0.0.1.evil.org:80", "is no IP address"},
    {"--listen http://127.0.0.1:80", "is no IP address"},
    {"--listen [::]:8888", "without certificates everybody could decide"},
    {"--listen 127.0.0.1:-1", "is not ADDRESS:PORT"},
    {"--listen 127.0.0.1:", "is not ADDRESS:PORT"},
    {"--listen :80", "is not ADDRESS:PORT"},
    {"--listen 127.0.0.1:65536", "is not ADDRESS:PORT"},
    {"--listen 127.0.0.1:8888x", "is not ADDRESS:PORT"},
    {"--listen 0.0.0.0:8888", "without certificates everybody could decide"},
    {"--listen 127.0.0.1:1 --tls-key k", "belong together"},
    {"--workers 0", "--workers: '0' is not"},
    {"--workers many", "--workers: 'many' is not"},
    {"--kubeconfig=", "--kubeconfig: the value is empty; give FILE"},
    {"--kubeconfg k", "unknown option --kubeconfg; did you mean --kubeconfig?"},
    {"--stale 5", "unknown option --stale; did you mean --stale-seconds?"},
    {"--stale-seconds 86401", "--stale-seconds: '86401' is not a whole number from 1 to 86400"},
    {"--lease-name Parplan", "--lease-name: 'Parplan' is no name of an object in Kubernetes"},
    {"--lease-namespace a.b", "--lease-namespace: 'a.b' is no name of a namespace"},
    {"--config a --config b", "--config is given twice; keep one"},
    {"--bind=1", "--bind takes no value"},
    {"--probe", "--probe needs a value: --probe URL"},
    {"--workers", "--workers needs a value: --workers N"},
    {"up", "unexpected word 'up': parplan-extender takes options only"},
};

static void refuses_nonsense(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct extender_options options;
        struct error_info err;
        if (parse(refused[i].line, &options, &err) == 0)
            fail_msg("%s is taken", refused[i].line);
        if (!strstr(err.text, refused[i].says))
            fail_msg("%s: %s", refused[i].line, err.text);
    }
}

static void identity_is_as_long_as_a_lease_can_tell(void **state)
{
    (void)state;
    struct extender_options options;
    struct error_info err;
    char line[300] = "--identity=";
    memset(line + strlen(line), 'i', 255);
    if (parse(line, &options, &err) < 0)
        fail_msg("%s", err.text);
    memset(line + strlen(line), 'i', 1);
    assert_int_equal(parse(line, &options, &err), -1);
    assert_string_equal(err.text,
                        "--identity: it has 256 bytes, and a Lease is read with 255 at most");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(identity_is_as_long_as_a_lease_can_tell),
    cmocka_unit_test(takes_what_is_given),
    cmocka_unit_test(refuses_nonsense),
};

int main(void) { return unit_test_main("k8s_extender/extender_options", tests, COUNT_OF(tests)); }
