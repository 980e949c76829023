/* SPDX-License-Identifier: MIT */
/*
 * input_remedy: what to do about an input that is nothing: a file that is not there, is a device or
 * is empty, or a name that is none. What stands in a file has its remedy from whoever read it.
 */
#ifndef CLI_INPUTS_INPUT_REMEDY_H
#define CLI_INPUTS_INPUT_REMEDY_H

#include "base/error.h"

/* Puts "; <remedy>" behind an ERROR_INPUT that has none, where `name` is no file with content. err
 * may be NULL. Always returns -1. */
int input_remedy_add(const char *name, const char *remedy, struct error_info *err);

#endif
