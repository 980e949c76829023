/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "base/text_buffer.h"
#include "base/text_file.h"
#include "planner/efficiency_catalogue.h"
#include <string.h>

static void builtin_has_every_default(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    CLEANUP(efficiency_catalogue)
    struct efficiency_catalogue *catalogue = efficiency_catalogue_builtin(&err);
    if (!catalogue) {
        fail_msg("%s", err.text);
        return;
    }
    const struct efficiency_architecture *other = efficiency_of_architecture(catalogue, "no such");
    assert_true(other && strcmp(other->name, EFFICIENCY_DEFAULT_ROW) == 0);
    assert_ptr_equal(efficiency_of_architecture(catalogue, NULL), other);
    const struct efficiency_architecture *hopper = efficiency_of_architecture(catalogue, "hopper");
    assert_true(hopper && strcmp(hopper->name, "hopper") == 0);
    const struct efficiency_framework *unfused =
        efficiency_of_framework(catalogue, "megatron-deepspeed");
    assert_true(unfused && !unfused->fused_attention);
    const struct efficiency_framework *plain = efficiency_of_framework(catalogue, "deepspeed");
    assert_true(plain && !plain->interleaves);
    const struct efficiency_framework *fallback =
        efficiency_of_framework(catalogue, "megatron-core");
    assert_true(fallback && fallback->fused_attention);
    const struct efficiency_network *wire = efficiency_of_network(catalogue, "infiniband");
    assert_true(wire && strcmp(wire->name, "infiniband") == 0);
    assert_string_equal(efficiency_of_network(catalogue, "carrier pigeon")->name,
                        EFFICIENCY_DEFAULT_ROW);
    assert_int_equal(strcmp(catalogue->protocols[0].name, "ll"), 0);
    for (size_t i = 0; i < catalogue->architecture_count; i++)
        assert_true(strlen(catalogue->architectures[i].source) > 0);
    efficiency_catalogue_free(NULL);
}

struct change {
    const char *from, *to; /* first occurrence of the compiled-in text */
    const char *message;   /* part of the error */
};

static const struct change broken[] = {
    {"parplan.efficiencies/1", "parplan.efficiencies/9", "schema"},
    {"nvlink_share: 0.80", "nvlink_share: 1.80", "nvlink_share"},
    {"pcie_share: 0.76", "pcie_shares: 0.76", "pcie_shares"},
    {"  - name: default", "  - name: other", "default"},
    {"name: ll,", "name: ll, more: 1,", "more"},
    {"tight_share: 0.08", "", "tight_share"},
};

static void broken_files_are_refused(void **state)
{
    (void)state;
    struct error_info why = {.kind = ERROR_NONE};
    size_t bytes = 0;
    CLEANUP_MEMORY char *file =
        text_file_read("common/planner/data/efficiencies.yaml", (size_t)1 << 20, &bytes, &why);
    assert_non_null(file);
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        const char *at = strstr(file, broken[i].from);
        assert_non_null(at);
        text_buffer_init(&text, (size_t)1 << 20);
        text_buffer_add_bytes(&text, file, (size_t)(at - file));
        text_buffer_add_text(&text, broken[i].to);
        text_buffer_add_text(&text, at + strlen(broken[i].from));
        assert_false(text_buffer_failed(&text));
        assert_null(
            efficiency_catalogue_parse(text_buffer_text(&text), text.length, "e.yaml", &err));
        if (!strstr(err.text, broken[i].message))
            fail_msg("%s: \"%s\" does not name it", broken[i].message, err.text);
    }
}

static void short_lists_are_refused(void **state)
{
    (void)state;
    static const char text[] = "schema: parplan.efficiencies/1\nsource: x\nnvlink_share: 0.8\n"
                               "pcie_share: 0.8\n"
                               "assumed_nic_bytes_per_second: 1e9\ntight_share: 0.1\n"
                               "spread_loss_collective: 0.1\nspread_loss_message: 0.2\n"
                               "host_memory_bytes_per_second: 1e9\nnvme_bytes_per_second: 1e9\n"
                               "architectures: []\nframeworks: []\nprotocols: []\n"
                               "networks: []\n";
    struct error_info err = {.kind = ERROR_NONE};
    assert_null(efficiency_catalogue_parse(text, sizeof(text) - 1, "e.yaml", &err));
    assert_non_null(strstr(err.text, "architectures"));
}

static int scenario(void *context, struct error_info *err)
{
    (void)context;
    CLEANUP(efficiency_catalogue)
    struct efficiency_catalogue *catalogue = efficiency_catalogue_builtin(err);
    return catalogue ? 0 : -1;
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, NULL);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_has_every_default),
        cmocka_unit_test(broken_files_are_refused),
        cmocka_unit_test(short_lists_are_refused),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("planner/efficiency_catalogue", tests, COUNT_OF(tests));
}
