/* SPDX-License-Identifier: MIT */
/*
 * extender_wire: the bodies of kube-scheduler's extender calls (k8s.io/kube-scheduler extender/v1,
 * the same from 1.20 to 1.37). Keys are matched whatever their case, as Go does. Only the form with
 * names is taken (nodeCacheCapable: true); bodies with whole nodes are refused, saying what to set.
 * Hostile input: everything is checked; an answer can name only nodes that were asked about.
 */
#ifndef K8S_EXTENDER_SERVER_EXTENDER_WIRE_H
#define K8S_EXTENDER_SERVER_EXTENDER_WIRE_H

#include "base/arena.h"
#include "k8s_extender/gang/gang_answer.h"
#include "k8s_extender/server/pod_identity.h"

#define WIRE_BODY_MAXIMUM_BYTES ((size_t)8 << 20)
#define WIRE_NODES_MAXIMUM 65536u
/* Of what becomes a JSON tree: the Pod, and a body that the scanner (wire_scan.h) leaves to it. */
#define WIRE_TREE_MAXIMUM_BYTES ((size_t)2 << 20)
#define WIRE_BINDING_MAXIMUM_BYTES ((size_t)16 << 10)

struct extender_question {        /* ExtenderArgs */
    struct pod_record *pod;       /* NULL: not read, see extender_question_open */
    struct pod_identity identity; /* where it was not read … */
    const char *pod_text;         /* … its text, in the body */
    size_t pod_bytes;
    bool native;              /* the pod's gang is */
    const char *const *names; /* NodeNames, each once, in their order */
    size_t name_count;
    struct arena *arena;
};
struct extender_question *extender_question_parse(const char *text, size_t bytes,
                                                  struct error_info *err);
/* The same, but a pod of which the identity is found is not read: whoever knows it in that version
 * sets `native` and goes on; others call extender_question_read_pod. The body must outlive that. */
struct extender_question *extender_question_open(const char *text, size_t bytes,
                                                 struct error_info *err);
int extender_question_read_pod(struct extender_question *question, struct error_info *err);
/* The same through the tree alone, for comparison: bodies of WIRE_TREE_MAXIMUM_BYTES. */
struct extender_question *extender_question_parse_tree(const char *text, size_t bytes,
                                                       struct error_info *err);
void extender_question_free(struct extender_question *question);

struct preemption_victims {
    const char *node;
    const char *const *uids; /* may be empty */
    size_t uid_count;
    int64_t violations; /* NumPDBViolations */
};
struct preemption_question { /* ExtenderPreemptionArgs, NodeNameToMetaVictims */
    struct pod_record *pod;
    const struct preemption_victims *nodes;
    size_t node_count;
    struct arena *arena;
};
struct preemption_question *preemption_question_parse(const char *text, size_t bytes,
                                                      struct error_info *err);
void preemption_question_free(struct preemption_question *question);

struct binding_question { /* ExtenderBindingArgs */
    const char *pod, *namespace, *uid, *node;
    struct arena *arena;
};
struct binding_question *binding_question_parse(const char *text, size_t bytes,
                                                struct error_info *err);
void binding_question_free(struct binding_question *question);

/* ExtenderFilterResult. The text stands beside each refused node, in FailedNodes and in
 * FailedAndUnresolvableNodes. With more than WIRE_SHORT_LIST of them: where some pass, the others
 * vanish; where none does, the text stands in Error instead, but for native gangs, where every
 * node has its first WIRE_SHORT_TEXT_BYTES. Out of memory shows in the buffer. */
#define WIRE_SHORT_LIST 50u
#define WIRE_SHORT_TEXT_BYTES 100u
void extender_write_filter(const struct extender_question *question,
                           const struct gang_answer *answer, struct text_buffer *out);
void extender_write_error(const char *text, struct text_buffer *out); /* {"Error": …} of filter */
void extender_write_scores(const struct extender_question *question, const uint8_t *scores,
                           struct text_buffer *out);
void extender_write_victims(const struct preemption_question *question, const bool *allowed,
                            struct text_buffer *out);
void extender_write_binding(const char *error, struct text_buffer *out); /* "": bound */

DEFINE_CLEANUP(extender_question);
DEFINE_CLEANUP(preemption_question);
DEFINE_CLEANUP(binding_question);

#endif
