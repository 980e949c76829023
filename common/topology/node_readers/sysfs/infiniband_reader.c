/* SPDX-License-Identifier: MIT */
#include "topology/node_readers/sysfs/infiniband_reader.h"
#include "base/parse_number.h"
#include "topology/node_readers/evidence_draft.h"
#include "topology/node_readers/sysfs/pci_health.h"
#include "topology/node_readers/sysfs/sysfs_text.h"
#include <string.h>

#define NAMES_MAXIMUM_BYTES ((size_t)16 << 20)
#define NAME_BYTES 64u /* the kernel's limit */
#define FOLDER_BYTES 512u
#define WORD_BYTES 32u
#define KIND_BYTES 128u
#define PROBLEM_BYTES 256u
#define UEVENT_BYTES 4096u
#define VPD_BYTES 8192u
#define VENDOR_MELLANOX 0x15b3u
#define BYTES_PER_MEGABIT 125e3
#define MAXIMUM_MEGABITS 100000000
#define GIGABITS_PER_BYTE 8e-9
#define SAME_RATE 1.01

enum port_state { PORT_DOWN = 1, PORT_INITIALISING, PORT_ARMED, PORT_ACTIVE, PORT_DEFERRED };

struct port {
    unsigned number;
    unsigned state; /* 0: unknown */
    bool is_ethernet;
    double bytes_per_second;
    char state_text[WORD_BYTES], layer[WORD_BYTES];
};

struct infiniband_reader {
    struct sysfs_tree *tree;
    struct evidence_draft *draft;
    struct arena *names;
    const char *class_folder, *net_folder;
    char kinds[NODE_MAXIMUM_NICS][KIND_BYTES]; /* board and link layer; "": not told */
    bool noted_vpd;
    bool has_devices; /* some entry has its PCI device */
};

/* A value of one line; "" where there is none, or one too long. -1: the tree gave up. */
static int read_word(struct infiniband_reader *reader, const char *folder, const char *name,
                     char *ret_text, size_t room, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    char text[SYSFS_VALUE_BYTES];
    ret_text[0] = '\0';
    if (sysfs_tree_read(reader->tree, folder, name, text, sizeof(text), &why) < 0) {
        if (why.kind == ERROR_INPUT)
            return 0;
        if (err)
            *err = why;
        return -1;
    }
    error_clean_text(text);
    if (strlen(text) < room)
        memcpy(ret_text, text, strlen(text) + 1);
    return 0;
}

/* --- ports ------------------------------------------------------------------------ */

/* "4: ACTIVE" */
static unsigned read_state(const char *text)
{
    char digits[WORD_BYTES];
    uint64_t state = 0;
    size_t length = strcspn(text, ":");
    if (length >= sizeof(digits))
        return 0;
    memcpy(digits, text, length);
    digits[length] = '\0';
    return parse_unsigned(digits, PORT_DOWN, PORT_DEFERRED, &state, NULL) < 0 ? 0 : (unsigned)state;
}

static bool is_active(const struct port *port)
{
    return port->state == PORT_ACTIVE || port->state == PORT_DEFERRED;
}

static bool is_better(const struct port *left, const struct port *right)
{
    if (is_active(left) != is_active(right))
        return is_active(left);
    return left->bytes_per_second > right->bytes_per_second;
}

static int read_port(struct infiniband_reader *reader, const char *folder, const char *device,
                     unsigned number, struct port *ret, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE};
    struct port port = {.number = number};
    char rate[WORD_BYTES];
    if (read_word(reader, folder, "state", port.state_text, sizeof(port.state_text), err) < 0 ||
        read_word(reader, folder, "link_layer", port.layer, sizeof(port.layer), err) < 0 ||
        read_word(reader, folder, "rate", rate, sizeof(rate), err) < 0)
        return -1;
    port.state = read_state(port.state_text);
    port.is_ethernet = strcmp(port.layer, "Ethernet") == 0;
    if (port.state == 0)
        evidence_draft_note(reader->draft, "%s: port %u: state '%s' is not known", device, number,
                            port.state_text);
    if (is_active(&port) && sysfs_parse_rate(rate, &port.bytes_per_second, &why) < 0)
        evidence_draft_note(reader->draft, "%s: port %u: rate %s", device, number, why.text);
    *ret = port;
    return 0;
}

static void note_port(struct infiniband_reader *reader, const char *device, const struct port *port)
{
    evidence_draft_note(reader->draft, "%s: port %u is not used: %s, %s", device, port->number,
                        port->layer[0] ? port->layer : "link layer unknown",
                        port->state_text[0] ? port->state_text : "state unknown");
}

/* The best port; number 0: there is none. */
static int read_ports(struct infiniband_reader *reader, const char *folder, const char *device,
                      struct port *ret, struct error_info *err)
{
    struct port best = {0};
    for (unsigned number = 1; number <= INFINIBAND_MAXIMUM_PORTS; number++) {
        char name[FOLDER_BYTES];
        struct port port;
        snprintf(name, sizeof(name), "%.*s/ports/%u", (int)FOLDER_BYTES - 32, folder, number);
        if (!sysfs_tree_has_folder(reader->tree, name, ""))
            continue;
        if (read_port(reader, name, device, number, &port, err) < 0)
            return -1;
        if (best.number == 0 || is_better(&port, &best)) {
            if (best.number > 0)
                note_port(reader, device, &best);
            best = port;
        } else {
            note_port(reader, device, &port);
        }
    }
    *ret = best;
    return 0;
}

static const char *port_problem(const struct port *port)
{
    static const char *const problems[] = {
        [PORT_DOWN] = "port is down",
        [PORT_INITIALISING] = "port waits for a subnet manager",
        [PORT_ARMED] = "port waits for a subnet manager",
    };
    return port->state < COUNT_OF(problems) && problems[port->state] ? problems[port->state] : "";
}

static void take_port(struct evidence_nic *nic, const struct port *port)
{
    if (is_active(port))
        nic->state = NIC_ACTIVE;
    else if (port->state != 0)
        nic->state = NIC_DOWN;
    nic->is_ethernet = port->is_ethernet;
    nic->bytes_per_second = port->bytes_per_second;
}

/* --- the PCI device --------------------------------------------------------------- */

/* A copy that has followed all links has the device's folder here, without its path. */
static bool find_in_uevent(struct infiniband_reader *reader, const char *folder,
                           char ret_bus_id[PCI_BUS_ID_BYTES])
{
    static const char key[] = "PCI_SLOT_NAME=";
    char text[UEVENT_BYTES];
    if (sysfs_tree_read(reader->tree, folder, "device/uevent", text, sizeof(text), NULL) < 0)
        return false;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (length > strlen(key) && strncmp(line, key, strlen(key)) == 0)
            return sysfs_parse_bus_id(line + strlen(key), length - strlen(key), ret_bus_id);
        line += length + (line[length] == '\n');
    }
    return false;
}

static bool find_bus_id(struct infiniband_reader *reader, const char *folder,
                        char ret_bus_id[PCI_BUS_ID_BYTES])
{
    char path[SYSFS_PATH_BYTES];
    if (sysfs_tree_real_path(reader->tree, folder, "device", path, NULL) == 0 &&
        sysfs_path_bus_id(path, ret_bus_id))
        return true;
    return find_in_uevent(reader, folder, ret_bus_id);
}

static bool is_nvswitch(struct infiniband_reader *reader, const char *folder)
{
    char bytes[VPD_BYTES];
    uint64_t vendor = 0;
    size_t count = 0;
    struct error_info why = {.kind = ERROR_NONE};
    /* Only NVIDIA's own: some other devices take seconds to read theirs. */
    if (sysfs_tree_read_hexadecimal(reader->tree, folder, "device/vendor", UINT16_MAX, &vendor,
                                    NULL) < 0 ||
        vendor != VENDOR_MELLANOX || !sysfs_tree_has(reader->tree, folder, "device/vpd"))
        return false;
    if (sysfs_tree_read_bytes(reader->tree, folder, "device/vpd", bytes, sizeof(bytes), &count,
                              &why) == 0)
        return sysfs_vpd_is_nvswitch(bytes, count);
    if (!reader->noted_vpd)
        evidence_draft_note(reader->draft,
                            "%s; management functions of NVSwitches are not told from NICs "
                            "without it (root may read it)",
                            why.text);
    reader->noted_vpd = true;
    return false;
}

/* What both kinds of NIC have: place, NUMA node, PCIe lanes. */
static int describe_device(struct infiniband_reader *reader, const char *folder,
                           const char *problem, struct evidence_nic *nic, struct error_info *err)
{
    char bus_id[PCI_BUS_ID_BYTES], path[FOLDER_BYTES], text[PROBLEM_BYTES];
    struct pci_health health = {.numa = NUMA_UNKNOWN};
    if (find_bus_id(reader, folder, bus_id))
        nic->bus_id = evidence_draft_copy(reader->draft, bus_id);
    snprintf(path, sizeof(path), "%.*s/device", (int)FOLDER_BYTES - 8, folder);
    if (pci_health_of(reader->tree, path, &health, err) < 0)
        return -1;
    nic->numa = health.numa;
    snprintf(text, sizeof(text), "%.64s%s%.64s", problem,
             problem[0] && health.problem[0] ? "; " : "", health.problem);
    if (text[0])
        nic->problem = evidence_draft_copy(reader->draft, text);
    return 0;
}

/* --- RDMA devices ----------------------------------------------------------------- */

static int set_kind(struct infiniband_reader *reader, const char *folder, const struct port *port,
                    char kind[KIND_BYTES], struct error_info *err)
{
    char board[WORD_BYTES];
    if (read_word(reader, folder, "board_id", board, sizeof(board), err) < 0)
        return -1;
    if (board[0] && is_active(port))
        snprintf(kind, KIND_BYTES, "%s %s", board, port->layer);
    return 0;
}

static int read_guid(struct infiniband_reader *reader, const char *folder, const char *device,
                     struct evidence_nic *nic, struct error_info *err)
{
    char text[WORD_BYTES];
    struct error_info why = {.kind = ERROR_NONE};
    if (read_word(reader, folder, "node_guid", text, sizeof(text), err) < 0)
        return -1;
    if (text[0] && sysfs_parse_guid(text, &nic->guid, &why) < 0)
        evidence_draft_note(reader->draft, "%s: node_guid %s", device, why.text);
    return 0;
}

static int add_device(struct infiniband_reader *reader, const char *folder, const char *device,
                      bool is_virtual, struct error_info *err)
{
    struct port port;
    unsigned index = reader->draft->evidence.nic_count;
    struct evidence_nic *nic = evidence_draft_add_nic(reader->draft, err);
    if (!nic || read_ports(reader, folder, device, &port, err) < 0)
        return -1;
    nic->name = evidence_draft_copy(reader->draft, device);
    nic->is_virtual = is_virtual;
    nic->driver_class = is_nvswitch(reader, folder) ? "nvswitch" : "openfabrics";
    take_port(nic, &port);
    if (port.number == 0)
        evidence_draft_note(reader->draft, "%s: no port", device);
    if (read_guid(reader, folder, device, nic, err) < 0 ||
        set_kind(reader, folder, &port, reader->kinds[index], err) < 0)
        return -1;
    return describe_device(reader, folder, port_problem(&port), nic, err);
}

/* SR-IOV functions know their physical one; devices of software have no device (where the copy
 * has any: without, nothing is known). */
static bool is_virtual_device(struct infiniband_reader *reader, const char *folder)
{
    return sysfs_tree_has(reader->tree, folder, "device/physfn") ||
           (reader->has_devices && !sysfs_tree_has(reader->tree, folder, "device"));
}

static int read_device(struct infiniband_reader *reader, const char *name, bool virtual_ones,
                       struct error_info *err)
{
    char folder[FOLDER_BYTES], clean[NAME_BYTES];
    if (strlen(name) >= sizeof(clean)) {
        if (virtual_ones)
            evidence_draft_note(reader->draft, "%.64s…: no name of a device; left out", name);
        return 0;
    }
    memcpy(clean, name, strlen(name) + 1);
    error_clean_text(clean);
    snprintf(folder, sizeof(folder), "%s/%s", reader->class_folder, name);
    if (is_virtual_device(reader, folder) != virtual_ones)
        return 0;
    return add_device(reader, folder, clean, virtual_ones, err);
}

static bool has_device(struct infiniband_reader *reader, const char *name)
{
    char folder[FOLDER_BYTES];
    snprintf(folder, sizeof(folder), "%s/%.*s", reader->class_folder, (int)NAME_BYTES, name);
    return sysfs_tree_has(reader->tree, folder, "device");
}

static int read_devices(struct infiniband_reader *reader, struct error_info *err)
{
    struct sysfs_entries entries = {0};
    if (sysfs_tree_list(reader->tree, reader->class_folder, "", "", reader->names, &entries, err) <
        0)
        return -1;
    for (size_t i = 0; i < entries.count && !reader->has_devices; i++)
        reader->has_devices = has_device(reader, entries.names[i]);
    for (size_t i = 0; i < entries.count; i++)
        if (read_device(reader, entries.names[i], false, err) < 0)
            return -1;
    const unsigned *count = &reader->draft->evidence.nic_count;
    for (size_t i = 0; i < entries.count && *count < NODE_MAXIMUM_NICS; i++)
        if (read_device(reader, entries.names[i], true, err) < 0)
            return -1;
    if (*count == NODE_MAXIMUM_NICS && entries.count > *count)
        evidence_draft_warn(reader->draft, "%zu devices are left out: a node has at most %u NICs",
                            entries.count - *count, NODE_MAXIMUM_NICS);
    return 0;
}

/* --- Slingshot -------------------------------------------------------------------- */

static bool is_known_place(const struct infiniband_reader *reader, const char *bus_id)
{
    for (unsigned i = 0; i < reader->draft->evidence.nic_count; i++)
        if (reader->draft->nics[i].bus_id && strcmp(reader->draft->nics[i].bus_id, bus_id) == 0)
            return true;
    return false;
}

static bool is_numbered(const char *text)
{
    return *text && strlen(text) < WORD_BYTES && strspn(text, "0123456789") == strlen(text);
}

/* The speed is in Mb/s, -1 where the driver does not know. */
static void take_interface(struct infiniband_reader *reader, const char *folder, const char *state,
                           struct evidence_nic *nic)
{
    int64_t megabits = 0;
    if (strcmp(state, "down") == 0)
        nic->state = NIC_DOWN;
    if (strcmp(state, "up") != 0)
        return;
    nic->state = NIC_ACTIVE;
    if (sysfs_tree_read_signed(reader->tree, folder, "speed", -1, MAXIMUM_MEGABITS, &megabits,
                               NULL) == 0 &&
        megabits > 0)
        nic->bytes_per_second = (double)megabits * BYTES_PER_MEGABIT;
}

static int read_interface(struct infiniband_reader *reader, const char *name,
                          struct error_info *err)
{
    char folder[FOLDER_BYTES], bus_id[PCI_BUS_ID_BYTES], state[WORD_BYTES];
    snprintf(folder, sizeof(folder), "%s/%.64s", reader->net_folder, name);
    if (!sysfs_tree_has(reader->tree, folder, "device"))
        return 0; /* a bridge, or the like */
    if (find_bus_id(reader, folder, bus_id) && is_known_place(reader, bus_id))
        return 0; /* Slingshot 10: a ConnectX, and in the list already */
    if (read_word(reader, folder, "operstate", state, sizeof(state), err) < 0)
        return -1;
    struct evidence_nic *nic = evidence_draft_add_nic(reader->draft, err);
    if (!nic)
        return -1;
    nic->name = evidence_draft_copy(reader->draft, name);
    nic->driver_class = "hsi";
    take_interface(reader, folder, state, nic);
    return describe_device(reader, folder, nic->state == NIC_DOWN ? "port is down" : "", nic, err);
}

static int read_interfaces(struct infiniband_reader *reader, struct error_info *err)
{
    static const char *const prefixes[] = {"hsi", "hsn"}; /* of a number: "hsn0.7" is a VLAN */
    for (size_t p = 0; p < COUNT_OF(prefixes); p++) {
        struct sysfs_entries entries = {0};
        if (sysfs_tree_list(reader->tree, reader->net_folder, "", prefixes[p], reader->names,
                            &entries, err) < 0)
            return -1;
        for (size_t i = 0; i < entries.count; i++)
            if (is_numbered(entries.names[i] + strlen(prefixes[p])) &&
                read_interface(reader, entries.names[i], err) < 0)
                return -1;
    }
    return 0;
}

/* --- rates of one kind ------------------------------------------------------------ */

static void judge_rate(struct infiniband_reader *reader, unsigned index)
{
    struct evidence_nic *nic = &reader->draft->nics[index];
    unsigned faster = 0, others = 0;
    double best = nic->bytes_per_second;
    for (unsigned i = 0; i < reader->draft->evidence.nic_count; i++) {
        double rate = reader->draft->nics[i].bytes_per_second;
        if (rate <= 0 || strcmp(reader->kinds[i], reader->kinds[index]) != 0)
            continue;
        faster += rate > nic->bytes_per_second * SAME_RATE;
        others += rate <= nic->bytes_per_second * SAME_RATE;
        best = rate > best ? rate : best;
    }
    if (faster > others)
        nic->problem = evidence_draft_format(
            reader->draft, "rate %.0f of %.0f Gb/s%s%s", nic->bytes_per_second * GIGABITS_PER_BYTE,
            best * GIGABITS_PER_BYTE, nic->problem ? "; " : "", nic->problem ? nic->problem : "");
}

static void judge_rates(struct infiniband_reader *reader)
{
    for (unsigned i = 0; i < reader->draft->evidence.nic_count; i++)
        if (reader->kinds[i][0] && reader->draft->nics[i].bytes_per_second > 0)
            judge_rate(reader, i);
}

/* --- where ------------------------------------------------------------------------ */

static const char *find_class(struct sysfs_tree *tree, const char *machine, const char *copy)
{
    if (sysfs_tree_has_folder(tree, machine, ""))
        return machine;
    return !sysfs_tree_is_live(tree) && sysfs_tree_has_folder(tree, copy, "") ? copy : NULL;
}

static int read_all(struct infiniband_reader *reader, struct node_evidence **ret,
                    struct error_info *err)
{
    if (reader->class_folder && read_devices(reader, err) < 0)
        return -1;
    if (reader->net_folder && read_interfaces(reader, err) < 0)
        return -1;
    judge_rates(reader);
    struct node_evidence *evidence = NULL;
    if (reader->draft->evidence.nic_count > 0) {
        evidence = evidence_draft_finish(reader->draft, err);
        if (!evidence)
            return -1;
    }
    *ret = evidence;
    return 0;
}

int infiniband_read(const char *root, struct node_evidence **ret, struct error_info *err)
{
    char source[SYSFS_PATH_BYTES];
    CLEANUP(sysfs_tree) struct sysfs_tree *tree = sysfs_tree_open(root, err);
    if (!tree)
        return -1;
    snprintf(source, sizeof(source), "infiniband%s%s", sysfs_tree_is_live(tree) ? "" : " ",
             sysfs_tree_is_live(tree) ? "" : root);
    CLEANUP(evidence_draft)
    struct evidence_draft *draft = evidence_draft_create(EVIDENCE_INFINIBAND, source, err);
    if (!draft)
        return -1;
    CLEANUP(arena) struct arena *names = arena_create(NAMES_MAXIMUM_BYTES);
    CLEANUP_MEMORY struct infiniband_reader *reader = memory_allocate(sizeof(*reader));
    if (!names || !reader)
        return error_set_memory(err);
    reader->tree = tree;
    reader->draft = draft;
    reader->names = names;
    reader->class_folder = find_class(tree, "sys/class/infiniband", "class/infiniband");
    reader->net_folder = find_class(tree, "sys/class/net", "class/net");
    return read_all(reader, ret, err);
}
