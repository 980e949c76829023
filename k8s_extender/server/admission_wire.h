/* SPDX-License-Identifier: MIT */
/*
 * admission_wire: AdmissionReview of admission.k8s.io/v1, as the API server posts it to a webhook
 * and wants it back: allowed, allowed with a JSON Patch, or denied with a code and one sentence.
 * Hostile input: everything is checked.
 */
#ifndef K8S_EXTENDER_SERVER_ADMISSION_WIRE_H
#define K8S_EXTENDER_SERVER_ADMISSION_WIRE_H

#include "base/error.h"
#include "base/json_document.h"
#include "base/text_buffer.h"

/* The API server takes 3 MiB of a request; a review, which holds what is and what was, may be
 * larger: it is refused, and so is what it was about (failurePolicy). */
#define ADMISSION_BODY_MAXIMUM_BYTES ((size_t)3 << 20)
#define ADMISSION_MAXIMUM_VALUES 50000u /* openings and commas: 20 MB of a tree at the worst */

struct admission_question {
    const char *uid;                          /* comes back in the answer */
    const char *kind, *namespace, *operation; /* "Pod", "default", "CREATE"; "": not given */
    const char *user;                         /* userInfo.username */
    const struct json_value *object;          /* NULL: none (DELETE) */
    const struct json_value *old_object;      /* NULL: none (CREATE) */
    struct json_value *document;              /* owns all of them */
};

struct admission_question *admission_question_parse(const char *text, size_t bytes,
                                                    struct error_info *err);
void admission_question_free(struct admission_question *question);

/* patch: an array of operations; NULL or empty: unchanged. Out of memory shows in the buffer. */
void admission_write_allowed(const struct admission_question *question,
                             const struct json_value *patch, struct text_buffer *out);
void admission_write_denied(const struct admission_question *question, unsigned code,
                            const char *message, struct text_buffer *out);

DEFINE_CLEANUP(admission_question);

#endif
