/* SPDX-License-Identifier: MIT */
/* nvml_node: concluding. */
#include "topology/link_generation.h"
#include "topology/node_readers/nvml/nvml_node.h"
#include <stdio.h>
#include <string.h>

#define CLIQUE_TEXT_BYTES 64

/* --- fabric --- */

static const char *fabric_problem(const struct nvml_gpu *gpu, struct evidence_draft *draft)
{
    if (gpu->fabric_state == NVML_FABRIC_NOT_STARTED)
        return "the fabric manager has not finished (state not started)";
    if (gpu->fabric_state == NVML_FABRIC_IN_PROGRESS)
        return "the fabric manager has not finished (state in progress)";
    if (gpu->fabric_state == NVML_FABRIC_COMPLETED && gpu->fabric_status != NVML_OK)
        return evidence_draft_format(draft, "the fabric manager failed (status %d)",
                                     gpu->fabric_status);
    return NULL;
}

static const char *health_problem(const struct nvml_gpu *gpu)
{
    if (gpu->fabric_health == NVML_FABRIC_UNHEALTHY)
        return "the fabric manager calls its NVLink unhealthy";
    if (gpu->fabric_health == NVML_FABRIC_LIMITED)
        return "the fabric manager says that its NVLink has limited capacity";
    return NULL;
}

/* NOT_SUPPORTED is a box that needs no fabric manager, and fine. Once it has finished, P2P tells.
 */
static bool fabric_blocks(const struct nvml_gpu *gpu)
{
    return gpu->fabric_state == NVML_FABRIC_NOT_STARTED ||
           gpu->fabric_state == NVML_FABRIC_IN_PROGRESS;
}

/* "<ClusterUUID>.<CliqueID>", as the label nvidia.com/gpu.clique has it; or NULL. A single box's
 * fabric has a UUID of zeros. */
static const char *clique_of(const struct nvml_gpu *gpu, struct evidence_draft *draft)
{
    static const unsigned char zeros[NVML_CLUSTER_UUID_BYTES];
    const unsigned char *uuid = gpu->cluster_uuid;
    if (gpu->fabric_state != NVML_FABRIC_COMPLETED || gpu->fabric_status != NVML_OK ||
        memcmp(uuid, zeros, sizeof(zeros)) == 0)
        return NULL;
    char text[CLIQUE_TEXT_BYTES];
    size_t length = 0;
    for (size_t i = 0; i < NVML_CLUSTER_UUID_BYTES; i++)
        length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%02x",
                                   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    return evidence_draft_format(draft, "%s.%u", text, gpu->fabric_clique);
}

/* --- pairs --- */

static unsigned smaller(unsigned left, unsigned right) { return left < right ? left : right; }

static unsigned count_links(const struct nvml_node *node, const struct evidence_draft *draft,
                            unsigned i, unsigned j)
{
    const struct nvml_gpu *first = &node->gpus[i], *second = &node->gpus[j];
    enum nvml_peer peer = node->peers[i][j];
    if (draft->gpus[i].mig || draft->gpus[j].mig || fabric_blocks(first) || fabric_blocks(second) ||
        peer == NVML_PEER_NO)
        return 0;
    unsigned direct = smaller(first->direct[j], second->direct[i]);
    unsigned switched = smaller(first->to_switches, second->to_switches);
    if (direct > 0)
        return direct;
    if (switched > 0 && peer == NVML_PEER_YES)
        return switched;
    bool surely_none = first->knows_links && second->knows_links && switched == 0;
    return surely_none && peer == NVML_PEER_UNKNOWN ? 0 : NVLINK_COUNT_UNKNOWN;
}

static bool is_link(unsigned count) { return count > 0 && count != NVLINK_COUNT_UNKNOWN; }

static void decide_pairs(const struct nvml_node *node, struct evidence_draft *draft)
{
    struct node_evidence *evidence = &draft->evidence;
    bool any_unknown = false, any_link = false;
    for (unsigned i = 0; i < evidence->gpu_count; i++) {
        for (unsigned j = 0; j < i; j++) {
            unsigned count = count_links(node, draft, i, j);
            evidence_draft_set_link_count(draft, i, j, count);
            any_unknown = any_unknown || count == NVLINK_COUNT_UNKNOWN;
            any_link = any_link || is_link(count);
            evidence->nvlink_switched =
                evidence->nvlink_switched || (is_link(count) && node->gpus[i].direct[j] == 0);
        }
    }
    evidence->nvlink = any_link ? NVLINK_KNOWN : any_unknown ? NVLINK_UNKNOWN : NVLINK_NONE;
    draft->has_link_counts = draft->has_link_counts && evidence->nvlink != NVLINK_UNKNOWN;
}

/* --- rates --- */

static double link_rate_of(const struct nvml_gpu *gpu)
{
    double rate = nvlink_rate_of_version(gpu->link_version);
    return rate > 0 ? rate : nvlink_rate_of_compute(gpu->compute);
}

/* One figure for the node; where GPUs differ, their models must tell. */
static void decide_link_rate(const struct nvml_node *node, struct evidence_draft *draft)
{
    double rate = 0;
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++) {
        if (node->gpus[i].links_up == 0)
            continue;
        double own = link_rate_of(&node->gpus[i]);
        if (own <= 0 || (rate > 0 && (own < rate || own > rate)))
            return;
        rate = own;
    }
    draft->evidence.nvlink_link_bytes_per_second = rate;
}

/* Beyond what pairs of this node show: a GPU of a wider domain, or alone here. */
static void decide_capability(const struct nvml_node *node, struct evidence_draft *draft)
{
    unsigned least = 0;
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++) {
        const struct nvml_gpu *gpu = &node->gpus[i];
        if (!draft->gpus[i].mig && !fabric_blocks(gpu) && gpu->to_switches > 0)
            least = least > 0 ? smaller(least, gpu->to_switches) : gpu->to_switches;
    }
    draft->evidence.gpu_nvlink_bytes_per_second =
        least * draft->evidence.nvlink_link_bytes_per_second;
}

/* A GPU alone here has no pairs. Peers that are hidden from this job are no answer. */
static void decide_alone(const struct nvml_node *node, struct evidence_draft *draft)
{
    const struct nvml_gpu *gpu = &node->gpus[0];
    struct node_evidence *evidence = &draft->evidence;
    bool usable = !draft->gpus[0].mig && !fabric_blocks(gpu);
    if (usable && gpu->to_switches > 0)
        evidence->nvlink = NVLINK_KNOWN;
    else if (usable && (!gpu->knows_links || gpu->hidden > 0))
        evidence->nvlink = NVLINK_UNKNOWN;
    else
        evidence->nvlink = NVLINK_NONE;
    evidence->nvlink_switched = evidence->nvlink == NVLINK_KNOWN;
}

/* --- faults --- */

static void add_problem(struct evidence_draft *draft, unsigned gpu, const char *problem)
{
    const char *before = draft->gpus[gpu].problem;
    if (problem)
        draft->gpus[gpu].problem =
            before ? evidence_draft_format(draft, "%s; %s", before, problem) : problem;
}

static bool same_model(const struct evidence_draft *draft, unsigned i, unsigned j)
{
    const char *left = draft->gpus[i].model_text, *right = draft->gpus[j].model_text;
    return left && right ? strcmp(left, right) == 0 : left == right;
}

struct siblings {
    unsigned links_up; /* the most that one has */
    bool switched;
    bool reachable; /* one is neither cut into instances nor without a fabric */
    bool linked;    /* some two of them are, without this GPU */
};

static struct siblings find_siblings(const struct nvml_node *node,
                                     const struct evidence_draft *draft, unsigned gpu)
{
    struct siblings siblings = {.links_up = 0};
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++) {
        if (i == gpu || !same_model(draft, gpu, i))
            continue;
        if (node->gpus[i].links_up > siblings.links_up)
            siblings.links_up = node->gpus[i].links_up;
        siblings.switched = siblings.switched || node->gpus[i].to_switches > 0;
        siblings.reachable =
            siblings.reachable || (!draft->gpus[i].mig && !fabric_blocks(&node->gpus[i]));
        for (unsigned j = 0; j < i; j++)
            if (j != gpu && same_model(draft, gpu, j))
                siblings.linked = siblings.linked || is_link(draft->link_counts[i][j]);
    }
    return siblings;
}

static bool has_link(const struct evidence_draft *draft, unsigned gpu)
{
    for (unsigned i = 0; i < draft->evidence.gpu_count; i++)
        if (i != gpu && draft->link_counts[gpu][i] != 0)
            return true;
    return false;
}

/* Links are up and P2P is refused: of one GPU, or of all. A100s have no fabric state that would
 * tell of a fabric manager that does not run. */
static const char *reach_problem(const struct nvml_gpu *own, const struct siblings *siblings,
                                 struct evidence_draft *draft)
{
    if (siblings->linked)
        return evidence_draft_format(draft,
                                     "lost NVLink: %u of %u links are up, but no peer is reached",
                                     own->links_up, siblings->links_up);
    if (siblings->reachable && own->says_switch)
        return "NVLinks to switches are up, but no peer is reached: is the fabric manager running?";
    return NULL;
}

/* Boards without a bridge beside boards with one have no link up and no fault; behind switches
 * that is one. */
static void judge_links(const struct nvml_node *node, struct evidence_draft *draft, unsigned gpu)
{
    const struct nvml_gpu *own = &node->gpus[gpu];
    struct siblings siblings = find_siblings(node, draft, gpu);
    if (draft->gpus[gpu].mig || !own->knows_links)
        return;
    if (own->links_up == 0 && siblings.links_up > 0 && !siblings.switched)
        evidence_draft_note(draft,
                            "%s: no NVLink is up, others of its model have %u: no bridge, or a "
                            "broken one",
                            draft->gpus[gpu].bus_id, siblings.links_up);
    else if (own->links_up < siblings.links_up)
        add_problem(draft, gpu,
                    evidence_draft_format(draft, "lost NVLink: %u of %u links are up",
                                          own->links_up, siblings.links_up));
    else if (own->to_switches > 0 && !fabric_blocks(own) && !has_link(draft, gpu))
        add_problem(draft, gpu, reach_problem(own, &siblings, draft));
}

/* After a problem with links was found. */
static void judge_loss(const struct nvml_node *node, struct evidence_draft *draft, unsigned gpu)
{
    struct evidence_gpu *said = &draft->gpus[gpu];
    bool linked =
        draft->evidence.gpu_count == 1 ? !fabric_blocks(&node->gpus[gpu]) : has_link(draft, gpu);
    said->nvlink_lost = !said->mig && !linked;
}

void nvml_links_decide(const struct nvml_node *node, struct evidence_draft *draft)
{
    unsigned count = draft->evidence.gpu_count;
    decide_pairs(node, draft);
    decide_link_rate(node, draft);
    for (unsigned i = 0; i < count; i++) {
        draft->gpus[i].nvlink_clique = clique_of(&node->gpus[i], draft);
        draft->evidence.nvlink_leaves_node =
            draft->evidence.nvlink_leaves_node || draft->gpus[i].nvlink_clique;
        const char *before = draft->gpus[i].problem;
        add_problem(draft, i, fabric_problem(&node->gpus[i], draft));
        add_problem(draft, i, health_problem(&node->gpus[i]));
        judge_links(node, draft, i);
        if (draft->gpus[i].problem != before)
            judge_loss(node, draft, i);
    }
    if (count == 1)
        decide_alone(node, draft);
    if (count == 1 || draft->evidence.nvlink_leaves_node)
        decide_capability(node, draft);
}
