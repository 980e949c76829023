/* SPDX-License-Identifier: MIT */
/*
 * base64: text of RFC 4648 section 4 back into bytes, as kubeconfig files hold certificates.
 */
#ifndef K8S_EXTENDER_API_CONFIG_BASE64_H
#define K8S_EXTENDER_API_CONFIG_BASE64_H

#include <stddef.h>

/* The bytes (memory_free), with a NUL behind them; blanks and line ends are skipped. NULL: a
 * character that cannot be, bits left over, or out of memory (*ret_bytes is then untouched). */
char *base64_decode(const char *text, size_t *ret_bytes);

#endif
