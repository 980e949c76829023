/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/text/nccl_xml.h"
#include <expat.h>
#include <stdbool.h>
#include <string.h>

#define FIRST_CAPACITY 256u

static const char *const tags[NCCL_TAG_COUNT] = {
    [NCCL_SYSTEM] = "system", [NCCL_CPU] = "cpu",   [NCCL_PCI] = "pci", [NCCL_GPU] = "gpu",
    [NCCL_NVLINK] = "nvlink", [NCCL_XGMI] = "xgmi", [NCCL_NIC] = "nic", [NCCL_NET] = "net",
};

static const char *const attribute_names[NCCL_ATTRIBUTE_COUNT] = {
    [NCCL_AFFINITY] = "affinity",
    [NCCL_BUSID] = "busid",
    [NCCL_CLASS] = "class",
    [NCCL_COUNT] = "count",
    [NCCL_DEVICE] = "device",
    [NCCL_GCN] = "gcn",
    [NCCL_GDR] = "gdr",
    [NCCL_GUID] = "guid",
    [NCCL_HOST_HASH] = "host_hash",
    [NCCL_LINK_SPEED] = "link_speed",
    [NCCL_LINK_WIDTH] = "link_width",
    [NCCL_NAME] = "name",
    [NCCL_NUMAID] = "numaid",
    [NCCL_SM] = "sm",
    [NCCL_SPEED] = "speed",
    [NCCL_TARGET] = "target",
    [NCCL_TCLASS] = "tclass",
    [NCCL_VENDOR] = "vendor",
};

struct reader {
    const char *source;
    struct arena *arena;
    struct nccl_xml *xml;
    struct error_info *err;
    XML_Parser parser;
    unsigned stack[NCCL_XML_MAXIMUM_DEPTH]; /* of elements, known ones or those around */
    unsigned depth;
    bool failed;
};

static unsigned find_name(const char *const *names, unsigned count, const char *name)
{
    unsigned i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

static unsigned current_line(const struct reader *reader)
{
    return (unsigned)XML_GetCurrentLineNumber(reader->parser);
}

/* expat calls on until it returns; the first failure counts. */
static void stop(struct reader *reader, int ignored)
{
    (void)ignored;
    reader->failed = true;
    XML_StopParser(reader->parser, XML_FALSE);
}

static bool check_start(struct reader *reader, const char *name)
{
    if (reader->depth == NCCL_XML_MAXIMUM_DEPTH)
        stop(reader, error_set(reader->err, "%s:%u: more than %u elements in each other",
                               reader->source, current_line(reader), NCCL_XML_MAXIMUM_DEPTH));
    else if (reader->depth == 0 && strcmp(name, tags[NCCL_SYSTEM]) != 0)
        stop(reader, error_set(reader->err,
                               "%s:%u: the root is <%.40s>; <system> is expected, as in "
                               "NCCL_TOPO_DUMP_FILE",
                               reader->source, current_line(reader), name));
    else if (reader->xml->count == NCCL_XML_MAXIMUM_ELEMENTS)
        stop(reader, error_set(reader->err, "%s:%u: more than %u elements", reader->source,
                               current_line(reader), NCCL_XML_MAXIMUM_ELEMENTS));
    return !reader->failed;
}

static int copy_attributes(struct reader *reader, struct nccl_element *element,
                           const char *const *pairs)
{
    for (; pairs[0]; pairs += 2) {
        unsigned at = find_name(attribute_names, NCCL_ATTRIBUTE_COUNT, pairs[0]);
        if (at == NCCL_ATTRIBUTE_COUNT)
            continue;
        if (strlen(pairs[1]) > NCCL_XML_MAXIMUM_VALUE)
            return error_set(reader->err, "%s:%u: %s= is longer than %u bytes", reader->source,
                             element->line, pairs[0], NCCL_XML_MAXIMUM_VALUE);
        element->attributes[at] = arena_copy_text(reader->arena, pairs[1]);
        if (!element->attributes[at])
            return error_set_memory(reader->err);
    }
    return 0;
}

static int grow(struct nccl_xml *xml, struct error_info *err)
{
    if (xml->count < xml->capacity)
        return 0;
    unsigned capacity = xml->capacity ? xml->capacity * 2 : FIRST_CAPACITY;
    struct nccl_element *elements =
        memory_grow_array(xml->elements, xml->capacity, capacity, sizeof(*elements));
    if (!elements)
        return error_set_memory(err);
    xml->elements = elements;
    xml->capacity = capacity;
    return 0;
}

static void XMLCALL start_element(void *data, const char *name, const char **pairs)
{
    struct reader *reader = data;
    if (reader->failed || !check_start(reader, name))
        return;
    unsigned around = reader->depth > 0 ? reader->stack[reader->depth - 1] : NCCL_XML_NONE;
    unsigned tag = find_name(tags, NCCL_TAG_COUNT, name);
    reader->stack[reader->depth++] = tag < NCCL_TAG_COUNT ? reader->xml->count : around;
    if (tag == NCCL_TAG_COUNT)
        return;
    if (grow(reader->xml, reader->err) < 0) {
        stop(reader, -1);
        return;
    }
    struct nccl_element *element = &reader->xml->elements[reader->xml->count++];
    *element = (struct nccl_element){
        .tag = (enum nccl_tag)tag, .line = current_line(reader), .parent = around};
    if (copy_attributes(reader, element, pairs) < 0)
        stop(reader, -1);
}

static void XMLCALL end_element(void *data, const char *name)
{
    (void)name;
    struct reader *reader = data;
    if (!reader->failed)
        reader->depth--;
}

static void XMLCALL start_doctype(void *data, const char *name, const char *system_id,
                                  const char *public_id, int has_internal_subset)
{
    (void)name;
    (void)system_id;
    (void)public_id;
    (void)has_internal_subset;
    struct reader *reader = data;
    if (!reader->failed)
        stop(reader, error_set(reader->err, "%s:%u: has a DOCTYPE; topology files have none",
                               reader->source, current_line(reader)));
}

static int parse(struct reader *reader, const char *text, size_t bytes)
{
    XML_SetUserData(reader->parser, reader);
    XML_SetElementHandler(reader->parser, start_element, end_element);
    XML_SetStartDoctypeDeclHandler(reader->parser, start_doctype);
    enum XML_Status status = XML_Parse(reader->parser, text, (int)bytes, XML_TRUE);
    if (reader->failed)
        return -1;
    if (status == XML_STATUS_OK)
        return 0;
    if (XML_GetErrorCode(reader->parser) == XML_ERROR_NO_MEMORY)
        return error_set_memory(reader->err);
    return error_set(reader->err, "%s:%u: no XML: %s", reader->source, current_line(reader),
                     XML_ErrorString(XML_GetErrorCode(reader->parser)));
}

int nccl_xml_read(const char *text, size_t bytes, const char *source, struct arena *arena,
                  struct nccl_xml *ret, struct error_info *err)
{
    if (bytes > NCCL_XML_MAXIMUM_BYTES)
        return error_set(err, "%s: larger than %zu MiB", source, NCCL_XML_MAXIMUM_BYTES >> 20);
    *ret = (struct nccl_xml){.count = 0};
    struct reader reader = {.source = source, .arena = arena, .xml = ret, .err = err};
    reader.parser = XML_ParserCreate("UTF-8");
    if (!reader.parser)
        return error_set_memory(err);
    int status = parse(&reader, text, bytes);
    XML_ParserFree(reader.parser);
    return status;
}

void nccl_xml_done(struct nccl_xml *xml) { memory_free(xml->elements); }
