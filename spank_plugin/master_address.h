/* SPDX-License-Identifier: MIT */
/*
 * master_address: how the tasks reach RANK 0's node: by its name; by its NodeAddr where the
 * admins gave one and the name does not resolve here; or as the admins' file says.
 */
#ifndef SPANK_PLUGIN_MASTER_ADDRESS_H
#define SPANK_PLUGIN_MASTER_ADDRESS_H

#include "spank_plugin/step_facts.h"

/* choice: "name", "address", or NULL (find out). */
void master_address_find(const struct step_facts *facts, const char *node, const char *choice,
                         char *ret, size_t bytes);

#endif
