/* SPDX-License-Identifier: MIT */
/*
 * placement_rival: where Scotch and METIS put the blocks of a fragmented case, as child
 * processes in a folder of the caller (Debian: scotch, metis). Both get the blocks as a graph
 * whose edges weigh what they cost more on the farthest links than on the nearest, and a vertex
 * without edges for each spare node.
 *   Scotch maps onto the tree: `scotch_gmap` with strict balance, twice, and with some slack, a
 * tleaf target with holes (sub), each level as far as its links are slow. METIS parts the graph
 * into leaves (or NVLink domains) by -tpwgts, with several seeds, by recursive bisection and
 * directly; it knows no tiers above. An answer that puts more on a leaf than it holds is mended by
 * the cheapest moves out of it.
 */
#ifndef TESTS_SUPPORT_PLACEMENT_RIVAL_H
#define TESTS_SUPPORT_PLACEMENT_RIVAL_H

#include "tests/support/fragmented_case.h"

enum placement_rival { RIVAL_SCOTCH, RIVAL_METIS, RIVAL_COUNT };

struct rival_answer {
    double seconds; /* exposed, of its cheapest answer once it is feasible; INFINITY: none */
    unsigned runs;
    unsigned failed;     /* runs that ended badly, without an answer */
    unsigned mended;     /* runs whose answer broke a capacity */
    double milliseconds; /* of all runs together, wall time */
};

const char *rival_name(enum placement_rival rival);
bool rival_is_installed(enum placement_rival rival);
/* cluster: of the case without a naming. seeds: METIS runs of each kind. */
int rival_place(const struct fragmented_case *sample, const struct cluster_topology *cluster,
                enum placement_rival rival, const char *folder, unsigned seeds,
                struct rival_answer *ret, struct error_info *err);

#endif
