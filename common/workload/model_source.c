/* SPDX-License-Identifier: MIT */
#include "workload/model_source.h"
#include "base/text_file.h"
#include <string.h>
#include <strings.h>

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), wanted = strlen(ending);
    return length >= wanted && strcasecmp(text + length - wanted, ending) == 0;
}

static struct model_spec *open_file(const char *path, struct error_info *err)
{
    size_t bytes;
    CLEANUP_MEMORY char *text = text_file_read(path, MODEL_FILE_MAXIMUM_BYTES, &bytes, err);
    if (!text)
        return NULL;
    if (ends_with(path, ".json"))
        return model_spec_parse_config(text, bytes, path, err);
    return model_spec_parse_yaml(text, bytes, path, err);
}

struct model_spec *model_source_open(const char *name, const struct model_catalogue *catalogue,
                                     struct error_info *err)
{
    bool file = ends_with(name, ".json") || ends_with(name, ".yaml") || ends_with(name, ".yml");
    if (file || name[0] == '/' || name[0] == '.')
        return open_file(name, err);
    /* Preset aliases hold a '/' too ("meta-llama/…"), so they come before paths. */
    const struct model_spec *preset = model_catalogue_find(catalogue, name, err);
    return preset ? model_spec_copy(preset, err) : error_null(text_file_explain_name(name, err));
}
