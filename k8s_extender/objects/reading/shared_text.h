/* SPDX-License-Identifier: MIT */
/*
 * shared_text: texts that many records have in common (label keys, namespaces, the topology of a
 * kind of node), each kept once and counted. Of 5,000 nodes with 85 labels each this saves 20 MB.
 * Thread safe: one mutex, held for the look-up only. The table is freed with its last text.
 */
#ifndef K8S_EXTENDER_OBJECTS_READING_SHARED_TEXT_H
#define K8S_EXTENDER_OBJECTS_READING_SHARED_TEXT_H

/* One more reference to the copy of that text that all share. NULL: out of memory. */
const char *shared_text_take(const char *text);
/* One less; only of what shared_text_take gave. NULL is fine. */
void shared_text_release(const char *text);

#endif
