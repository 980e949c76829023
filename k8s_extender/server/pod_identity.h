/* SPDX-License-Identifier: MIT */
/*
 * pod_identity: which pod, in which version, a text speaks of: metadata.uid and
 * metadata.resourceVersion, found by a scan that costs a twentieth of a JSON tree. A pod that is
 * known in that version need not be read again. Takes only what the API server really writes (one
 * metadata in the outer object, each of the two once in it, of [A-Za-z0-9-], without escapes);
 * everything else is left to the tree. Where the text is JSON, both find the same. Pure.
 */
#ifndef K8S_EXTENDER_SERVER_POD_IDENTITY_H
#define K8S_EXTENDER_SERVER_POD_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#define IDENTITY_BYTES 64u /* a uid has 36 characters, a version at most 20 */

struct pod_identity {
    char uid[IDENTITY_BYTES], version[IDENTITY_BYTES];
};

/* False: not found in that form; *ret is then unchanged. */
bool pod_identity_scan(const char *text, size_t bytes, struct pod_identity *ret);

#endif
