/* SPDX-License-Identifier: MIT */
/*
 * number_text: numbers with units for people, three significant digits. Returned by value:
 * `text_table_add(table, number_bytes(x).text)`. The same on every compiler and locale.
 */
#ifndef REPORT_NUMBER_TEXT_H
#define REPORT_NUMBER_TEXT_H

#include <stdint.h>

struct number_text {
    char text[32];
};

struct number_text number_bytes(uint64_t bytes);              /* "61.2 GiB"; 0: "0" */
struct number_text number_bytes_real(double bytes);           /* the same for modelled bytes */
struct number_text number_gib(uint64_t bytes);                /* "61.2": in GiB, no unit */
struct number_text number_bandwidth(double bytes_per_second); /* "450 GB/s"; 0: "?" */
struct number_text number_network(double bytes_per_second);   /* "400 Gb/s"; 0: "?" */
struct number_text number_seconds(double seconds);            /* "21.3 s", "4.2 ms"; 0: "0" */
struct number_text number_si(double value);         /* "394 k", "70.6 G"; plain below 1000 */
struct number_text number_parameters(double count); /* "70.6 B", "125 M" */
struct number_text number_percent(double share);    /* 0.431: "43.1 %" */
struct number_text number_grouped(uint64_t value);  /* "70,553,706,496" */
struct number_text number_index(int index);         /* negative: "-" */

#endif
