/* SPDX-License-Identifier: MIT */
/*
 * fabric_draft: what a fabric reader has gathered so far: switches, nodes and NVLink domains,
 * in the order it meets them. It owns its texts and lists; fabric_build checks the whole.
 * Numbers of switches and domains count from 0.
 */
#ifndef TOPOLOGY_FABRIC_DRAFT_H
#define TOPOLOGY_FABRIC_DRAFT_H

#include "base/texts/packed_text.h"
#include "topology/fabric.h"

struct fabric_draft;

struct fabric_draft *fabric_draft_create(const char *source, struct error_info *err);
void fabric_draft_free(struct fabric_draft *draft);

/* line: of the source, for messages; 0: the source as a whole. A name may stand twice here;
 * the build refuses that. The entry takes tier_name, rail and rates until the next addition. */
struct fabric_switch_input *fabric_draft_add_switch(struct fabric_draft *draft, const char *name,
                                                    unsigned line, struct error_info *err);
struct fabric_switch_input *fabric_draft_switch(struct fabric_draft *draft, size_t index);
size_t fabric_draft_switch_count(const struct fabric_draft *draft);
int fabric_draft_add_node(struct fabric_draft *draft, size_t index, const char *name,
                          struct error_info *err);
int fabric_draft_add_child(struct fabric_draft *draft, size_t index, const char *name,
                           struct error_info *err);
/* Whole lists ("n[1-8]"), instead of one name after another. */
int fabric_draft_decode_nodes(struct fabric_draft *draft, size_t index, const char *text,
                              struct error_info *err);
int fabric_draft_decode_children(struct fabric_draft *draft, size_t index, const char *text,
                                 struct error_info *err);

/* name, id: or NULL. */
int fabric_draft_add_domain(struct fabric_draft *draft, const char *name, const char *id,
                            unsigned line, struct error_info *err);
/* Until the next addition. */
const struct fabric_domain_input *fabric_draft_domain(const struct fabric_draft *draft,
                                                      size_t domain);
size_t fabric_draft_domain_count(const struct fabric_draft *draft);
/* A block of Slurm's (fabric_domain.candidate). */
void fabric_draft_set_candidate(struct fabric_draft *draft, size_t domain);
int fabric_draft_add_domain_node(struct fabric_draft *draft, size_t domain, const char *name,
                                 struct error_info *err);
int fabric_draft_decode_domain(struct fabric_draft *draft, size_t domain, const char *text,
                               struct error_info *err);

/* A node that is there, whether or not anything joins it. Once. */
int fabric_draft_add_other_node(struct fabric_draft *draft, const char *name,
                                struct error_info *err);

/* Past FABRIC_MAXIMUM_WARNINGS they are dropped. Running out of memory shows in the build. */
void fabric_draft_warn(struct fabric_draft *draft, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Near to far; copied. Left out: "leaf", "spine", "core", "tier4"… */
void fabric_draft_name_tiers(struct fabric_draft *draft, const char *const *names, unsigned count);
/* A copy that lives as long as the draft; NULL passes. NULL: out of memory, and the build fails. */
const char *fabric_draft_copy(struct fabric_draft *draft, const char *text);

struct fabric *fabric_draft_build(struct fabric_draft *draft, struct error_info *err);

#ifdef TEXTS_PACKED /* base/texts/packed_text.h */
#define fabric_draft_warn(draft, format, ...)                                                      \
    (fabric_draft_warn)(draft, PACKED_TEXT(format), ##__VA_ARGS__)
#endif

DEFINE_CLEANUP(fabric_draft);

#endif
