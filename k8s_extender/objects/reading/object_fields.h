/* SPDX-License-Identifier: MIT */
/*
 * object_fields: members of an object of the API, each of the kind that it must be. A member that
 * is missing or null is left out: 0, and *ret is NULL (or stays as it was, for a number or a
 * truth). A member of another kind is an error that names it; the caller says whose it is. NULL for
 * the object is an object without members. Texts and values belong to the tree.
 */
#ifndef K8S_EXTENDER_OBJECTS_READING_OBJECT_FIELDS_H
#define K8S_EXTENDER_OBJECTS_READING_OBJECT_FIELDS_H

#include "base/error.h"
#include "base/json_document.h"

#define OBJECT_NAME_MAXIMUM_BYTES 253u /* a DNS subdomain, as names and namespaces are */

int object_field_object(const struct json_value *object, const char *name,
                        const struct json_value **ret, struct error_info *err);
int object_field_list(const struct json_value *object, const char *name, size_t maximum,
                      const struct json_value **ret, struct error_info *err);
int object_field_text(const struct json_value *object, const char *name, const char **ret,
                      struct error_info *err);
int object_field_truth(const struct json_value *object, const char *name, bool *ret,
                       struct error_info *err);
/* Whether a text can be a name: 1 to 253 bytes of printable ASCII without blanks and '/'. */
bool object_name_is_good(const char *name);
/* For lists whose limit is of no interest here: walking them costs what reading them did. */
#define OBJECT_LIST_UNLIMITED SIZE_MAX

#endif
