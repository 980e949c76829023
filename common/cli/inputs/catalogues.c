/* SPDX-License-Identifier: MIT */
#include "cli/inputs/catalogues.h"
#include "base/data_file.h"
#include "base/text_file.h"
#include "validation/calibration/calibration.h"
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define PATH_BYTES 4096

#define DATA_FILES                                                                                 \
    "gpus.yaml, node_presets.yaml, models.yaml, frameworks.yaml, efficiencies.yaml, "              \
    "mfu_references.yaml"

struct data_source {
    const char *directory;
    unsigned found;
};

/* The file's text, or NULL: with err when it is there and cannot be read, without when the
 * directory does not have it. */
static char *read_override(struct data_source *source, const char *name, char path[PATH_BYTES],
                           size_t *ret_bytes, bool *ret_failed, struct error_info *err)
{
    *ret_failed = false;
    if (!source->directory)
        return NULL;
    int length = snprintf(path, PATH_BYTES, "%s/%s", source->directory, name);
    if (length < 0 || length >= PATH_BYTES) {
        *ret_failed = true;
        error_set(err, "--data: the path is longer than %d bytes", PATH_BYTES - 1);
        return NULL;
    }
    if (access(path, F_OK) < 0 && errno == ENOENT)
        return NULL;
    source->found++;
    char *text = text_file_read(path, DATA_FILE_MAXIMUM_BYTES, ret_bytes, err);
    *ret_failed = !text;
    return text;
}

/* One catalogue: its own file where the directory has one, else the compiled-in data. */
#define OPEN_CATALOGUE(noun, file_name)                                                            \
    static struct noun##_catalogue *open_##noun(struct data_source *source,                        \
                                                struct error_info *err)                            \
    {                                                                                              \
        char path[PATH_BYTES];                                                                     \
        size_t bytes = 0;                                                                          \
        bool failed;                                                                               \
        CLEANUP_MEMORY char *text = read_override(source, file_name, path, &bytes, &failed, err);  \
        if (failed)                                                                                \
            return NULL;                                                                           \
        return text ? noun##_catalogue_parse(text, bytes, path, err)                               \
                    : noun##_catalogue_builtin(err);                                               \
    }

OPEN_CATALOGUE(gpu, "gpus.yaml")
OPEN_CATALOGUE(preset, "node_presets.yaml")
OPEN_CATALOGUE(model, "models.yaml")
OPEN_CATALOGUE(framework, "frameworks.yaml")
OPEN_CATALOGUE(efficiency, "efficiencies.yaml")
OPEN_CATALOGUE(mfu_reference, "mfu_references.yaml")

static int open_all(struct catalogues *catalogues, struct data_source *source,
                    struct error_info *err)
{
    if (!(catalogues->gpus = open_gpu(source, err)) ||
        !(catalogues->presets = open_preset(source, err)) ||
        !(catalogues->models = open_model(source, err)) ||
        !(catalogues->frameworks = open_framework(source, err)) ||
        !(catalogues->efficiencies = open_efficiency(source, err)) ||
        !(catalogues->mfu_references = open_mfu_reference(source, err)))
        return -1;
    if (source->directory && source->found == 0)
        return error_set(err, "--data: %s has none of %s", source->directory, DATA_FILES);
    return 0;
}

static int calibrate(struct catalogues *catalogues, const char *path, struct error_info *err)
{
    if (!path)
        return 0;
    CLEANUP(calibration) struct calibration *calibration = calibration_load(path, err);
    if (!calibration)
        return -1;
    if (calibration_apply(calibration, catalogues->gpus, catalogues->efficiencies, err) < 0)
        return error_prefix(err, "%s", path);
    return 0;
}

int catalogues_open(struct catalogues *catalogues, const char *directory, const char *calibration,
                    struct error_info *err)
{
    struct data_source source = {.directory = directory};
    *catalogues = (struct catalogues){.gpus = NULL};
    if (open_all(catalogues, &source, err) == 0 && calibrate(catalogues, calibration, err) == 0)
        return 0;
    catalogues_done(catalogues);
    return -1;
}

void catalogues_done(struct catalogues *catalogues)
{
    gpu_catalogue_free(catalogues->gpus);
    preset_catalogue_free(catalogues->presets);
    model_catalogue_free(catalogues->models);
    framework_catalogue_free(catalogues->frameworks);
    efficiency_catalogue_free(catalogues->efficiencies);
    mfu_reference_catalogue_free(catalogues->mfu_references);
    *catalogues = (struct catalogues){.gpus = NULL};
}
