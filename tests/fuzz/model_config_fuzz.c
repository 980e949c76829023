/* SPDX-License-Identifier: MIT */
/* config.json: no crash; a model that was read passes its own check, and its counts add up. */
#include "workload/model_spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {0};
    struct model_parameters count;
    CLEANUP(model_spec)
    struct model_spec *model =
        model_spec_parse_config((const char *)data, size, "config.json", &err);
    if (!model) {
        if (strncmp(err.text, "config.json", 11) != 0 || strchr(err.text, '\n'))
            abort();
        return 0;
    }
    if (model_spec_check(model, &err) < 0 || strchr(model->name, '\n'))
        abort();
    if (model_parameters_count(model, &count, &err) == 0 &&
        (count.active > count.total || count.total < count.embedding + count.head))
        abort();
    return 0;
}
