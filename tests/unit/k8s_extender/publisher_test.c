/* SPDX-License-Identifier: MIT */
/* The agent's turns against a server that is played here. */
#include "base/json_document.h"
#include "k8s_extender/agent/node_document.h"
#include "k8s_extender/agent/publisher.h"
#include "tests/support/unit_test.h"
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 4096u

struct server {
    char annotation[TEXT_BYTES]; /* "": none */
    bool has_node, down;
    long read_status, write_status; /* 0: 200 */
    unsigned retry_after;
    unsigned reads, writes;
    char log[TEXT_BYTES];
};

static int answer(long status, const char *body, struct api_answer *ret, struct error_info *err)
{
    char *copy = memory_copy_text(body);
    if (!copy)
        return error_set_memory(err);
    *ret = (struct api_answer){.status = status, .body = copy, .body_bytes = strlen(copy)};
    return 0;
}

static int refuse(const struct server *server, long status, struct api_answer *ret,
                  struct error_info *err)
{
    char body[256];
    snprintf(body, sizeof(body),
             "{\"kind\":\"Status\",\"message\":\"no %ld today\",\"reason\":\"Because\","
             "\"code\":%ld}",
             status, status);
    if (answer(status, body, ret, err) < 0)
        return -1;
    ret->retry_after_seconds = server->retry_after;
    return 0;
}

static int give_node(const struct server *server, struct api_answer *ret, struct error_info *err)
{
    CLEANUP(json_value) struct json_value *node = json_value_create_object();
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, 4 * TEXT_BYTES);
    json_add_text(node, "kind", "Node");
    struct json_value *metadata = json_add_object(node, "metadata");
    json_add_text(metadata, "name", "n1");
    if (server->annotation[0])
        json_add_text(json_add_object(metadata, "annotations"), "parplan.io/topology",
                      server->annotation);
    if (json_value_write(node, JSON_STYLE_COMPACT, &text, err) < 0)
        return -1;
    return answer(200, text_buffer_text(&text), ret, err);
}

static int take_patch(struct server *server, const struct api_request *request,
                      struct api_answer *ret, struct error_info *err)
{
    assert_string_equal(request->path, "/api/v1/nodes/n1?fieldManager=parplan-node-agent");
    assert_string_equal(request->content_type, "application/merge-patch+json");
    CLEANUP(json_value)
    struct json_value *patch = json_value_parse(request->body, request->body_bytes, "patch", err);
    if (!patch)
        return -1;
    const struct json_value *metadata = json_value_get(patch, "metadata");
    const struct json_value *annotations = json_value_get(metadata, "annotations");
    /* one annotation, and nothing else */
    assert_int_equal(json_value_count(patch), 1);
    assert_int_equal(json_value_count(metadata), 1);
    assert_int_equal(json_value_count(annotations), 1);
    snprintf(server->annotation, sizeof(server->annotation), "%s",
             json_value_text(json_value_get(annotations, "parplan.io/topology")));
    return answer(200, "{\"kind\":\"Node\",\"metadata\":{}}", ret, err);
}

static int serve(void *context, const struct api_request *request, struct api_answer *ret,
                 struct error_info *err)
{
    struct server *server = context;
    if (server->down)
        return error_set_system(err, "connection refused");
    bool reads = strcmp(request->method, "GET") == 0;
    server->reads += reads;
    server->writes += !reads;
    if (!server->has_node)
        return refuse(server, 404, ret, err);
    long status = reads ? server->read_status : server->write_status;
    if (status)
        return refuse(server, status, ret, err);
    return reads ? give_node(server, ret, err) : take_patch(server, request, ret, err);
}

static void keep(void *context, enum log_level level, const char *line)
{
    struct server *server = context;
    size_t length = strlen(server->log);
    (void)level;
    snprintf(server->log + length, sizeof(server->log) - length, "%s\n", line);
}

static struct publisher *open_publisher(struct server *server)
{
    struct error_info err = {.kind = ERROR_NONE};
    const struct publisher_settings settings = {.node = "n1",
                                                .send = serve,
                                                .context = server,
                                                .log = {.write = keep, .context = server},
                                                .seed = 7};
    struct publisher *publisher = publisher_create(&settings, &err);
    if (!publisher)
        fail_msg("%s", err.text);
    return publisher;
}

static void writes_once_and_on_change_only(void **state)
{
    (void)state;
    struct server server = {.has_node = true};
    CLEANUP(publisher) struct publisher *publisher = open_publisher(&server);
    assert_int_equal(publisher_turn(publisher, "one \"x\"\n", "8x-a"), PUBLISHER_WRITTEN);
    assert_string_equal(server.annotation, "one \"x\"\n");
    assert_int_equal(publisher_turn(publisher, "one \"x\"\n", "8x-a"), PUBLISHER_UNCHANGED);
    assert_int_equal(server.reads, 1);
    assert_int_equal(server.writes, 1);
    assert_int_equal(publisher_turn(publisher, "two\n", "7x-a"), PUBLISHER_WRITTEN);
    assert_string_equal(server.annotation, "two\n");
    assert_int_equal(server.reads, 2);
    assert_int_equal(server.writes, 2);
    assert_string_equal(server.log, "node n1: topology written: 8x-a\n"
                                    "node n1: topology written: 7x-a\n");
}

static void does_not_write_what_is_there(void **state)
{
    (void)state;
    struct server server = {.has_node = true, .annotation = "same\n"};
    CLEANUP(publisher) struct publisher *publisher = open_publisher(&server);
    assert_int_equal(publisher_turn(publisher, "same\n", "8x-a"), PUBLISHER_UNCHANGED);
    assert_int_equal(server.writes, 0);
    assert_string_equal(server.log, "node n1: its topology is as it was: 8x-a\n");
}

static void says_each_failure_once(void **state)
{
    (void)state;
    struct server server = {.has_node = true, .down = true};
    CLEANUP(publisher) struct publisher *publisher = open_publisher(&server);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(publisher_turn(publisher, "t", "w"), PUBLISHER_FAILED);
    assert_string_equal(server.log, "connection refused\n");
    server.down = false;
    server.has_node = false;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(publisher_turn(publisher, "t", "w"), PUBLISHER_FAILED);
    assert_string_equal(server.log,
                        "connection refused\n"
                        "the cluster has no node n1; NODE_NAME or --node must be this machine's "
                        "name there\n");
    server.has_node = true;
    assert_int_equal(publisher_turn(publisher, "t", "w"), PUBLISHER_WRITTEN);
    assert_non_null(strstr(server.log, "node n1: topology written: w\n"));
}

static void a_refused_write_is_tried_again(void **state)
{
    (void)state;
    struct server server = {.has_node = true, .write_status = 403};
    CLEANUP(publisher) struct publisher *publisher = open_publisher(&server);
    assert_int_equal(publisher_turn(publisher, "t", "w"), PUBLISHER_FAILED);
    assert_non_null(strstr(server.log, "writing node n1: "));
    assert_non_null(strstr(server.log, "no 403 today"));
    assert_non_null(strstr(server.log, "the agent's role needs get and patch of nodes"));
    server.write_status = 0;
    assert_int_equal(publisher_turn(publisher, "t", "w"), PUBLISHER_WRITTEN);
    assert_int_equal(server.writes, 2);
}

static void a_machine_that_cannot_be_read(void **state)
{
    (void)state;
    struct server server = {.has_node = true};
    CLEANUP(publisher) struct publisher *publisher = open_publisher(&server);
    assert_int_equal(publisher_turn(publisher, "t", "w"), PUBLISHER_WRITTEN);
    publisher_no_text(publisher, "hwloc: no");
    publisher_no_text(publisher, "hwloc: no");
    assert_int_equal(publisher_turn(publisher, "t", "w"), PUBLISHER_UNCHANGED);
    assert_string_equal(server.log, "node n1: topology written: w\nhwloc: no\n"
                                    "node n1: all is well again\n");
    assert_int_equal(server.reads, 1);
}

static void waits_longer_each_time(void **state)
{
    (void)state;
    struct server server = {.down = true};
    CLEANUP(publisher) struct publisher *publisher = open_publisher(&server);
    for (unsigned failures = 1; failures < 40; failures++) {
        publisher_turn(publisher, "t", "w");
        uint64_t base = failures > 7 ? 128000 : (uint64_t)1000 << (failures - 1);
        assert_in_range(publisher_wait(publisher, 300), base / 2, base + base / 2);
    }
    server = (struct server){.has_node = true, .read_status = 429, .retry_after = 200};
    publisher_turn(publisher, "t", "w");
    assert_in_range(publisher_wait(publisher, 300), 64000, 192000);
    server.read_status = 0;
    assert_int_equal(publisher_turn(publisher, "t", "w"), PUBLISHER_WRITTEN);
    uint64_t first = publisher_wait(publisher, 300), second = publisher_wait(publisher, 300);
    assert_in_range(first, 270000, 330000);
    assert_in_range(second, 270000, 330000);
    assert_true(first != second);
}

static void the_servers_wish_is_kept(void **state)
{
    (void)state;
    struct server server = {.has_node = true, .read_status = 429, .retry_after = 60};
    CLEANUP(publisher) struct publisher *publisher = open_publisher(&server);
    publisher_turn(publisher, "t", "w");
    assert_in_range(publisher_wait(publisher, 300), 60000, 61000);
}

static void reads_nodes_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *text, *annotation;
    } cases[] = {
        {"{\"kind\":\"Node\",\"metadata\":{}}", ""},
        {"{\"kind\":\"Node\",\"metadata\":{\"annotations\":{\"a\":\"b\"}}}", ""},
        {"{\"kind\":\"Node\",\"metadata\":{\"annotations\":{\"parplan.io/topology\":\"x\\ny\"}}}",
         "x\ny"},
        {"{\"kind\":\"Node\",\"metadata\":{\"annotations\":{\"parplan.io/topology\":7}}}", ""},
        {"{\"kind\":\"Node\"}", NULL},
        {"{\"kind\":\"Pod\",\"metadata\":{}}", NULL},
        {"[]", NULL},
        {"", NULL},
        {"{\"kind\":\"Node\",\"metadata\":", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_MEMORY char *annotation =
            node_document_annotation(cases[i].text, strlen(cases[i].text), &err);
        if (!cases[i].annotation)
            assert_true(!annotation && err.text[0]);
        else if (!annotation)
            fail_msg("%s", err.text);
        else
            assert_string_equal(annotation, cases[i].annotation);
    }
}

/* By waits of 300 s: turns until the node was read again, and when that was. */
static uint64_t wait_for_read(struct publisher *publisher, const struct server *server,
                              enum publisher_result *ret)
{
    uint64_t milliseconds = 0;
    unsigned reads = server->reads;
    for (unsigned i = 0; i < 100 && server->reads == reads; i++) {
        milliseconds += publisher_wait(publisher, 300);
        *ret = publisher_turn(publisher, "t", "w");
    }
    return milliseconds;
}

static void looks_at_its_node_again(void **state)
{
    (void)state;
    struct server server = {.has_node = true};
    enum publisher_result result = PUBLISHER_FAILED;
    CLEANUP(publisher) struct publisher *publisher = open_publisher(&server);
    assert_int_equal(publisher_turn(publisher, "t", "w"), PUBLISHER_WRITTEN);
    /* all is as it was: one GET in an hour, and no line */
    uint64_t first = wait_for_read(publisher, &server, &result);
    assert_int_equal(result, PUBLISHER_UNCHANGED);
    assert_in_range(first, 3240000, 3960000 + 330000);
    assert_int_equal(server.writes, 1);
    /* somebody took it away */
    server.annotation[0] = '\0';
    assert_true(wait_for_read(publisher, &server, &result) != first);
    assert_int_equal(result, PUBLISHER_WRITTEN);
    assert_string_equal(server.annotation, "t");
    /* the Node is gone for a while, and comes without it */
    server.has_node = false;
    server.annotation[0] = '\0';
    wait_for_read(publisher, &server, &result);
    assert_int_equal(result, PUBLISHER_FAILED);
    server.has_node = true;
    assert_in_range(publisher_wait(publisher, 300), 500, 1500);
    assert_int_equal(publisher_turn(publisher, "t", "w"), PUBLISHER_WRITTEN);
    assert_string_equal(server.log,
                        "node n1: topology written: w\nnode n1: topology written: w\n"
                        "the cluster has no node n1; NODE_NAME or --node must be this machine's "
                        "name there\nnode n1: topology written: w\n");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_once_and_on_change_only),
    cmocka_unit_test(does_not_write_what_is_there),
    cmocka_unit_test(says_each_failure_once),
    cmocka_unit_test(a_refused_write_is_tried_again),
    cmocka_unit_test(a_machine_that_cannot_be_read),
    cmocka_unit_test(waits_longer_each_time),
    cmocka_unit_test(the_servers_wish_is_kept),
    cmocka_unit_test(reads_nodes_and_nothing_else),
    cmocka_unit_test(looks_at_its_node_again),
};

int main(void) { return unit_test_main("k8s_extender/publisher", tests, COUNT_OF(tests)); }
