/* SPDX-License-Identifier: MIT */
/*
 * gang_table: the gangs of a machine and which pods are theirs.
 */
#ifndef K8S_EXTENDER_GANG_GANG_TABLE_H
#define K8S_EXTENDER_GANG_GANG_TABLE_H

#include "k8s_extender/gang/gang_state.h"

struct gang *gang_table_find(const struct gang_machine *machine, const char *key);
/* Makes sure that pod can become a member: finds or makes its gang. NULL: out of memory. */
struct gang *gang_table_prepare(struct gang_machine *machine, const struct pod_record *pod);
/* After gang_table_prepare, or putting back what was taken out: cannot fail. at: its place among
 * the members; SIZE_MAX: the last one. */
void gang_table_attach(struct gang *gang, const struct pod_record *pod, size_t at);
/* The gang that it was taken out of, or NULL. ret_at: its place there; may be NULL. */
struct gang *gang_table_detach(struct gang_machine *machine, const struct pod_record *pod,
                               size_t *ret_at);
/* Forgets the gang if no pod is left, with what is reserved for it. */
void gang_table_prune(struct gang_machine *machine, struct gang *gang);
/* Memory ran out for it: it is passed over for a moment, and tried again. */
void gang_table_pause(struct gang_machine *machine, struct gang *gang);
void gang_table_done(struct gang_machine *machine);

/* Nothing of what was asked for may still stand. */
void gang_slot_unsend(struct gang_slot *slot);
/* All that was asked for its pod is forgotten. */
void gang_slot_forget(struct gang_slot *slot);
/* Makes the slot hold one reservation on that node, or none (NULL). -1: out of memory, none then.
 */
int gang_slot_reserve(struct gang_machine *machine, struct gang *gang, struct gang_slot *slot,
                      const char *node);
/* Another number of slots; those that stay keep what they hold. */
int gang_resize(struct gang_machine *machine, struct gang *gang, uint32_t size);

#endif
