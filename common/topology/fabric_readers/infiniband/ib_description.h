/* SPDX-License-Identifier: MIT */
/*
 * ib_description: what InfiniBand's node descriptions say. An adapter's is "HOST LABEL…", as
 * "dgx-04 mlx5_5" or "dgx-04 HCA-6", which are the same adapter (HCA-6 counts from 1); until
 * its driver has written that, it is the card's own, as "MT4129 ConnectX7   Mellanox
 * Technologies". A switch's is "MF0;NAME:MODEL/U1", in a chassis "MF0;NAME:MODEL/L01/U1".
 */
#ifndef TOPOLOGY_IB_DESCRIPTION_H
#define TOPOLOGY_IB_DESCRIPTION_H

#include <stddef.h>

#define IB_NAME_BYTES 128u

enum ib_adapter_kind {
    IB_ADAPTER_HOST,
    IB_ADAPTER_AGGREGATION, /* SHARP's, inside a switch */
    IB_ADAPTER_UNNAMED,     /* no host is named */
    IB_ADAPTER_KIND_COUNT
};

/* *ret_label is the text behind the host's name up to the next blank, maybe "". *ret_number is
 * the adapter's in its host, from 0, or FABRIC_NONE. They are set for IB_ADAPTER_HOST only.
 * The text is cut in place. The host's name is taken as it is: no domain is stripped. */
enum ib_adapter_kind ib_description_adapter(char *text, const char **ret_host,
                                            const char **ret_label, unsigned *ret_number);

/* "NAME", "NAME/L01", or the id where the switch has no name of its own. Blanks and what else
 * no node list takes become '_'; longer names are cut. */
void ib_description_switch(const char *text, const char *id, char ret_name[IB_NAME_BYTES]);

#endif
