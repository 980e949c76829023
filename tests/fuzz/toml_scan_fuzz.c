/* SPDX-License-Identifier: MIT */
/* TOML: values have paths, texts and lines that go up; a value written alone under its path comes
 * back the same. */
#include "base/tables/toml_scan.h"
#include "tests/fuzz/fuzz_target.h"

struct seen {
    unsigned line;
    size_t count;
    char path[TOML_PAIR_BYTES], text[TOML_PAIR_BYTES];
};

static int note(void *context, const struct toml_value *value, struct error_info *err)
{
    struct seen *seen = context;
    (void)err;
    fuzz_require(value->line >= seen->line && value->line > 0, "lines go down", value->path);
    fuzz_require(strlen(value->path) + strlen(value->text) + 2 <= TOML_PAIR_BYTES, "too long",
                 value->path);
    seen->line = value->line;
    seen->count++;
    snprintf(seen->path, sizeof(seen->path), "%s", value->path);
    snprintf(seen->text, sizeof(seen->text), "%s", value->text);
    return 0;
}

static bool is_plain(const char *text, const char *not_in_it)
{
    return text[strcspn(text, not_in_it)] == '\0';
}

static void check_last(const struct seen *seen)
{
    static const char form[] = "'%s' = '%s'\n";
    char text[2 * TOML_PAIR_BYTES + sizeof(form)];
    struct error_info err = {.kind = ERROR_NONE};
    struct seen back = {.count = 0};
    if (seen->count == 0 || !is_plain(seen->path, "'\n") || !is_plain(seen->text, "'\n"))
        return;
    snprintf(text, sizeof(text), form, seen->path, seen->text);
    if (toml_scan(text, strlen(text), "back", note, &back, &err) < 0)
        fuzz_require(false, err.text, text);
    fuzz_require(back.count == 1 && !strcmp(back.path, seen->path) &&
                     !strcmp(back.text, seen->text),
                 "another value came back", text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct seen seen = {.count = 0};
    char *text = fuzz_text(data, size);
    if (toml_scan(text, size, "fuzz.toml", note, &seen, &err) < 0)
        fuzz_require_error(&err);
    check_last(&seen);
    memory_free(text);
    return 0;
}
