/* SPDX-License-Identifier: MIT */
#include "cli/doctor/slurm_text.h"
#include "tests/support/unit_test.h"

#include <string.h>

static void finds_settings(void **state)
{
    (void)state;
    static const struct {
        const char *text, *key;
        const char *want; /* NULL: not there */
    } rows[] = {
        {"PluginDir               = /a:/b\n", "PluginDir", "/a:/b"},
        {"PluginDir=/a", "PluginDir", "/a"},
        {"plugindir=/a \t\n", "PluginDir", "/a"},
        {"  PluginDir=/a # why\n", "PluginDir", "/a"},
        {"#PluginDir=/a\nPluginDir=/b\n", "PluginDir", "/b"},
        {"PluginDirs=/a\n", "PluginDir", NULL},
        {"PluginDir=\nPluginDir=/b\n", "PluginDir", NULL},
        {"PluginDir = (null)\n", "PluginDir", NULL},
        {"PluginDir = (null) more\n", "PluginDir", "(null) more"},
        {"MpiParams = ports=1-2\n", "MpiParams", "ports=1-2"},
        {"PluginDir /a\n", "PluginDir", NULL},
        {"PluginDir=0123456789012345\n", "PluginDir", NULL}, /* longer than its room */
        {"", "PluginDir", NULL},
        {NULL, "PluginDir", NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char value[16] = "before";
        assert_int_equal(slurm_setting_find(rows[i].text, rows[i].key, value, sizeof(value)),
                         rows[i].want != NULL);
        assert_string_equal(value, rows[i].want ? rows[i].want : "");
    }
}

static void reads_versions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t want;
        const char *release, *whole;
    } rows[] = {
        {"slurm-wlm 22.05.8\n", 0x160508, "22.05", "22.05.8"},
        {"slurm 24.11.5\n", 0x180b05, "24.11", "24.11.5"},
        {"24.11.0-0rc1", 0x180b00, "24.11", "24.11.0"},
        {"slurm 26.05.5-1", 0x1a0505, "26.05", "26.05.5"},
        {"slurm", 0, NULL, NULL},
        {"slurm 22.05", 0, NULL, NULL},
        {"v22.05.8", 0, NULL, NULL},
        {"22.1234.5", 0, NULL, NULL},
        {"22.256.5", 0, NULL, NULL},
        {"", 0, NULL, NULL},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[SLURM_VERSION_BYTES];
        assert_int_equal(slurm_version_parse(rows[i].text), rows[i].want);
        if (!rows[i].want)
            continue;
        slurm_version_write(rows[i].want, false, text);
        assert_string_equal(text, rows[i].release);
        slurm_version_write(rows[i].want, true, text);
        assert_string_equal(text, rows[i].whole);
    }
    assert_true(slurm_version_same_release(0x160508, 0x160507));
    assert_false(slurm_version_same_release(0x160508, 0x170208));
    assert_false(slurm_version_same_release(0x160508, 0x160608));
}

static void finds_nodes(void **state)
{
    (void)state;
    static const char text[] =
        "NodeName=n1 Gres=gpu:h100:8(S:0-1) NodeAddr=a NodeHostName=host1 Comment=Gres=no\n"
        "NodeName=n10 NodeHostName=n1-ipmi\nNodeName=gpu.site NodeHostName=gpu.site\n";
    char value[64];
    const char *line = slurm_node_find(text, "n1");
    assert_ptr_equal(line, text);
    assert_true(slurm_node_value(line, "Gres", value, sizeof(value)));
    assert_string_equal(value, "gpu:h100:8(S:0-1)");
    assert_ptr_equal(slurm_node_find(text, "host1.example.com"), text);
    assert_ptr_equal(slurm_node_find(text, "n10"), strchr(text, '\n') + 1);
    assert_non_null(slurm_node_find(text, "gpu.site"));
    assert_null(slurm_node_find(text, "host"));
    assert_null(slurm_node_find(text, "n100"));
    assert_null(slurm_node_find("", "n1"));
    /* not in the next line */
    assert_false(slurm_node_value(slurm_node_find(text, "n10"), "Gres", value, sizeof(value)));
    assert_string_equal(value, "");
    assert_false(slurm_node_value(line, "NodeHostName", value, 5));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_settings),
        cmocka_unit_test(reads_versions),
        cmocka_unit_test(finds_nodes),
    };
    return unit_test_main("cli/slurm_text", tests, COUNT_OF(tests));
}
