/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/nccl_topology.h"
#include "base/parse_number.h"
#include "topology/link_generation.h"
#include "topology/node_readers/evidence_draft.h"
#include "topology/node_readers/text/nccl_values.h"
#include "topology/node_readers/text/nccl_xml.h"
#include <string.h>
#include <strings.h>

#define NONE NCCL_XML_NONE
#define NUMA_MAXIMUM 65535
#define COMPUTE_MAXIMUM 9999u
#define LINKS_MAXIMUM 255u /* of one <nvlink> */
#define AFFINITY_BYTES 65536u

#define VENDOR_NVIDIA 0x10deu
#define VENDOR_AMD 0x1002u
#define VENDOR_NOBODY 0xffffu /* in files that people wrote */
#define CLASS_NVSWITCH 0x068000u
#define CLASS_POWER_CPU 0x068001u
#define CLASS_ETHERNET 0x0200u
#define CLASS_NETWORK 0x02u /* high byte */

/* By element; the array is the draft's. */
struct place {
    unsigned gpu;   /* of a <pci>: its <gpu> element, or NONE */
    unsigned index; /* of a <pci>: the GPU's number, or NONE */
    unsigned cpu;   /* the <cpu> around it, or NONE */
    unsigned depth;
    bool has_net, has_pci;
};

struct reader {
    const char *source;
    struct evidence_draft *draft;
    struct nccl_xml xml;
    struct place *places;
    unsigned gpus[NODE_MAXIMUM_GPUS]; /* <pci> elements */
    unsigned nics[NODE_MAXIMUM_NICS]; /* <net> elements, or <pci> elements */
    unsigned nic_pcis[NODE_MAXIMUM_NICS];
    unsigned direct[NODE_MAXIMUM_GPUS][NODE_MAXIMUM_GPUS];
    unsigned switched[NODE_MAXIMUM_GPUS];
    bool doubtful[NODE_MAXIMUM_GPUS]; /* not all of its links are known */
    const char *host;                 /* the first one's hash, or NULL */
    bool several_hosts, mixed_rates;
};

static const struct nccl_element *at(const struct reader *reader, unsigned index)
{
    return &reader->xml.elements[index];
}

static const char *attribute(const struct reader *reader, unsigned index, enum nccl_attribute name)
{
    return at(reader, index)->attributes[name];
}

/* The nearest element of a tag around (or at) this one, or NONE. */
static unsigned around(const struct reader *reader, unsigned index, enum nccl_tag tag)
{
    while (index != NONE && at(reader, index)->tag != tag)
        index = at(reader, index)->parent;
    return index;
}

/* --- places ----------------------------------------------------------------------- */

static void take_gpu(struct reader *reader, struct place *pci, unsigned index)
{
    if (pci->gpu == NONE)
        pci->gpu = index;
    else
        evidence_draft_note(reader->draft, "%s:%u: a second <gpu> of one <pci> is left out",
                            reader->source, at(reader, index)->line);
}

static void place_element(struct reader *reader, unsigned index)
{
    const struct nccl_element *element = at(reader, index);
    struct place *place = &reader->places[index];
    *place = (struct place){.gpu = NONE, .index = NONE, .cpu = NONE};
    place->cpu = element->tag == NCCL_CPU ? index : NONE;
    if (element->parent == NONE)
        return;
    struct place *outer = &reader->places[element->parent];
    place->depth = outer->depth + 1;
    place->cpu = place->cpu != NONE ? place->cpu : outer->cpu;
    if (element->tag == NCCL_GPU && at(reader, element->parent)->tag == NCCL_PCI)
        take_gpu(reader, outer, index);
    outer->has_pci = outer->has_pci || element->tag == NCCL_PCI;
    unsigned pci = around(reader, index, NCCL_PCI);
    if (element->tag == NCCL_NET && pci != NONE)
        reader->places[pci].has_net = true;
}

static int place_elements(struct reader *reader, struct error_info *err)
{
    reader->places =
        arena_allocate_array(reader->draft->arena, reader->xml.count, sizeof(*reader->places));
    if (!reader->places)
        return error_set_memory(err);
    for (unsigned i = 0; i < reader->xml.count; i++)
        place_element(reader, i);
    for (unsigned i = 0; i < reader->xml.count && !reader->host; i++)
        reader->host = attribute(reader, i, NCCL_HOST_HASH);
    return 0;
}

/* NCCL puts the nodes of one NVLink domain into one file. */
static bool is_elsewhere(struct reader *reader, unsigned index)
{
    unsigned cpu = reader->places[index].cpu;
    const char *host = cpu != NONE ? attribute(reader, cpu, NCCL_HOST_HASH) : NULL;
    bool elsewhere = host && strcmp(host, reader->host) != 0;
    reader->several_hosts = reader->several_hosts || elsewhere;
    return elsewhere;
}

static int numa_of(const struct reader *reader, unsigned index)
{
    unsigned cpu = reader->places[index].cpu;
    const char *text = cpu != NONE ? attribute(reader, cpu, NCCL_NUMAID) : NULL;
    int64_t node;
    if (!text || parse_signed(text, 0, NUMA_MAXIMUM, &node, NULL) < 0)
        return NUMA_UNKNOWN;
    return (int)node;
}

static const char *bus_id_of(struct reader *reader, unsigned pci)
{
    char bus_id[BUS_ID_BYTES];
    if (nccl_read_bus_id(attribute(reader, pci, NCCL_BUSID), bus_id))
        return evidence_draft_copy(reader->draft, bus_id);
    evidence_draft_note(reader->draft, "%s:%u: the device has no bus id", reader->source,
                        at(reader, pci)->line);
    return NULL;
}

/* --- GPUs ------------------------------------------------------------------------- */

static bool is_gpu(const struct reader *reader, unsigned pci)
{
    static const unsigned classes[] = {0x0302, 0x0380, 0x1200};
    if (reader->places[pci].gpu != NONE)
        return true;
    unsigned vendor = nccl_read_hexadecimal(attribute(reader, pci, NCCL_VENDOR));
    unsigned class_id = nccl_read_hexadecimal(attribute(reader, pci, NCCL_CLASS)) >> 8;
    for (size_t i = 0; i < COUNT_OF(classes); i++)
        if (class_id == classes[i])
            return vendor == 0 || vendor == VENDOR_NVIDIA || vendor == VENDOR_AMD;
    return false;
}

static int take_cpus(struct reader *reader, unsigned pci, struct evidence_gpu *gpu,
                     struct error_info *err)
{
    unsigned cpu = reader->places[pci].cpu;
    if (cpu == NONE)
        return 0;
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, AFFINITY_BYTES);
    if (nccl_read_affinity(attribute(reader, cpu, NCCL_AFFINITY), &text, err) < 0)
        return -1;
    if (text_buffer_text(&text)[0])
        gpu->cpus = evidence_draft_copy(reader->draft, text_buffer_text(&text));
    return 0;
}

/* The least of the GPUs, known only where each one's is: 0 stays 0. */
static void take_pcie(struct reader *reader, unsigned pci)
{
    double *least = &reader->draft->evidence.pcie_bytes_per_second;
    double rate = nccl_read_pcie(attribute(reader, pci, NCCL_LINK_SPEED),
                                 attribute(reader, pci, NCCL_LINK_WIDTH));
    if (reader->draft->evidence.gpu_count == 1 || rate < *least)
        *least = rate;
}

static int check_bus_id(const struct reader *reader, unsigned pci, const char *bus_id,
                        struct error_info *err)
{
    for (unsigned i = 0; bus_id && i < reader->draft->evidence.gpu_count; i++) {
        const char *other = reader->draft->gpus[i].bus_id;
        if (other && strcmp(other, bus_id) == 0)
            return error_set(err, "%s:%u: the GPU %s stands at line %u already", reader->source,
                             at(reader, pci)->line, bus_id, at(reader, reader->gpus[i])->line);
    }
    return 0;
}

static int add_gpu(struct reader *reader, unsigned pci, struct error_info *err)
{
    struct evidence_draft *draft = reader->draft;
    const char *bus_id = bus_id_of(reader, pci);
    if (check_bus_id(reader, pci, bus_id, err) < 0)
        return -1;
    struct evidence_gpu *gpu = evidence_draft_add_gpu(draft, err);
    if (!gpu)
        return -1;
    unsigned index = draft->evidence.gpu_count - 1;
    reader->gpus[index] = pci;
    reader->places[pci].index = index;
    reader->doubtful[index] = reader->places[pci].gpu == NONE;
    gpu->bus_id = bus_id;
    gpu->numa = numa_of(reader, pci);
    unsigned vendor = nccl_read_hexadecimal(attribute(reader, pci, NCCL_VENDOR));
    unsigned device = nccl_read_hexadecimal(attribute(reader, pci, NCCL_DEVICE));
    if (vendor > 0 && vendor < VENDOR_NOBODY && device > 0 && device < VENDOR_NOBODY)
        gpu->model_text = evidence_draft_format(draft, "%04x:%04x", vendor, device);
    take_pcie(reader, pci);
    return take_cpus(reader, pci, gpu, err);
}

/* --- NICs ------------------------------------------------------------------------- */

static bool is_nameless_nic(const struct reader *reader, unsigned pci)
{
    return !reader->places[pci].has_net &&
           nccl_read_hexadecimal(attribute(reader, pci, NCCL_CLASS)) >> 16 == CLASS_NETWORK;
}

/* NCCL's sockets go over any network device; what has a GUID or GPUDirect is an RDMA device. */
static bool is_socket(const struct reader *reader, unsigned net)
{
    const char *guid = attribute(reader, net, NCCL_GUID), *gdr = attribute(reader, net, NCCL_GDR);
    return guid && gdr && strcmp(guid, "0x0") == 0 && strcmp(gdr, "0") == 0;
}

static void take_speed(struct reader *reader, unsigned net, struct evidence_nic *nic)
{
    static const char *const reasons[] = {
        [NCCL_SPEED_DEFAULT] = "is also what NCCL writes where it does not know",
        [NCCL_SPEED_ODD] = "cannot be a speed in Mb/s",
    };
    const char *text = attribute(reader, net, NCCL_SPEED);
    enum nccl_net_speed speed = nccl_read_net_speed(text, &nic->bytes_per_second);
    if (text && speed != NCCL_SPEED_KNOWN)
        evidence_draft_note(reader->draft, "%s:%u: %s: %.40s %s: its rate is not known",
                            reader->source, at(reader, net)->line, nic->name ? nic->name : "NIC",
                            text, reasons[speed]);
}

static void describe_net(struct reader *reader, unsigned net, struct evidence_nic *nic)
{
    nic->name = evidence_draft_copy(reader->draft, attribute(reader, net, NCCL_NAME));
    take_speed(reader, net, nic);
    if (!is_socket(reader, net))
        return;
    nic->driver_class = "ethernet";
    nic->is_ethernet = true;
}

/* element: a <net>, or a <pci> of a network device without one. */
static int add_nic(struct reader *reader, unsigned element, struct error_info *err)
{
    const char *name = attribute(reader, element, NCCL_NAME);
    if (name && strchr(name, '+')) {
        evidence_draft_note(reader->draft, "%s:%u: %s is several NICs that NCCL joined; left out",
                            reader->source, at(reader, element)->line, name);
        return 0;
    }
    struct evidence_nic *nic = evidence_draft_add_nic(reader->draft, err);
    if (!nic)
        return -1;
    unsigned index = reader->draft->evidence.nic_count - 1;
    unsigned pci = around(reader, element, NCCL_PCI);
    reader->nics[index] = element;
    reader->nic_pcis[index] = pci;
    if (at(reader, element)->tag == NCCL_NET)
        describe_net(reader, element, nic);
    if (pci == NONE)
        return 0;
    nic->bus_id = bus_id_of(reader, pci);
    nic->numa = numa_of(reader, pci);
    if (nccl_read_hexadecimal(attribute(reader, pci, NCCL_CLASS)) >> 8 == CLASS_ETHERNET)
        nic->is_ethernet = true;
    return 0;
}

static bool is_one_card(const struct reader *reader, unsigned left, unsigned right)
{
    const char *first = attribute(reader, reader->nics[left], NCCL_GUID);
    const char *second = attribute(reader, reader->nics[right], NCCL_GUID);
    if (first && second && strcmp(first, "0x0") != 0 && strcmp(first, second) == 0)
        return true;
    return reader->nic_pcis[left] != NONE && reader->nic_pcis[left] == reader->nic_pcis[right];
}

static void join_cards(struct reader *reader)
{
    for (unsigned i = 0; i < reader->draft->evidence.nic_count; i++)
        for (unsigned k = 0; k < i; k++)
            if (is_one_card(reader, i, k))
                reader->draft->nics[i].shares_card = reader->draft->nics[k].shares_card = true;
}

/* --- devices ---------------------------------------------------------------------- */

static int add_device(struct reader *reader, unsigned index, unsigned *classless,
                      struct error_info *err)
{
    enum nccl_tag tag = at(reader, index)->tag;
    if ((tag != NCCL_PCI && tag != NCCL_NET) || is_elsewhere(reader, index))
        return 0;
    if (tag == NCCL_NET || is_nameless_nic(reader, index))
        return add_nic(reader, index, err);
    if (is_gpu(reader, index))
        return add_gpu(reader, index, err);
    const struct place *place = &reader->places[index];
    *classless += !attribute(reader, index, NCCL_CLASS) && !place->has_net && !place->has_pci;
    return 0;
}

static int add_devices(struct reader *reader, struct error_info *err)
{
    unsigned classless = 0;
    for (unsigned i = 0; i < reader->xml.count; i++)
        if (add_device(reader, i, &classless, err) < 0)
            return -1;
    if (classless > 0)
        evidence_draft_note(reader->draft,
                            "%s: %u PCI devices without class=: which of them are GPUs or NICs is "
                            "not known",
                            reader->source, classless);
    if (reader->several_hosts)
        evidence_draft_warn(reader->draft, "%s: describes several hosts; only the first is read",
                            reader->source);
    join_cards(reader);
    return 0;
}

/* --- PCIe classes ----------------------------------------------------------------- */

static unsigned common_element(const struct reader *reader, unsigned left, unsigned right)
{
    while (left != right) {
        bool left_deeper = reader->places[left].depth >= reader->places[right].depth;
        bool right_deeper = reader->places[right].depth >= reader->places[left].depth;
        left = left_deeper ? at(reader, left)->parent : left;
        right = right_deeper ? at(reader, right)->parent : right;
    }
    return left;
}

static enum link_kind class_between(const struct reader *reader, unsigned left, unsigned right)
{
    if (left == NONE || right == NONE)
        return LINK_UNKNOWN;
    unsigned common = common_element(reader, left, right);
    bool siblings = at(reader, left)->parent == at(reader, right)->parent || left == right;
    switch (at(reader, common)->tag) {
    case NCCL_PCI:
        return siblings ? LINK_PIX : LINK_PXB;
    case NCCL_CPU:
        return LINK_NODE;
    default:
        return reader->places[left].cpu != NONE && reader->places[right].cpu != NONE ? LINK_SYS
                                                                                     : LINK_UNKNOWN;
    }
}

static void classify(struct reader *reader)
{
    struct evidence_draft *draft = reader->draft;
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++) {
        for (unsigned j = 0; j < i; j++)
            evidence_draft_set_gpu_link(draft, i, j,
                                        class_between(reader, reader->gpus[i], reader->gpus[j]));
        for (unsigned k = 0; k < draft->evidence.nic_count; k++)
            evidence_draft_set_nic_link(
                draft, i, k, class_between(reader, reader->gpus[i], reader->nic_pcis[k]));
    }
}

/* --- NVLink and XGMI -------------------------------------------------------------- */

static unsigned find_gpu(const struct reader *reader, const char *bus_id)
{
    for (unsigned i = 0; i < reader->draft->evidence.gpu_count; i++) {
        const char *own = reader->draft->gpus[i].bus_id;
        if (own && strcmp(own, bus_id) == 0)
            return i;
    }
    return NONE;
}

static void note_link(struct reader *reader, unsigned link, const char *problem)
{
    const char *target = attribute(reader, link, NCCL_TARGET);
    evidence_draft_note(reader->draft, "%s:%u: a link to '%.40s' %s", reader->source,
                        at(reader, link)->line, target ? target : "", problem);
}

static void count_links(struct reader *reader, unsigned gpu, unsigned link, unsigned links)
{
    char bus_id[BUS_ID_BYTES];
    unsigned class_id = nccl_read_hexadecimal(attribute(reader, link, NCCL_TCLASS));
    bool named = nccl_read_bus_id(attribute(reader, link, NCCL_TARGET), bus_id);
    unsigned peer = named ? find_gpu(reader, bus_id) : NONE;
    if (peer == gpu) {
        reader->doubtful[gpu] = true;
        note_link(reader, link, "leads to the GPU itself: its peers are not known");
    } else if (peer != NONE) {
        reader->direct[gpu][peer] += links;
    } else if (class_id == CLASS_NVSWITCH || (!named && class_id != CLASS_POWER_CPU)) {
        reader->switched[gpu] += links;
    } else if (class_id != CLASS_POWER_CPU) {
        note_link(reader, link, "leads to no GPU of this file and does not count");
    }
}

/* RCCL writes hipDeviceProp's number for the MI200s. */
static double rate_of_link(const struct reader *reader, unsigned gpu, enum nccl_tag tag)
{
    const char *gcn = attribute(reader, gpu, NCCL_GCN), *sm = attribute(reader, gpu, NCCL_SM);
    uint64_t compute;
    if (tag == NCCL_XGMI)
        return gcn ? xgmi_rate_of_gfx(strcmp(gcn, "910") == 0 ? "gfx90a" : gcn) : 0;
    if (!sm || parse_unsigned(sm, 1, COMPUTE_MAXIMUM, &compute, NULL) < 0)
        return 0;
    return nvlink_rate_of_compute((unsigned)compute);
}

static void take_rate(struct reader *reader, double rate, bool first)
{
    double *common = &reader->draft->evidence.nvlink_link_bytes_per_second;
    if (first)
        *common = rate;
    else if (rate < *common || rate > *common)
        reader->mixed_rates = true;
}

static void take_links(struct reader *reader)
{
    bool first = true;
    for (unsigned i = 0; i < reader->xml.count; i++) {
        const struct nccl_element *link = at(reader, i);
        unsigned gpu = link->parent;
        if ((link->tag != NCCL_NVLINK && link->tag != NCCL_XGMI) || gpu == NONE)
            continue;
        unsigned pci = at(reader, gpu)->tag == NCCL_GPU ? at(reader, gpu)->parent : NONE;
        unsigned index =
            pci != NONE && reader->places[pci].gpu == gpu ? reader->places[pci].index : NONE;
        if (index == NONE)
            continue;
        uint64_t links;
        const char *count = link->attributes[NCCL_COUNT];
        if (!count || parse_unsigned(count, 1, LINKS_MAXIMUM, &links, NULL) < 0) {
            reader->doubtful[index] = true;
            note_link(reader, i, "has no count= from 1 to 255");
            continue;
        }
        count_links(reader, index, i, (unsigned)links);
        take_rate(reader, rate_of_link(reader, gpu, link->tag), first);
        first = false;
    }
}

static unsigned smaller(unsigned left, unsigned right) { return left < right ? left : right; }

static unsigned links_of_pair(struct reader *reader, unsigned i, unsigned j)
{
    bool doubt = reader->doubtful[i] || reader->doubtful[j];
    if (!doubt && reader->direct[i][j] != reader->direct[j][i])
        evidence_draft_note(reader->draft,
                            "%s: the GPUs at the lines %u and %u count %u and %u links to each "
                            "other; the lower number counts",
                            reader->source, at(reader, reader->gpus[i])->line,
                            at(reader, reader->gpus[j])->line, reader->direct[i][j],
                            reader->direct[j][i]);
    unsigned through = smaller(reader->switched[i], reader->switched[j]);
    unsigned links = smaller(reader->direct[i][j], reader->direct[j][i]) + through;
    if (through > 0)
        reader->draft->evidence.nvlink_switched = true;
    return links == 0 && doubt ? NVLINK_COUNT_UNKNOWN : links;
}

static void conclude_links(struct reader *reader)
{
    struct evidence_draft *draft = reader->draft;
    bool linked = false;
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++) {
        for (unsigned j = 0; j < i; j++) {
            unsigned links = links_of_pair(reader, i, j);
            linked = linked || (links > 0 && links != NVLINK_COUNT_UNKNOWN);
            evidence_draft_set_link_count(draft, i, j, links);
        }
    }
    draft->has_link_counts = linked;
    draft->evidence.nvlink = linked ? NVLINK_KNOWN : NVLINK_UNKNOWN;
    draft->evidence.nvlink_leaves_node = draft->evidence.nvlink_switched && reader->several_hosts;
    if (!linked || reader->mixed_rates)
        draft->evidence.nvlink_link_bytes_per_second = 0;
    if (!linked && draft->evidence.gpu_count > 1)
        evidence_draft_note(draft, "%s: has no NVLink or XGMI between two GPUs, which says nothing",
                            reader->source);
}

static int read_devices(struct reader *reader, struct error_info *err)
{
    if (place_elements(reader, err) < 0 || add_devices(reader, err) < 0)
        return -1;
    classify(reader);
    take_links(reader);
    conclude_links(reader);
    return 0;
}

struct node_evidence *nccl_topology_parse(const char *text, size_t bytes, const char *source,
                                          struct error_info *err)
{
    CLEANUP(evidence_draft)
    struct evidence_draft *draft = evidence_draft_create(EVIDENCE_NCCL_XML, source, err);
    CLEANUP_MEMORY struct reader *reader = memory_allocate(sizeof(*reader));
    if (!draft)
        return NULL;
    if (!reader)
        return error_null(error_set_memory(err));
    reader->source = source;
    reader->draft = draft;
    draft->evidence.source_text = evidence_draft_format(draft, "nccl xml %s", source);
    int status = nccl_xml_read(text, bytes, source, draft->arena, &reader->xml, err);
    if (status == 0)
        status = read_devices(reader, err);
    nccl_xml_done(&reader->xml);
    return status < 0 ? NULL : evidence_draft_finish(draft, err);
}
