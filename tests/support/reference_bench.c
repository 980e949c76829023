/* SPDX-License-Identifier: MIT */
#include "tests/support/reference_bench.h"

#include <string.h>

int reference_bench_init(struct reference_bench *ret, const char *text, struct error_info *err)
{
    *ret = (struct reference_bench){.gpus = gpu_catalogue_builtin(err)};
    if (ret->gpus)
        ret->references = mfu_reference_catalogue_parse(text, strlen(text), "references.yaml", err);
    ret->arena = ret->references ? arena_create(1 << 20) : NULL;
    if (ret->references && !ret->arena)
        return error_set_memory(err);
    return ret->arena ? 0 : -1;
}

void reference_bench_done(struct reference_bench *bench)
{
    arena_free(bench->arena);
    mfu_reference_catalogue_free(bench->references);
    gpu_catalogue_free(bench->gpus);
}
