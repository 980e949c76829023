/* SPDX-License-Identifier: MIT */
#include "k8s_extender/api/config/object_name.h"
#include "k8s_extender/options/program_options.h"
#include "tests/support/unit_test.h"
#include <string.h>

#define WORDS_MAXIMUM 12u

struct fields {
    const char *file, *lease, *namespace, *other;
    unsigned workers;
    bool bind;
};

static int set_other(void *fields, const char *value, struct error_info *err)
{
    if (strcmp(value, "no") == 0)
        return error_set(err, "'no' is not liked");
    ((struct fields *)fields)->other = value;
    return 0;
}

static const struct program_option table[] = {
    {"file", "FILE", "a file", OPTION_TEXT, offsetof(struct fields, file), 0, 0, NULL},
    {"lease-name", "NAME", "a Lease", OPTION_SUBDOMAIN, offsetof(struct fields, lease), 0, 0, NULL},
    {"namespace", "NAME", "a namespace", OPTION_LABEL, offsetof(struct fields, namespace), 0, 0,
     NULL},
    {"workers", "N", "how many", OPTION_NUMBER, offsetof(struct fields, workers), 1, 64, NULL},
    {"bind", NULL, "write too", OPTION_FLAG, offsetof(struct fields, bind), 0, 0, NULL},
    {"other", "WORD", "anything", OPTION_OTHER, 0, 0, 0, set_other},
};

static const struct program_usage usage = {
    .program = "a-program", .purpose = "Does it.", .options = table, .count = COUNT_OF(table)};

/* Words that end with NULL, behind the program's name. */
static int parse(const char *const words[], struct fields *ret, bool *ret_done,
                 struct error_info *err)
{
    char *argv[WORDS_MAXIMUM + 2] = {(char[]){"a-program"}};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)words[argc - 1];
    *err = (struct error_info){.kind = ERROR_NONE};
    *ret = (struct fields){.workers = 4};
    return program_options_parse(&usage, argc, argv, ret, ret_done, err);
}

static void fields_are_filled(void **state)
{
    (void)state;
    struct fields fields;
    struct error_info err;
    bool done = true;
    const char *const words[] = {
        "--file=a=b", "--lease-name", "gpu.lease-1", "--namespace=ml", "--workers",
        "64",         "--bind",       "--other",     "--file",         NULL};
    if (parse(words, &fields, &done, &err) < 0)
        fail_msg("%s", err.text);
    assert_false(done);
    assert_string_equal(fields.file, "a=b");
    assert_string_equal(fields.lease, "gpu.lease-1");
    assert_string_equal(fields.namespace, "ml");
    assert_string_equal(fields.other, "--file"); /* the word behind an option is its value */
    assert_int_equal(fields.workers, 64);
    assert_true(fields.bind);
    const char *const none[] = {NULL};
    assert_int_equal(parse(none, &fields, &done, &err), 0);
    assert_int_equal(fields.workers, 4);
    assert_null(fields.file);
    assert_false(fields.bind);
}

static const struct {
    const char *words[4];
    const char *says;
} refused[] = {
    {{"--fil", "x"}, "unknown option --fil; did you mean --file?"},
    {{"--flie=x"}, "unknown option --flie; did you mean --file?"},
    {{"--lease", "x"}, "unknown option --lease; did you mean --lease-name?"},
    {{"--hlep"}, "unknown option --hlep; did you mean --help?"},
    {{"--help=turbo"}, "--help takes no value"},
    {{"--turbo"}, "unknown option --turbo; `a-program --help` lists the options"},
    {{"--=x"}, "unknown option --; `a-program --help` lists the options"},
    {{"-f", "x"}, "unknown option -f; `a-program --help` lists the options"},
    {{"--"}, "unknown option --; `a-program --help` lists the options"},
    {{"-"}, "unexpected word '-': a-program takes options only; `a-program --help` lists them"},
    {{""}, "unexpected word '': a-program takes options only; `a-program --help` lists them"},
    {{"run"}, "unexpected word 'run': a-program takes options only; `a-program --help` lists them"},
    {{"--file"}, "--file needs a value: --file FILE"},
    {{"--file", ""}, "--file: the value is empty; give FILE"},
    {{"--workers="}, "--workers: the value is empty; give N"},
    {{"--bind=yes"}, "--bind takes no value"},
    {{"--bind", "--bind"}, "--bind is given twice; keep one"},
    {{"--file=a", "--file=a"}, "--file is given twice; keep one"},
    {{"--workers", "0"}, "--workers: '0' is not a whole number from 1 to 64"},
    {{"--workers", "65"}, "--workers: '65' is not a whole number from 1 to 64"},
    {{"--workers", "4 "}, "--workers: '4 ' is not a whole number from 1 to 64"},
    {{"--workers", "99999999999999999999"}, "is not a whole number from 1 to 64"},
    {{"--other", "no"}, "--other: 'no' is not liked"},
    {{"--lease-name", "My_Lease"},
     "--lease-name: 'My_Lease' is no name of an object in Kubernetes"},
    {{"--namespace", "a.b"}, "--namespace: 'a.b' is no name of a namespace"},
};

static void what_is_wrong_is_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct fields fields;
        struct error_info err;
        bool done;
        if (parse(refused[i].words, &fields, &done, &err) == 0)
            fail_msg("%s is taken", refused[i].words[0]);
        if (!strstr(err.text, refused[i].says) || strchr(err.text, '\n'))
            fail_msg("%s: '%s' has no '%s'", refused[i].words[0], err.text, refused[i].says);
        assert_int_equal(err.kind, ERROR_INPUT);
    }
}

static void names_are_those_of_the_api_server(void **state)
{
    (void)state;
    char of_63[64] = "", of_253[254] = "", of_254[255] = "", of_64[65] = "";
    memset(of_63, 'a', 63);
    memset(of_64, 'a', 64);
    memset(of_253, 'b', 253);
    memset(of_254, 'b', 254);
    const struct {
        const char *name;
        bool object, namespace;
    } cases[] = {
        {"a", true, true},          {"0", true, true},
        {"gpu-07", true, true},     {"gpu-07.site", true, false},
        {"a..b", false, false},     {".a", false, false},
        {"a.", false, false},       {"-a", false, false},
        {"a-", false, false},       {"a.-b", false, false},
        {"a-.b", false, false},     {"A", false, false},
        {"a_b", false, false},      {"a b", false, false},
        {"a/b", false, false},      {"a%2f", false, false},
        {"\xc3\xa4", false, false}, {"", false, false},
        {"a\n", false, false},      {of_63, true, true},
        {of_64, true, false},       {of_253, true, false},
        {of_254, false, false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        if ((object_name_check(cases[i].name, NULL) == 0) != cases[i].object)
            fail_msg("object '%s'", cases[i].name);
        if ((namespace_name_check(cases[i].name, NULL) == 0) != cases[i].namespace)
            fail_msg("namespace '%s'", cases[i].name);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fields_are_filled),
    cmocka_unit_test(what_is_wrong_is_one_line),
    cmocka_unit_test(names_are_those_of_the_api_server),
};

int main(void) { return unit_test_main("k8s_extender/program_options", tests, COUNT_OF(tests)); }
