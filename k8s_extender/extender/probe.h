/* SPDX-License-Identifier: MIT */
/*
 * probe: the question of a probe to another parplan-extender, for images without a shell and
 * listeners that no kubelet reaches: GET of a URL, as "http://127.0.0.1:8888/readyz".
 */
#ifndef K8S_EXTENDER_EXTENDER_PROBE_H
#define K8S_EXTENDER_EXTENDER_PROBE_H

#include "base/error.h"

#define PROBE_SECONDS 3u
#define PROBE_URL_BYTES 512u

/* 0: it answers 200. -1: it does not, and why in one line (ERROR_SYSTEM); or the URL is none
 * (ERROR_INPUT). Who serves https is not judged: a probe tells it nothing. */
int probe_ask(const char *url, struct error_info *err);

#endif
