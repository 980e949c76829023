/* SPDX-License-Identifier: MIT */
/*
 * ib_listing: the text that ibnetdiscover would write for a rail-optimised site: units of hosts
 * with one adapter a rail, a leaf for each unit and rail, spines that join the leaves of a unit,
 * cores that join the spines of all units.
 */
#ifndef TESTS_UNIT_TOPOLOGY_IB_LISTING_H
#define TESTS_UNIT_TOPOLOGY_IB_LISTING_H

#include "base/text_buffer.h"

struct ib_site {
    unsigned units, hosts, rails, spines, cores; /* hosts, rails, spines: of a unit */
    unsigned swapped;                            /* host + 1 whose rails 0 and 1 are swapped */
    unsigned crossed;                            /* host + 1 whose rail 2 is in the next unit */
    bool backwards;                              /* the sections in another order */
};

static inline unsigned ib_site_leaf(const struct ib_site *site, unsigned host, unsigned rail)
{
    unsigned unit = host / site->hosts;
    if (host + 1 == site->swapped && rail < 2)
        rail = 1 - rail;
    if (host + 1 == site->crossed && rail == 2)
        unit = (unit + 1) % site->units;
    return unit * site->rails + rail;
}

static inline void ib_listing_head(struct text_buffer *text, const char *kind, unsigned guid,
                                   const char *name)
{
    text_buffer_add(text, "\nvendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x%x\n%sguid=0x%x(%x)\n", guid,
                    kind[0] == 'S' ? "switch" : "ca", guid, guid);
    text_buffer_add(text, "%s\t%u \"%c-%016x\"\t\t# \"%s\"%s\n", kind, kind[0] == 'S' ? 65u : 1u,
                    kind[0] == 'S' ? 'S' : 'H', guid, name,
                    kind[0] == 'S' ? " enhanced port 0 lid 7 lmc 0" : "");
}

static inline void ib_listing_to_switch(struct text_buffer *text, unsigned port, unsigned guid,
                                        unsigned peer_port, const char *name, const char *rate)
{
    text_buffer_add(text, "[%u]\t\"S-%016x\"[%u]\t\t# \"MF0;%s:MQM9700/U1\" lid 3 %s\n", port, guid,
                    peer_port, name, rate);
}

static inline void ib_listing_to_host(struct text_buffer *text, unsigned port, unsigned guid,
                                      const char *description, const char *rate)
{
    text_buffer_add(text, "[%u]\t\"H-%016x\"[1](%x) \t\t# \"%s\" lid 9 %s\n", port, guid, guid,
                    description, rate);
}

enum { IB_LEAF = 0x1000000, IB_SPINE = 0x2000000, IB_CORE = 0x3000000, IB_CARD = 0x4000000 };

static inline void ib_listing_leaf(struct text_buffer *text, const struct ib_site *site,
                                   unsigned leaf)
{
    char name[64];
    unsigned unit = leaf / site->rails, port = 1, first = unit * site->hosts;
    snprintf(name, sizeof(name), "MF0;leaf-%u-%u:MQM9700/U1", unit, leaf % site->rails);
    ib_listing_head(text, "Switch", IB_LEAF + leaf, name);
    for (unsigned i = 0; i <= site->hosts; i++) {
        unsigned host = i < site->hosts ? first + i : site->crossed - 1;
        if (i == site->hosts && (!site->crossed || host / site->hosts == unit))
            break;
        for (unsigned rail = 0; rail < site->rails; rail++) {
            if (ib_site_leaf(site, host, rail) != leaf)
                continue;
            snprintf(name, sizeof(name), "gpu%u mlx5_%u", host, rail);
            ib_listing_to_host(text, port++, IB_CARD + host * 64 + rail, name, "4xNDR");
        }
    }
    for (unsigned s = 0; s < site->spines; s++) {
        snprintf(name, sizeof(name), "spine-%u-%u", unit, s);
        ib_listing_to_switch(text, 40 + s, IB_SPINE + unit * site->spines + s,
                             leaf % site->rails + 1, name, "4xNDR");
    }
}

static inline void ib_listing_spine(struct text_buffer *text, const struct ib_site *site,
                                    unsigned spine)
{
    char name[64];
    unsigned unit = spine / site->spines;
    snprintf(name, sizeof(name), "MF0;spine-%u-%u:MQM9700/U1", unit, spine % site->spines);
    ib_listing_head(text, "Switch", IB_SPINE + spine, name);
    for (unsigned rail = 0; rail < site->rails; rail++) {
        snprintf(name, sizeof(name), "leaf-%u-%u", unit, rail);
        ib_listing_to_switch(text, rail + 1, IB_LEAF + unit * site->rails + rail,
                             40 + spine % site->spines, name, "4xNDR");
    }
    for (unsigned core = 0; core < site->cores; core++) {
        snprintf(name, sizeof(name), "core-%u", core);
        ib_listing_to_switch(text, 33 + core, IB_CORE + core, spine + 1, name, "4xNDR");
    }
}

static inline void ib_listing_core(struct text_buffer *text, const struct ib_site *site,
                                   unsigned core)
{
    char name[64];
    snprintf(name, sizeof(name), "MF0;core-%u:MQM9700/U1", core);
    ib_listing_head(text, "Switch", IB_CORE + core, name);
    for (unsigned spine = 0; spine < site->units * site->spines; spine++) {
        snprintf(name, sizeof(name), "spine-%u-%u", spine / site->spines, spine % site->spines);
        ib_listing_to_switch(text, spine + 1, IB_SPINE + spine, 33 + core, name, "4xNDR");
    }
}

static inline void ib_listing_card(struct text_buffer *text, const struct ib_site *site,
                                   unsigned number)
{
    char name[64];
    unsigned host = number / site->rails, rail = number % site->rails;
    unsigned leaf = ib_site_leaf(site, host, rail), guid = IB_CARD + host * 64 + rail;
    snprintf(name, sizeof(name), "gpu%u mlx5_%u", host, rail);
    ib_listing_head(text, "Ca", guid, name);
    text_buffer_add(
        text, "[1](%x) \t\"S-%016x\"[%u]\t\t# lid 9 lmc 0 \"MF0;leaf-%u-%u:MQM9700/U1\" ", guid,
        IB_LEAF + leaf, host % site->hosts + 1, leaf / site->rails, leaf % site->rails);
    text_buffer_add_text(text, "lid 3 4xNDR\n");
}

static inline void ib_listing_write(struct text_buffer *text, const struct ib_site *site)
{
    static void (*const writers[])(struct text_buffer *, const struct ib_site *, unsigned) = {
        ib_listing_leaf, ib_listing_spine, ib_listing_core, ib_listing_card};
    const unsigned counts[] = {site->units * site->rails, site->units * site->spines, site->cores,
                               site->units * site->hosts * site->rails};
    text_buffer_init(text, (size_t)256 << 20);
    text_buffer_add_text(text, "#\n# Topology file: generated on a day\n#\n");
    for (unsigned k = 0; k < 4; k++) {
        unsigned kind = site->backwards ? 3 - k : k;
        for (unsigned i = 0; i < counts[kind]; i++)
            writers[kind](text, site, site->backwards ? counts[kind] - 1 - i : i);
    }
}

#endif
