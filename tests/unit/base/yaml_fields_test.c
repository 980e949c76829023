/* SPDX-License-Identifier: MIT */
#include "base/yaml_fields.h"
#include "tests/support/unit_test.h"

#include <string.h>

struct settings {
    const char *name;
    uint64_t tp;
    uint64_t seed;
    double share;
    double bias;
    uint64_t memory;
    bool enabled;
    unsigned sharding;
    const struct yaml_node *switches;
};

static const char *const shardings[] = {"none", "zero1", "zero3", NULL};

static const struct yaml_field fields[] = {
    {.key = "name", .type = YAML_TEXT, .offset = offsetof(struct settings, name), .required = true},
    {.key = "tp",
     .type = YAML_UNSIGNED,
     .offset = offsetof(struct settings, tp),
     .minimum = 1,
     .maximum = 1024},
    {.key = "seed", .type = YAML_UNSIGNED, .offset = offsetof(struct settings, seed)},
    {.key = "share", .type = YAML_REAL, .offset = offsetof(struct settings, share), .maximum = 1},
    {.key = "bias", .type = YAML_REAL, .offset = offsetof(struct settings, bias), .minimum = -1e9f},
    {.key = "memory",
     .type = YAML_BYTES,
     .offset = offsetof(struct settings, memory),
     .minimum = 1024,
     .maximum = 1e12},
    {.key = "enabled", .type = YAML_BOOLEAN, .offset = offsetof(struct settings, enabled)},
    {.key = "sharding",
     .type = YAML_CHOICE,
     .offset = offsetof(struct settings, sharding),
     .choices = shardings},
    {.key = "switches", .type = YAML_NODE, .offset = offsetof(struct settings, switches)},
};

static int load(const char *text, struct settings *settings, struct yaml_document **ret_document,
                struct error_info *err)
{
    *ret_document = yaml_document_parse(text, strlen(text), "a.yaml", err);
    if (!*ret_document)
        return -1;
    return yaml_fields_load(yaml_document_root(*ret_document), fields, COUNT_OF(fields), settings,
                            err);
}

static void loads_every_type(void **state)
{
    (void)state;
    CLEANUP(yaml_document) struct yaml_document *document = NULL;
    struct settings settings = {0};
    struct error_info err = {0};
    if (load("schema: x/1\nname: 'a b'\ntp: 8\nseed: 18446744073709551615\nshare: 0.25\n"
             "bias: -1.5\nmemory: 80GiB\nenabled: yes\nsharding: zero3\nswitches: [1, 2]\n",
             &settings, &document, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(settings.name, "a b");
    assert_int_equal(settings.tp, 8);
    assert_true(settings.seed == UINT64_MAX);
    assert_true(settings.share == 0.25);
    assert_true(settings.bias == -1.5);
    assert_true(settings.memory == UINT64_C(80) << 30);
    assert_true(settings.enabled);
    assert_int_equal(settings.sharding, 2);
    assert_true(settings.switches && settings.switches->child_count == 2);
}

static void absent_keys_keep_defaults(void **state)
{
    (void)state;
    CLEANUP(yaml_document) struct yaml_document *document = NULL;
    struct settings settings = {.tp = 4, .share = 0.5, .enabled = true, .sharding = 1};
    struct error_info err = {0};
    assert_int_equal(load("name: x\n", &settings, &document, &err), 0);
    assert_int_equal(settings.tp, 4);
    assert_true(settings.share == 0.5);
    assert_true(settings.enabled);
    assert_int_equal(settings.sharding, 1);
    assert_null(settings.switches);
}

static void refuses_with_the_place_and_the_remedy(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"tp: 8\n", "a.yaml:1: the key name is missing"},
        {"[1]\n", "a.yaml:1: a mapping (key: value) is expected, not a list"},
        {"x\n", "a.yaml:1: a mapping (key: value) is expected, not a single value"},
        {"name: x\nnam: y\n", "a.yaml:2: nam: unknown key; did you mean name?"},
        {"name: x\nshardin: y\n", "a.yaml:2: shardin: unknown key; did you mean sharding?"},
        {"name: x\nelephants: y\n",
         "a.yaml:2: elephants: unknown key; the keys here are: name, tp, seed, share, bias, "
         "memory, enabled, sharding, switches"},
        {"name: [x]\n", "a.yaml:1: name: a single value is expected, not a list"},
        {"tp: {a: 1}\n", "a.yaml:1: tp: a single value is expected, not a mapping"},
        {"tp: 12x\n", "a.yaml:1: tp: '12x' is not a whole number from 1 to 1024"},
        {"tp: 040\n",
         "a.yaml:1: tp: '040' begins with 0, which YAML can take as octal; leave the 0 out"},
        {"share: 00.5\n",
         "a.yaml:1: share: '00.5' begins with 0, which YAML can take as octal; leave the 0 out"},
        {"memory: 80\n", "a.yaml:1: memory: 80 has no unit; write 80GiB or 80GB (or B for bytes)"},
        {"tp: 0\n", "a.yaml:1: tp: '0' is not a whole number from 1 to 1024"},
        {"tp: 1025\n", "a.yaml:1: tp: '1025' is not a whole number from 1 to 1024"},
        {"tp:\n", "a.yaml:1: tp: '' is not a whole number from 1 to 1024"},
        {"tp: ~\n", "a.yaml:1: tp: '~' is not a whole number from 1 to 1024"},
        {"seed: -1\n", "a.yaml:1: seed: '-1' is not a whole number"},
        {"share: 60%\n", "a.yaml:1: share: '60%' is not a number from 0 to 1"},
        {"share: -0.5\n", "a.yaml:1: share: '-0.5' is not a number from 0 to 1"},
        {"share: .nan\n", "a.yaml:1: share: '.nan' is not a number from 0 to 1"},
        {"memory: 80x\n", "a.yaml:1: memory: '80x' is not a size in bytes; write as 80GiB or 80GB "
                          "(units B KB MB GB TB KiB MiB GiB TiB)"},
        {"memory: 1KB\n", "a.yaml:1: memory: '1KB' is less than the 1024 bytes that are possible"},
        {"memory: 2TB\n",
         "a.yaml:1: memory: '2TB' is more than the 1000000000000 bytes that are possible"},
        {"enabled: maybe\n", "a.yaml:1: enabled: 'maybe' is neither true nor false"},
        {"sharding: zero2\n", "a.yaml:1: sharding: 'zero2' is not one of: none, zero1, zero3"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        CLEANUP(yaml_document) struct yaml_document *document = NULL;
        struct settings settings = {0};
        struct error_info err = {0};
        assert_int_equal(load(rows[i].text, &settings, &document, &err), -1);
        assert_string_equal(err.text, rows[i].error);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void long_lists_of_keys_are_cut(void **state)
{
    (void)state;
    static char keys[100][32];
    struct yaml_field many[COUNT_OF(keys)] = {{0}};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        snprintf(keys[i], sizeof(keys[i]), "some_quite_long_key_%zu", i);
        many[i] = (struct yaml_field){.key = keys[i], .type = YAML_TEXT};
    }
    CLEANUP(yaml_document)
    struct yaml_document *document = yaml_document_parse("x: 1\n", 5, "a.yaml", NULL);
    assert_non_null(document);
    const char *target = NULL;
    struct error_info err = {0};
    assert_int_equal(
        yaml_fields_load(yaml_document_root(document), many, COUNT_OF(many), &target, &err), -1);
    assert_string_equal(err.text + strlen(err.text) - strlen(", …"), ", …");
    assert_in_range(strlen(err.text), 400, 600);
}

static void finds_the_nearest_name(void **state)
{
    (void)state;
    static const char *const known[] = {"tp", "pp", "micro_batch", "recompute", "tpx"};
    static const struct {
        const char *name, *want;
    } rows[] = {
        {"tp", "tp"},
        {"tpp", "tp"},
        {"micro-batch", "micro_batch"},
        {"mirco_batch", "micro_batch"},
        {"recomputation", NULL},
        {"recomputed", "recompute"},
        {"xy", NULL},
        {"", NULL},
        {"x", NULL},
        {"pq", "pp"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        const char *nearest = name_nearest(rows[i].name, known, COUNT_OF(known));
        if (rows[i].want)
            assert_string_equal(nearest, rows[i].want);
        else
            assert_null(nearest);
    }
    char long_name[1000];
    memset(long_name, 'a', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    const char *const long_known[] = {long_name};
    assert_null(name_nearest(long_name, long_known, 1));
    assert_null(name_nearest("a", long_known, 1));
    assert_null(name_nearest("tp", known, 0));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(loads_every_type),
    cmocka_unit_test(absent_keys_keep_defaults),
    cmocka_unit_test(refuses_with_the_place_and_the_remedy),
    cmocka_unit_test(long_lists_of_keys_are_cut),
    cmocka_unit_test(finds_the_nearest_name),
};

int main(void) { return unit_test_main("base/yaml_fields", tests, COUNT_OF(tests)); }
