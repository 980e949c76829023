/* SPDX-License-Identifier: MIT */
#include "base/data_file.h"
#include <string.h>

/* Made by embed_data.sh. */
extern const struct data_file data_file_table[];
extern const size_t data_file_table_count;

const struct data_file *data_file_find(const char *name)
{
    for (size_t i = 0; i < data_file_table_count; i++)
        if (strcmp(data_file_table[i].name, name) == 0)
            return &data_file_table[i];
    return NULL;
}
