/* SPDX-License-Identifier: MIT */
/*
 * plugin_order: whether pyxis comes after us in plugstack.conf: in a container whose image has
 * PYTORCH_VERSION it would write RANK over the plan's (pyxis_slurmstepd.c, pytorch_setup).
 */
#ifndef SPANK_PLUGIN_NODE_PLUGIN_ORDER_H
#define SPANK_PLUGIN_NODE_PLUGIN_ORDER_H

/* In slurmstepd, once its plugins are loaded: one warning in slurmd's log where spank_pyxis.so
 * was loaded after spank_parplan.so. Never fails. */
void plugin_order_check(void);

#endif
