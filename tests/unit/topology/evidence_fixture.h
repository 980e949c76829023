/* SPDX-License-Identifier: MIT */
/*
 * evidence_fixture: node_evidence as short texts, for tests of node readers.
 */
#ifndef TESTS_UNIT_TOPOLOGY_EVIDENCE_FIXTURE_H
#define TESTS_UNIT_TOPOLOGY_EVIDENCE_FIXTURE_H

#include "tests/unit/topology/topology_fixture.h"

#include "base/text_buffer.h"
#include "topology/node_evidence.h"

#define EVIDENCE_FIXTURE_BYTES 65536u

/* Numbers of links, a row for each GPU: "0 4,4 0"; '?' where unknown; "-": there are none. */
static inline void expect_link_counts(const struct node_evidence *evidence, const char *expected)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, EVIDENCE_FIXTURE_BYTES);
    unsigned n = evidence->nvlink_link_counts ? evidence->gpu_count : 0;
    for (unsigned i = 0; i < n * n; i++) {
        text_buffer_add_text(&text, i == 0 ? "" : i % n == 0 ? "," : " ");
        if (evidence->nvlink_link_counts[i] == NVLINK_COUNT_UNKNOWN)
            text_buffer_add_text(&text, "?");
        else
            text_buffer_add(&text, "%u", evidence->nvlink_link_counts[i]);
    }
    assert_string_equal(n > 0 ? text_buffer_text(&text) : "-", expected);
}

/* Classes of rows x columns, a row for each GPU: "unknown sys,sys unknown"; "-": there are none. */
static inline void expect_classes(const enum link_kind *links, unsigned rows, unsigned columns,
                                  const char *expected)
{
    CLEANUP_DONE(text_buffer) struct text_buffer text;
    text_buffer_init(&text, EVIDENCE_FIXTURE_BYTES);
    for (unsigned i = 0; links && i < rows * columns; i++)
        text_buffer_add(&text, "%s%s",
                        i == 0             ? ""
                        : i % columns == 0 ? ","
                                           : " ",
                        link_kind_name(links[i]));
    assert_string_equal(links ? text_buffer_text(&text) : "-", expected);
}

static inline void expect_gpu_links(const struct node_evidence *evidence, const char *expected)
{
    expect_classes(evidence->gpu_links, evidence->gpu_count, evidence->gpu_count, expected);
}

static inline void expect_nic_links(const struct node_evidence *evidence, const char *expected)
{
    expect_classes(evidence->nic_links, evidence->gpu_count, evidence->nic_count, expected);
}

/* Some note has this part. */
static inline void expect_note(const struct node_evidence *evidence, const char *part)
{
    for (size_t i = 0; i < evidence->note_count; i++)
        if (strstr(evidence->notes[i], part))
            return;
    fail_msg("no note has '%s'; the first is '%s'", part,
             evidence->note_count > 0 ? evidence->notes[0] : "none at all");
}

static inline void expect_no_notes(const struct node_evidence *evidence)
{
    if (evidence->note_count > 0)
        fail_msg("there is a note: %s", evidence->notes[0]);
}

#endif
