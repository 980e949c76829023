/* SPDX-License-Identifier: MIT */
#include "k8s_extender/server/extender_wire.h"
#include "k8s_extender/server/wire_json.h"
#include "k8s_extender/server/wire_scan.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <string.h>

#define OUT_BYTES ((size_t)16 << 20)
#define POD                                                                                        \
    "{\"metadata\":{\"name\":\"p\",\"namespace\":\"d\",\"uid\":\"u\"},\"spec\":{\"containers\":[]" \
    "}}"

static struct extender_question *parse(const char *text)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct extender_question *question = extender_question_parse(text, strlen(text), &err);
    if (!question)
        fail_msg("%s: %s", text, err.text);
    return question;
}

/* --- reading ---------------------------------------------------------------------- */

static void reads_the_same_fast_and_by_tree(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *names; /* each with a blank behind it */
        bool fast;
    } cases[] = {
        {"{\"Pod\":" POD ",\"Nodes\":null,\"NodeNames\":[\"n1\",\"a.b-c\"]}", "n1 a.b-c ", true},
        {"{\"pod\":" POD ",\"nodenames\":[\"n2\"]}", "n2 ", true},
        {" { \"NODENAMES\" : [ \"n3\" , \"n4\" ] , \"nOdEs\" :\tnull\n, \"POD\" : " POD " } \r\n",
         "n3 n4 ", true},
        {"{\"Pod\":" POD ",\"Nodes\":null,\"NodeNames\":[]}", "", true},
        {"{\"Pod\":{\"metadata\":{\"name\":\"}]\\\"{\"}},\"NodeNames\":[\"n\"]}", "n ", true},
        {"{\"P\\u006fd\":" POD ",\"NodeNames\":[\"n\\u0031\"]}", "n1 ", false},
        {"{\"Pod\":" POD ",\"Later\":{\"a\":[1]},\"NodeNames\":[\"n\"]}", "n ", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char names[64] = "";
        CLEANUP(extender_question) struct extender_question *question = parse(cases[i].text);
        for (size_t k = 0; k < question->name_count; k++)
            snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
                     question->names[k]);
        assert_string_equal(names, cases[i].names);
        assert_non_null(question->pod);
        CLEANUP(extender_question)
        struct extender_question *tree =
            extender_question_parse_tree(cases[i].text, strlen(cases[i].text), NULL);
        assert_non_null(tree);
        assert_int_equal(tree->name_count, question->name_count);
        CLEANUP(arena) struct arena *arena = arena_create(OUT_BYTES);
        struct wire_scan scan;
        assert_non_null(arena);
        assert_int_equal(
            wire_scan_arguments(cases[i].text, strlen(cases[i].text), 10, arena, &scan),
            cases[i].fast ? WIRE_SCANNED : WIRE_UNUSUAL);
    }
}

static const struct {
    const char *text, *error;
} bad_questions[] = {
    {"", "ExtenderArgs: byte 0: the text ends too early"},
    {"[]", "ExtenderArgs: the body is no JSON object"},
    {"{\"Pod\":" POD "}",
     "ExtenderArgs: NodeNames is no list; set nodeCacheCapable: true for this extender"},
    {"{\"Pod\":" POD ",\"Nodes\":null,\"NodeNames\":null}",
     "ExtenderArgs: NodeNames is no list; set nodeCacheCapable: true for this extender"},
    {"{\"Pod\":" POD ",\"Nodes\":{\"items\":[]},\"NodeNames\":null}",
     "ExtenderArgs: the scheduler sent whole nodes, not their names; set nodeCacheCapable: true "
     "for "
     "this extender"},
    {"{\"Pod\":null,\"NodeNames\":[]}", "ExtenderArgs: Pod is missing, or no object"},
    {"{\"NodeNames\":[]}", "ExtenderArgs: Pod is missing, or no object"},
    {"{\"Pod\":" POD ",\"NodeNames\":[\"n1\",\"n2\",\"n1\"]}",
     "ExtenderArgs: NodeNames has 'n1' twice"},
    {"{\"Pod\":" POD ",\"NodeNames\":[\"n\\u0000\"]}",
     "ExtenderArgs: byte 99: a string holds a NUL character"},
    {"{\"Pod\":" POD ",\"NodeNames\":[\"n\\u000a\"]}",
     "ExtenderArgs: NodeNames[0]: 'n?' of 2 bytes is no name of a node: 1 to 253 of a-z, 0-9, '.' "
     "and '-'"},
    {"{\"Pod\":" POD ",\"NodeNames\":[\"\"]}",
     "ExtenderArgs: NodeNames[0]: '' of 0 bytes is no name of a node: 1 to 253 of a-z, 0-9, '.' "
     "and '-'"},
    {"{\"Pod\":" POD ",\"NodeNames\":[1]}", "ExtenderArgs: NodeNames[0] is no text"},
    {"{\"Pod\":" POD ",\"pod\":" POD ",\"NodeNames\":[]}",
     "ExtenderArgs: Pod stands twice, in different cases"},
    {"{\"Pod\":{\"metadata\":{\"name\":\"p\",}},\"NodeNames\":[]}",
     "ExtenderArgs: Pod: a pod: byte 24: unexpected character"},
    {"{\"Pod\":{},\"NodeNames\":[]} x", "ExtenderArgs: byte 26: unexpected character"},
};

static void refuses_bad_questions(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad_questions); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        const char *text = bad_questions[i].text;
        assert_null(extender_question_parse(text, strlen(text), &err));
        assert_string_equal(err.text, bad_questions[i].error);
    }
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(extender_question_parse(NULL, 0, &err));
    extender_question_free(NULL);
}

static char *make_body(const char *name_format, size_t count)
{
    CLEANUP_DONE(text_buffer) struct text_buffer body;
    text_buffer_init(&body, OUT_BYTES);
    text_buffer_add_text(&body, "{\"Pod\":" POD ",\"NodeNames\":[");
    for (size_t i = 0; i < count; i++) {
        char name[64];
        snprintf(name, sizeof(name), "%zu", i);
        text_buffer_add_text(&body, i ? ",\"" : "\"");
        text_buffer_add_text(&body, name_format);
        text_buffer_add_text(&body, name);
        text_buffer_add_text(&body, "\"");
    }
    text_buffer_add_text(&body, "]}");
    char *text = text_buffer_take(&body);
    assert_non_null(text);
    return text;
}

static void bounds_names(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *most = make_body("n", WIRE_NODES_MAXIMUM);
    CLEANUP(extender_question) struct extender_question *question = parse(most);
    assert_int_equal(question->name_count, WIRE_NODES_MAXIMUM);
    assert_string_equal(question->names[WIRE_NODES_MAXIMUM - 1], "n65535");
    CLEANUP_MEMORY char *more = make_body("n", WIRE_NODES_MAXIMUM + 1);
    assert_null(extender_question_parse(more, strlen(more), &err));
    assert_string_equal(err.text,
                        "ExtenderArgs: NodeNames has 65537 names; at most 65536 are taken");

    CLEANUP_MEMORY char *large = memory_allocate(((size_t)1 << 20) + 256);
    assert_non_null(large);
    int prefix = snprintf(large, 256, "{\"Pod\":" POD ",\"NodeNames\":[\"");
    memset(large + prefix, 'n', (size_t)1 << 20);
    memcpy(large + prefix + (1 << 20), "\"]}", 4);
    assert_null(extender_question_parse(large, strlen(large), &err));
    assert_string_equal(err.text,
                        "ExtenderArgs: NodeNames[0]: 'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn' of "
                        "1048576 bytes is no name of a node: 1 to 253 of a-z, 0-9, '.' and '-'");

    CLEANUP_MEMORY char *blanks = memory_allocate(WIRE_BODY_MAXIMUM_BYTES + 2);
    assert_non_null(blanks);
    memset(blanks, ' ', WIRE_BODY_MAXIMUM_BYTES + 1);
    assert_null(extender_question_parse(blanks, WIRE_BODY_MAXIMUM_BYTES + 1, &err));
    assert_string_equal(err.text,
                        "ExtenderArgs: 8388609 bytes are too many; at most 8388608 are taken");
    assert_null(extender_question_parse(blanks, WIRE_BODY_MAXIMUM_BYTES, &err));
    assert_string_equal(
        err.text, "ExtenderArgs: a body of 8388608 bytes is not of the form with names alone; "
                  "set nodeCacheCapable: true for this extender");
}

/* Also of names whose hashes are all alike the second one is found. */
static void finds_repeated_names(void **state)
{
    (void)state;
    const char *names[600];
    char texts[600][8];
    size_t index = 0;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(texts[i], sizeof(texts[i]), "n%zu", i);
        names[i] = texts[i];
    }
    assert_int_equal(wire_names_repeat(names, COUNT_OF(names), &index), 0);
    names[599] = "n17";
    assert_int_equal(wire_names_repeat(names, COUNT_OF(names), &index), 1);
    assert_int_equal(index, 599);
    assert_int_equal(wire_names_sorted_repeat(names, COUNT_OF(names), &index), 1);
    assert_int_equal(index, 599);
    assert_int_equal(wire_names_sorted_repeat(names, 599, &index), 0);
    assert_int_equal(wire_names_repeat(NULL, 0, &index), 0);
}

/* As people name nodes: where many fall together, the search for a name that is there twice sorts
 * them all. Of 4,096 names on 8,192 places chance leaves 3,223 places taken. */
static void spreads_usual_names(void **state)
{
    (void)state;
    enum { NAMES = 4096, BITS = 13 };
    static const struct {
        const char *before, *behind;
        int digits;
    } rows[] = {{"", "", 4},      {"gpu-", "", 4},           {"n", "", 0},
                {"node-", "", 5}, {"gpu-node-", ".rack", 0}, {"gke-train-pool-", "-xk2d", 4}};
    for (size_t row = 0; row < COUNT_OF(rows); row++) {
        bool taken[1 << BITS] = {false};
        unsigned places = 0;
        for (unsigned i = 0; i < NAMES; i++) {
            char name[64];
            snprintf(name, sizeof(name), "%s%0*u%s", rows[row].before, rows[row].digits, i,
                     rows[row].behind);
            bool *place = &taken[wire_name_hash(name) >> (64 - BITS)];
            places += !*place;
            *place = true;
        }
        if (places < NAMES * 7 / 10)
            fail_msg("%s…%s: %u places", rows[row].before, rows[row].behind, places);
    }
}

/* --- preemption and binding ------------------------------------------------------- */

static void reads_preemption(void **state)
{
    (void)state;
    static const char text[] =
        "{\"Pod\":" POD ",\"NodeNameToVictims\":null,\"NodeNameToMetaVictims\":{"
        "\"n1\":{\"Pods\":[{\"UID\":\"a\"},{\"uid\":\"b\\\"\"}],\"NumPDBViolations\":2},"
        "\"n2\":{\"Pods\":[],\"NumPDBViolations\":0},\"n3\":{\"Pods\":null},\"n4\":null}}";
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(preemption_question)
    struct preemption_question *question = preemption_question_parse(text, strlen(text), &err);
    assert_non_null(question);
    assert_int_equal(question->node_count, 4);
    assert_int_equal(question->nodes[0].uid_count, 2);
    assert_int_equal(question->nodes[0].violations, 2);
    const bool allowed[] = {true, false, true, true};
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, OUT_BYTES);
    extender_write_victims(question, allowed, &out);
    assert_string_equal(
        text_buffer_text(&out),
        "{\"NodeNameToMetaVictims\":{\"n1\":{\"Pods\":[{\"UID\":\"a\"},{\"UID\":\"b\\\"\"}],"
        "\"NumPDBViolations\":2},\"n3\":{\"Pods\":[],\"NumPDBViolations\":0},"
        "\"n4\":{\"Pods\":[],\"NumPDBViolations\":0}}}");
    preemption_question_free(NULL);
}

static void refuses_bad_preemption(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"7", "ExtenderPreemptionArgs: the body is no JSON object"},
        {"{\"Pod\":" POD ",\"NodeNameToVictims\":{\"n\":{\"Pods\":[]}}}",
         "ExtenderPreemptionArgs: the scheduler sent whole pods, not their UIDs; set "
         "nodeCacheCapable: true for this extender"},
        {"{\"Pod\":" POD ",\"NodeNameToMetaVictims\":[]}",
         "ExtenderPreemptionArgs: NodeNameToMetaVictims is no object"},
        {"{\"Pod\":" POD ",\"NodeNameToMetaVictims\":{\"N 1\":{}}}",
         "ExtenderPreemptionArgs: 'N 1' is no name of a node"},
        {"{\"Pod\":" POD ",\"NodeNameToMetaVictims\":{\"n\":{\"Pods\":[{}]}}}",
         "ExtenderPreemptionArgs: n: Pods[0] has no UID of 1 to 253 bytes"},
        {"{\"Pod\":" POD ",\"NodeNameToMetaVictims\":{\"n\":{\"Pods\":7}}}",
         "ExtenderPreemptionArgs: n: Pods is no list"},
        {"{\"Pod\":" POD ",\"NodeNameToMetaVictims\":{\"n\":{\"NumPDBViolations\":-1}}}",
         "ExtenderPreemptionArgs: n: NumPDBViolations is no whole number from 0"},
        {"{\"NodeNameToMetaVictims\":{}}", "ExtenderPreemptionArgs: Pod is missing, or no object"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        assert_null(preemption_question_parse(cases[i].text, strlen(cases[i].text), &err));
        assert_string_equal(err.text, cases[i].error);
    }
}

static void reads_bindings(void **state)
{
    (void)state;
    static const char text[] = "{\"PodName\":\"p\",\"podnamespace\":\"d\",\"PodUID\":\"u\","
                               "\"Node\":\"n1\"}";
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"{\"PodName\":\"p\",\"PodNamespace\":\"d\",\"PodUID\":\"u\"}",
         "ExtenderBindingArgs: Node has 0 bytes; 1 to 253 are possible"},
        {"{\"PodName\":7}", "ExtenderBindingArgs: PodName is no text"},
        {"{\"PodName\":\"p\"", "ExtenderBindingArgs: byte 14: the text ends too early"},
    };
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(binding_question)
    struct binding_question *question = binding_question_parse(text, strlen(text), &err);
    assert_non_null(question);
    assert_string_equal(question->pod, "p");
    assert_string_equal(question->namespace, "d");
    assert_string_equal(question->uid, "u");
    assert_string_equal(question->node, "n1");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_null(binding_question_parse(cases[i].text, strlen(cases[i].text), &err));
        assert_string_equal(err.text, cases[i].error);
    }
    binding_question_free(NULL);
}

/* --- writing ---------------------------------------------------------------------- */

#define EMPTY_MAPS "\"FailedNodes\":{},\"FailedAndUnresolvableNodes\":{}"
#define ERROR_ANSWER "{\"Nodes\":null,\"NodeNames\":[]," EMPTY_MAPS ",\"Error\":"

static char *write_filter(const struct extender_question *question,
                          const struct gang_answer *answer)
{
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, OUT_BYTES);
    extender_write_filter(question, answer, &out);
    char *text = text_buffer_take(&out);
    assert_non_null(text);
    CLEANUP(json_value) struct json_value *tree = json_value_parse(text, strlen(text), "out", NULL);
    assert_non_null(tree);
    return text;
}

static void writes_filter_results(void **state)
{
    (void)state;
    bool passes[] = {false, true, false};
    static const char both[] =
        "{\"Nodes\":null,\"NodeNames\":[\"n1\"],\"FailedNodes\":{\"n0\":\"not \\\"it\\\"\","
        "\"n2\":\"not \\\"it\\\"\"},\"FailedAndUnresolvableNodes\":{\"n0\":\"not \\\"it\\\"\","
        "\"n2\":\"not \\\"it\\\"\"},\"Error\":\"\"}";
    const struct {
        struct gang_answer answer;
        const char *text;
    } cases[] = {
        {{.kind = ANSWER_ALL},
         "{\"Nodes\":null,\"NodeNames\":[\"n0\",\"n1\",\"n2\"]," EMPTY_MAPS ",\"Error\":\"\"}"},
        {{.kind = ANSWER_ONE, .node = 1, .text = "not \"it\""}, both},
        {{.kind = ANSWER_SOME, .passes = passes, .text = "not \"it\""}, both},
        {{.kind = ANSWER_ONE, .node = ANSWER_NODE_NONE, .text = "gone"},
         "{\"Nodes\":null,\"NodeNames\":[],\"FailedNodes\":{\"n0\":\"gone\",\"n1\":\"gone\","
         "\"n2\":\"gone\"},\"FailedAndUnresolvableNodes\":{\"n0\":\"gone\",\"n1\":\"gone\","
         "\"n2\":\"gone\"},\"Error\":\"\"}"},
        {{.kind = ANSWER_REFUSED, .whole_pod = true, .text = "waits\n"},
         ERROR_ANSWER "\"waits\\u000a\"}"},
        {{.kind = ANSWER_REFUSED, .whole_pod = true},
         ERROR_ANSWER "\"parplan: refused without a reason\"}"},
    };
    CLEANUP_MEMORY char *body = make_body("n", 3);
    CLEANUP(extender_question) struct extender_question *question = parse(body);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CLEANUP_MEMORY char *text = write_filter(question, &cases[i].answer);
        assert_string_equal(text, cases[i].text);
    }
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

static void says_why_once_where_many_are_refused(void **state)
{
    (void)state;
    struct gang_answer answer = {.kind = ANSWER_REFUSED};
    memset(answer.text, 'w', 150);
    CLEANUP_MEMORY char *body = make_body("n", WIRE_SHORT_LIST + 1);
    CLEANUP(extender_question) struct extender_question *question = parse(body);
    CLEANUP_MEMORY char *error = write_filter(question, &answer);
    assert_int_equal(strncmp(error, ERROR_ANSWER "\"www", strlen(ERROR_ANSWER) + 4), 0);
    assert_int_equal(count_of(error, "w"), 150);

    answer.kind = ANSWER_ONE; /* one passes: nobody asks why 50 others do not … */
    answer.node = 7;
    CLEANUP_MEMORY char *few = write_filter(question, &answer);
    assert_int_equal(count_of(few, "w"), 150 * WIRE_SHORT_LIST * 2);
    question->native = true; /* … and a native gang never gets Error */
    answer.kind = ANSWER_REFUSED;
    answer.whole_pod = true;
    CLEANUP_MEMORY char *native = write_filter(question, &answer);
    assert_int_equal(count_of(native, "w"), (WIRE_SHORT_LIST + 1) * 2 * WIRE_SHORT_TEXT_BYTES);
    assert_non_null(strstr(native, "\"Error\":\"\""));

    CLEANUP_MEMORY char *larger = make_body("n", WIRE_SHORT_LIST + 2);
    CLEANUP(extender_question) struct extender_question *many = parse(larger);
    answer = (struct gang_answer){.kind = ANSWER_ONE, .node = 51, .text = "no"};
    CLEANUP_MEMORY char *pinned = write_filter(many, &answer);
    assert_string_equal(pinned,
                        "{\"Nodes\":null,\"NodeNames\":[\"n51\"]," EMPTY_MAPS ",\"Error\":\"\"}");
}

static void writes_scores_and_bindings(void **state)
{
    (void)state;
    static const uint8_t scores[] = {0, 10, 200};
    CLEANUP_MEMORY char *body = make_body("n", 3);
    CLEANUP(extender_question) struct extender_question *question = parse(body);
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, OUT_BYTES);
    extender_write_scores(question, scores, &out);
    extender_write_binding("", &out);
    extender_write_binding("no \x01\xff\xc3\xa4", &out);
    assert_string_equal(text_buffer_text(&out),
                        "[{\"Host\":\"n0\",\"Score\":0},{\"Host\":\"n1\",\"Score\":10},"
                        "{\"Host\":\"n2\",\"Score\":10}]{\"Error\":\"\"}"
                        "{\"Error\":\"no \\u0001\xef\xbf\xbd\xc3\xa4\"}");
}

static void cuts_between_characters(void **state)
{
    (void)state;
    CLEANUP_DONE(text_buffer) struct text_buffer out;
    text_buffer_init(&out, OUT_BYTES);
    wire_json_add_cut(&out, "a\xc3\xa4z", 2);
    wire_json_add_cut(&out, "a\xc3\xa4z", 3);
    wire_json_add_cut(&out, "a\"z", 2);
    assert_string_equal(text_buffer_text(&out), "\"a\"\"a\xc3\xa4\"\"a\\\"\"");
}

/* --- a pod that need not be read --------------------------------------------------- */

static void reads_a_pod_when_it_must(void **state)
{
    (void)state;
    static const char known[] =
        "{\"Pod\":{\"metadata\":{\"name\":\"p\",\"namespace\":\"d\",\"uid\":\"u-1\","
        "\"resourceVersion\":\"42\",\"annotations\":{\"parplan.io/tp\":\"8\"}},\"spec\":{"
        "\"schedulingGroup\":{\"podGroupName\":\"g\"},\"containers\":[{\"name\":\"c\","
        "\"resources\":{\"limits\":{\"nvidia.com/gpu\":\"8\"}}}]}},\"NodeNames\":[\"n\"]}";
    static const char nameless[] = "{\"Pod\":" POD ",\"NodeNames\":[\"n\"]}";
    static const char bad[] = "{\"Pod\":{\"metadata\":{\"uid\":\"u\",\"resourceVersion\":\"1\"}},"
                              "\"NodeNames\":[\"n\"]}";
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(extender_question)
    struct extender_question *question = extender_question_open(known, strlen(known), &err);
    assert_non_null(question);
    assert_null(question->pod);
    assert_false(question->native);
    assert_string_equal(question->identity.uid, "u-1");
    assert_string_equal(question->identity.version, "42");
    assert_int_equal(extender_question_read_pod(question, &err), 0);
    assert_string_equal(question->pod->name, "p");
    assert_true(question->native);
    CLEANUP(extender_question)
    struct extender_question *at_once = extender_question_open(nameless, strlen(nameless), &err);
    assert_non_null(at_once);
    assert_non_null(at_once->pod);
    CLEANUP(extender_question)
    struct extender_question *late = extender_question_open(bad, strlen(bad), &err);
    assert_non_null(late);
    assert_int_equal(extender_question_read_pod(late, &err), -1);
    assert_non_null(strstr(err.text, "ExtenderArgs: Pod"));
    assert_null(extender_question_parse(bad, strlen(bad), &err));
}

/* --- memory ----------------------------------------------------------------------- */

static int parse_all(void *context, struct error_info *err)
{
    static const char preemption[] = "{\"Pod\":" POD ",\"NodeNameToMetaVictims\":{\"n\":{\"Pods\":["
                                     "{\"UID\":\"a\"}]}}}";
    static const char binding[] = "{\"PodName\":\"p\",\"PodNamespace\":\"d\",\"PodUID\":\"u\","
                                  "\"Node\":\"n1\"}";
    CLEANUP(extender_question)
    struct extender_question *question = extender_question_parse(context, strlen(context), err);
    if (!question)
        return -1;
    CLEANUP(extender_question)
    struct extender_question *tree = extender_question_parse_tree(context, strlen(context), err);
    if (!tree)
        return -1;
    CLEANUP(preemption_question)
    struct preemption_question *victims =
        preemption_question_parse(preemption, strlen(preemption), err);
    if (!victims)
        return -1;
    CLEANUP(binding_question)
    struct binding_question *bound = binding_question_parse(binding, strlen(binding), err);
    return bound ? 0 : -1;
}

static void fails_clean(void **state)
{
    (void)state;
    char text[] = "{\"Pod\":" POD ",\"NodeNames\":[\"n1\",\"n2\"]}";
    unit_test_expect_clean_failures(parse_all, text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_the_same_fast_and_by_tree),
    cmocka_unit_test(refuses_bad_questions),
    cmocka_unit_test(bounds_names),
    cmocka_unit_test(finds_repeated_names),
    cmocka_unit_test(spreads_usual_names),
    cmocka_unit_test(reads_preemption),
    cmocka_unit_test(refuses_bad_preemption),
    cmocka_unit_test(reads_bindings),
    cmocka_unit_test(writes_filter_results),
    cmocka_unit_test(says_why_once_where_many_are_refused),
    cmocka_unit_test(writes_scores_and_bindings),
    cmocka_unit_test(cuts_between_characters),
    cmocka_unit_test(reads_a_pod_when_it_must),
    cmocka_unit_test(fails_clean),
};

int main(void) { return unit_test_main("k8s_extender/extender_wire", tests, COUNT_OF(tests)); }
