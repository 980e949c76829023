/* SPDX-License-Identifier: MIT */
/* Model files and lists of presets: no crash; every preset that was read is found by name. */
#include "workload/model_spec.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_model(const struct model_spec *model)
{
    struct model_parameters count;
    struct error_info err = {0};
    if (model_spec_check(model, &err) < 0)
        abort();
    if (model_parameters_count(model, &count, &err) == 0 && count.active > count.total)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct error_info err = {0};
    CLEANUP(model_spec)
    struct model_spec *model = model_spec_parse_yaml(text, size, "model.yaml", &err);
    if (model)
        check_model(model);
    else if (strncmp(err.text, "model.yaml", 10) != 0 || strchr(err.text, '\n'))
        abort();
    CLEANUP(model_catalogue)
    struct model_catalogue *catalogue = model_catalogue_parse(text, size, "models.yaml", &err);
    for (size_t i = 0; catalogue && i < model_catalogue_count(catalogue); i++) {
        const struct model_spec *preset = model_catalogue_at(catalogue, i);
        check_model(preset);
        if (!model_catalogue_find(catalogue, preset->name, NULL))
            abort();
    }
    return 0;
}
