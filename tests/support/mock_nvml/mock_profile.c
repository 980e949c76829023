/* SPDX-License-Identifier: MIT */
#include "tests/support/mock_nvml/mock_profile.h"
#include "base/cleanup.h"
#include "base/parse_number.h"
#include "base/text_file.h"
#include <stdio.h>
#include <string.h>

#define MAXIMUM_WORDS 12u
#define FILE_BYTES 65536u

struct line {
    char *words[MAXIMUM_WORDS];
    unsigned count;
    char *rest; /* all after the first word */
    bool bad;
};

static unsigned number_at(struct line *line, unsigned word, unsigned maximum)
{
    uint64_t number = 0;
    if (word >= line->count || parse_unsigned(line->words[word], 0, maximum, &number, NULL) < 0)
        line->bad = true;
    return (unsigned)number;
}

static unsigned hexadecimal_at(struct line *line, unsigned word)
{
    uint64_t number = 0;
    if (word >= line->count || parse_hexadecimal(line->words[word], UINT32_MAX, &number, NULL) < 0)
        line->bad = true;
    return (unsigned)number;
}

static struct mock_gpu *gpu_at(struct mock_profile *profile, struct line *line, unsigned word)
{
    return &profile->gpus[number_at(line, word, MOCK_GPUS - 1)];
}

static void copy_text(char *to, const char *from) { snprintf(to, MOCK_TEXT_BYTES, "%s", from); }

static void read_driver(struct mock_profile *profile, struct line *line)
{
    copy_text(profile->driver, line->rest);
}

static void read_name(struct mock_profile *profile, struct line *line)
{
    copy_text(profile->name, line->rest);
}

static void read_gpus(struct mock_profile *profile, struct line *line)
{
    profile->gpu_count = number_at(line, 1, MOCK_GPUS);
}

static void read_memory(struct mock_profile *profile, struct line *line)
{
    uint64_t bytes = 0;
    line->bad = line->count != 2 || parse_unsigned(line->words[1], 0, UINT64_MAX, &bytes, NULL) < 0;
    profile->memory_bytes = bytes;
}

static void read_compute(struct mock_profile *profile, struct line *line)
{
    profile->major = number_at(line, 1, 99);
    profile->minor = number_at(line, 2, 9);
}

static void read_pcie(struct mock_profile *profile, struct line *line)
{
    profile->pcie_generation = number_at(line, 1, 99);
}

static void read_slots(struct mock_profile *profile, struct line *line)
{
    profile->slots = number_at(line, 1, MOCK_LINKS);
}

static void read_version(struct mock_profile *profile, struct line *line)
{
    profile->version = number_at(line, 1, 99);
}

static void read_bus(struct mock_profile *profile, struct line *line)
{
    struct mock_gpu *gpu = gpu_at(profile, line, 1);
    gpu->domain = hexadecimal_at(line, 2);
    gpu->bus = hexadecimal_at(line, 3);
}

static void read_numa(struct mock_profile *profile, struct line *line)
{
    struct mock_gpu *gpu = gpu_at(profile, line, 1);
    gpu->numa = (int)number_at(line, 2, 63);
    gpu->numa_more = line->count > 3 ? (int)number_at(line, 3, 63) : -1;
}

static void read_cpus(struct mock_profile *profile, struct line *line)
{
    struct mock_gpu *gpu = gpu_at(profile, line, 1);
    gpu->first_cpu = number_at(line, 2, 4095);
    gpu->last_cpu = number_at(line, 3, 4095);
    gpu->has_cpus = true;
}

static void read_width(struct mock_profile *profile, struct line *line)
{
    struct mock_gpu *gpu = gpu_at(profile, line, 1);
    gpu->width = number_at(line, 2, 32);
    gpu->maximum_width = number_at(line, 3, 32);
}

static void read_mig(struct mock_profile *profile, struct line *line)
{
    gpu_at(profile, line, 1)->mig = true;
}

static void read_c2c(struct mock_profile *profile, struct line *line)
{
    (void)line;
    profile->c2c = true;
}

static void add_links(struct line *line, struct mock_gpu *gpu, enum mock_end end, unsigned peer,
                      unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        line->bad = line->bad || gpu->link_count == MOCK_LINKS;
        if (line->bad)
            return;
        gpu->links[gpu->link_count++] = (struct mock_link){end, peer};
    }
    gpu->links_up = gpu->link_count;
}

static void read_switch(struct mock_profile *profile, struct line *line)
{
    unsigned count = number_at(line, 1, MOCK_LINKS);
    for (unsigned i = 0; i < profile->gpu_count; i++)
        add_links(line, &profile->gpus[i], MOCK_END_SWITCH, 0, count);
}

static void read_switch_id(struct mock_profile *profile, struct line *line)
{
    static const char *const names[] = {"shown", "empty", "ones", "binary", "refused"};
    for (unsigned i = 0; i < COUNT_OF(names); i++) {
        if (strcmp(line->rest, names[i]) != 0)
            continue;
        profile->switch_id = (enum mock_switch_id)i;
        return;
    }
    line->bad = true;
}

static void read_pair(struct mock_profile *profile, struct line *line)
{
    struct mock_gpu *first = gpu_at(profile, line, 1), *second = gpu_at(profile, line, 2);
    unsigned count = number_at(line, 3, MOCK_LINKS);
    add_links(line, first, MOCK_END_GPU, (unsigned)(second - profile->gpus), count);
    add_links(line, second, MOCK_END_GPU, (unsigned)(first - profile->gpus), count);
}

static void read_hidden(struct mock_profile *profile, struct line *line)
{
    add_links(line, gpu_at(profile, line, 1), MOCK_END_HIDDEN, 0, number_at(line, 2, MOCK_LINKS));
}

static void read_npu(struct mock_profile *profile, struct line *line)
{
    add_links(line, gpu_at(profile, line, 1), MOCK_END_NPU, 0, number_at(line, 2, MOCK_LINKS));
}

static void read_up(struct mock_profile *profile, struct line *line)
{
    gpu_at(profile, line, 1)->links_up = number_at(line, 2, MOCK_LINKS);
}

static void read_p2p(struct mock_profile *profile, struct line *line)
{
    unsigned i = number_at(line, 1, MOCK_GPUS - 1), j = number_at(line, 2, MOCK_GPUS - 1);
    profile->p2p[i][j] = profile->p2p[j][i] = (int)number_at(line, 3, 99);
}

static void read_apart(struct mock_profile *profile, struct line *line)
{
    gpu_at(profile, line, 1)->apart = true;
}

static void read_ancestor(struct mock_profile *profile, struct line *line)
{
    unsigned i = number_at(line, 1, MOCK_GPUS - 1), j = number_at(line, 2, MOCK_GPUS - 1);
    profile->ancestor[i][j] = profile->ancestor[j][i] = (int)number_at(line, 3, 99);
}

static void read_fabric(struct mock_profile *profile, struct line *line)
{
    for (unsigned i = 0; i < MOCK_GPUS; i++) {
        profile->gpus[i].fabric_state = number_at(line, 1, 255);
        profile->gpus[i].fabric_status = number_at(line, 2, 999);
    }
    profile->fabric_clique = number_at(line, 3, UINT32_MAX);
    line->bad = line->bad || line->count != 5 || strlen(line->words[4]) != 32;
    for (unsigned i = 0; !line->bad && i < sizeof(profile->cluster_uuid); i++) {
        char digits[3] = {line->words[4][2 * i], line->words[4][2 * i + 1], '\0'};
        uint64_t byte = 0;
        line->bad = parse_hexadecimal(digits, UINT8_MAX, &byte, NULL) < 0;
        profile->cluster_uuid[i] = (unsigned char)byte;
    }
}

static void read_fabric_of(struct mock_profile *profile, struct line *line)
{
    struct mock_gpu *gpu = gpu_at(profile, line, 1);
    gpu->fabric_state = number_at(line, 2, 255);
    gpu->fabric_status = number_at(line, 3, 999);
}

static void read_health(struct mock_profile *profile, struct line *line)
{
    gpu_at(profile, line, 1)->health = number_at(line, 2, 255);
}

static void read_fabric_version(struct mock_profile *profile, struct line *line)
{
    profile->fabric_version = number_at(line, 1, 3);
}

static void read_rule(struct mock_profile *profile, struct line *line)
{
    static const char *const names[] = {"without", "return", "sleep", "crash"};
    line->bad = line->count < 2 || profile->rule_count == MOCK_RULES;
    if (line->bad)
        return;
    struct mock_rule *rule = &profile->rules[profile->rule_count++];
    while (strcmp(names[rule->action], line->words[0]) != 0)
        rule->action++;
    copy_text(rule->symbol, line->words[1]);
    if (rule->action == MOCK_RETURN || rule->action == MOCK_SLEEP)
        rule->value = number_at(line, 2, 9999);
    rule->gpu = line->count > 3 ? number_at(line, 3, MOCK_GPUS - 1) : MOCK_GPUS;
}

static const struct {
    const char *word;
    void (*read)(struct mock_profile *profile, struct line *line);
} readers[] = {
    {"driver", read_driver},
    {"gpus", read_gpus},
    {"name", read_name},
    {"memory", read_memory},
    {"compute", read_compute},
    {"pcie", read_pcie},
    {"slots", read_slots},
    {"version", read_version},
    {"bus", read_bus},
    {"numa", read_numa},
    {"cpus", read_cpus},
    {"width", read_width},
    {"mig", read_mig},
    {"c2c", read_c2c},
    {"switch", read_switch},
    {"switch_id", read_switch_id},
    {"pair", read_pair},
    {"hidden", read_hidden},
    {"npu", read_npu},
    {"up", read_up},
    {"p2p", read_p2p},
    {"apart", read_apart},
    {"ancestor", read_ancestor},
    {"fabric", read_fabric},
    {"fabric_of", read_fabric_of},
    {"fabric_version", read_fabric_version},
    {"health", read_health},
    {"without", read_rule},
    {"return", read_rule},
    {"sleep", read_rule},
    {"crash", read_rule},
};

static void split(struct line *line, char *text)
{
    static char rest[FILE_BYTES];
    *line = (struct line){.rest = rest};
    rest[0] = '\0';
    char *space = strchr(text, ' ');
    if (space)
        snprintf(rest, sizeof(rest), "%s", space + 1);
    while (*text && line->count < MAXIMUM_WORDS) {
        line->words[line->count++] = text;
        text += strcspn(text, " ");
        if (*text)
            *text++ = '\0';
    }
}

static void read_line(struct mock_profile *profile, struct line *line)
{
    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        if (strcmp(line->words[0], readers[i].word) != 0)
            continue;
        readers[i].read(profile, line);
        return;
    }
    line->bad = true;
}

static void set_defaults(struct mock_profile *profile)
{
    memset(profile, 0, sizeof(*profile));
    profile->fabric_version = 3;
    profile->pcie_generation = 4;
    memset(profile->p2p, 0xff, sizeof(profile->p2p));
    memset(profile->ancestor, 0xff, sizeof(profile->ancestor));
    for (unsigned i = 0; i < MOCK_GPUS; i++)
        profile->gpus[i] = (struct mock_gpu){.index = i,
                                             .bus = i + 1,
                                             .numa = -1,
                                             .numa_more = -1,
                                             .width = 16,
                                             .maximum_width = 16,
                                             .health = 1};
}

int mock_profile_load(struct mock_profile *profile, const char *path)
{
    struct error_info err = {.kind = ERROR_NONE};
    size_t bytes = 0;
    set_defaults(profile);
    CLEANUP_MEMORY char *text = text_file_read(path, FILE_BYTES, &bytes, &err);
    if (!text) {
        fprintf(stderr, "mock NVML: %s\n", err.text);
        return -1;
    }
    unsigned number = 0;
    for (char *at = text; *at;) {
        char *end = at + strcspn(at, "\n");
        bool last = !*end;
        struct line line;
        *end = '\0';
        split(&line, at);
        number++;
        if (line.count > 0 && line.words[0][0] != '#')
            read_line(profile, &line);
        if (line.bad) {
            fprintf(stderr, "mock NVML: %s:%u: not understood\n", path, number);
            return -1;
        }
        at = last ? end : end + 1;
    }
    return 0;
}
