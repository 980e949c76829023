/* SPDX-License-Identifier: MIT */
/*
 * remarks: what the plugin's build leaves out (-DPLUGIN_BUILD, with link-time optimisation).
 * It shows neither facts with their sources nor warnings of nodes and fabrics nor why a NIC has
 * its role, and merges one source at a time. The functions ask these constants, and the compiler
 * drops what only serves reports and comparisons, with its texts.
 */
#ifndef TOPOLOGY_REMARKS_H
#define TOPOLOGY_REMARKS_H

#ifdef PLUGIN_BUILD
#define REMARKS_KEPT 0
#define REMARK(text) NULL
#else
#define REMARKS_KEPT 1
#define REMARK(text) text
#endif

#endif
