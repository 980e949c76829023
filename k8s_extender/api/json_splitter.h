/* SPDX-License-Identifier: MIT */
/*
 * json_splitter: a stream of JSON from the Kubernetes API, in pieces of any size, into its objects,
 * without keeping more than one of them.
 *
 * SPLIT_LIST: one object {"metadata": {"resourceVersion": …, "continue": …}, "items": [{…}, …]};
 * each element of items is handed over as it is complete. SPLIT_WATCH: objects {"type": …,
 * "object": {…}} one after the other, each handed over with its type and the resourceVersion of
 * its object's metadata.
 *
 * White space and the order of keys do not matter; keys are compared as they are written (one with
 * an escape is none that is known). Structure is checked: brackets, commas, colons, strings; what a
 * word or a number is, and UTF-8, is left to whoever parses the objects. Refused: a known key
 * twice, a known member of another kind. After an error nothing more is taken.
 *
 * What users may write into one object ends no stream. metadata.managedFields of an object, and
 * what lies deeper than SPLITTER_MAXIMUM_DEPTH, is passed over by its brackets and strings alone:
 * null takes its place. Of an object over maximum_object_bytes (without those) only what names it
 * is handed over.
 * Not thread safe.
 */
#ifndef K8S_EXTENDER_API_JSON_SPLITTER_H
#define K8S_EXTENDER_API_JSON_SPLITTER_H

#include "base/error.h"
#include "base/json_document.h"
#include <stdbool.h>
#include <stddef.h>

#define SPLITTER_MAXIMUM_DEPTH (JSON_MAXIMUM_DEPTH + 1) /* an event's object may have all of it */
#define SPLITTER_TEXT_BYTES                                                                        \
    4096u /* of a continue token, a resourceVersion, a type; with its NUL                          \
           */

enum json_split_kind { SPLIT_LIST, SPLIT_WATCH };

struct json_split {
    const char *type;             /* SPLIT_WATCH: "ADDED", "BOOKMARK"; else "" */
    const char *text;             /* of the object, not NUL-terminated; NULL: it is too large */
    size_t bytes;                 /* also where it is too large */
    const char *resource_version; /* SPLIT_WATCH: of the object, "" where it has none; else "" */
    const char *namespace, *name; /* of its metadata, as they are written; "" where it has none, or
                                   * one with an escape */
};

/* Valid during the call. -1 ends the feeding. */
typedef int (*json_split_fn)(void *context, const struct json_split *split);

struct json_splitter;

struct json_splitter *json_splitter_create(enum json_split_kind kind, size_t maximum_object_bytes,
                                           json_split_fn receive, void *context,
                                           struct error_info *err);
void json_splitter_free(struct json_splitter *splitter);
/* -1: malformed, too large, out of memory (err says it); or the receiver ended it (err is as it
 * was). */
int json_splitter_feed(struct json_splitter *splitter, const char *bytes, size_t count,
                       struct error_info *err);
/* The stream has ended: -1 where it should not have (half a list, half an event). */
int json_splitter_finish(const struct json_splitter *splitter, struct error_info *err);
/* SPLIT_LIST, after finish: of the list; "" where it has none. */
const char *json_splitter_resource_version(const struct json_splitter *splitter);
const char *json_splitter_continue(const struct json_splitter *splitter);

DEFINE_CLEANUP(json_splitter);

#endif
