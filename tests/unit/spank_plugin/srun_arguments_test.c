/* SPDX-License-Identifier: MIT */
#include "base/text_buffer.h"
#include "spank_plugin/place/srun_arguments.h"
#include "tests/support/unit_test.h"
#include <string.h>

#define WORDS 12

static size_t count_words(const char *const *words)
{
    size_t count = 0;
    while (count < WORDS && words[count])
        count++;
    return count;
}

/* "command: nodes tasks tasks_per_node excluded node_list mpi parplan interactive", "-": none. */
static void write_found(const struct srun_arguments *found, struct text_buffer *out)
{
    text_buffer_add(out, "%zu:", found->command);
    for (size_t i = 0; i < SRUN_ARGUMENT_COUNT; i++)
        text_buffer_add(out, " %s", found->values[i] ? found->values[i] : "-");
}

static void reads_sruns_own_options(void **state)
{
    (void)state;
    static const struct {
        const char *words[WORDS];
        const char *found;
    } rows[] = {
        {{"srun"}, "1: - - - - - - - - -"},
        {{"srun", "x", "-N5"}, "1: - - - - - - - - -"},
        {{"srun", "-N2", "-n", "16", "x", "-n9"}, "4: 2 16 - - - - - - -"},
        {{"srun", "--nodes=2", "--ntasks", "16", "--ntasks-per-node=8", "x"},
         "5: 2 16 8 - - - - - -"},
        {{"srun", "-lN", "4", "-uK0", "-I", "x"}, "5: 4 - - - - - - - -"},
        {{"srun", "--exact", "--mpi=pmi2", "--parplan", "x", "--mpi=none"},
         "4: - - - - - pmi2 auto - -"},
        {{"srun", "--parplan=tp=8", "--parplan=tp=4,place=slurm", "--", "-x"},
         "4: - - - - - - tp=4,place=slurm - -"},
        {{"srun", "-J", "name", "-xn01", "--nodelist", "n02", "x"}, "6: - - - n01 n02 - - - -"},
        {{"srun", "-r2", "x"}, "2: - - - - - - - - 2"},
        {{"srun", "--relative=1", "x"}, "2: - - - - - - - - 1"},
        {{"srun", "--interactive", "--pty", "bash", "-n4"}, "3: - - - - - - - auto -"},
        /* Of another plugin: the next word is its value, unless it is an option. */
        {{"srun", "--container-image", "a", "--container-writable", "-n2", "x"},
         "5: - 2 - - - - - - -"},
        {{"srun", "--parplan-report", "--mp", "1", "-", "-n3"}, "4: - - - - - - - - -"},
        {{"srun", "-n"}, "2: - - - - - - - - -"},
        {{"srun", "--ntasks"}, "2: - auto - - - - - - -"},
        {{"srun", "--", "-N2"}, "2: - - - - - - - - -"},
        {{"srun", "--="}, "2: - - - - - - - - -"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct srun_arguments got;
        CLEANUP_DONE(text_buffer) struct text_buffer text;
        text_buffer_init(&text, 4096);
        srun_arguments_parse(rows[i].words, count_words(rows[i].words), &got);
        write_found(&got, &text);
        if (!text_buffer_failed(&text))
            assert_string_equal(text_buffer_text(&text), rows[i].found);
    }
}

static void stops_at_its_limit(void **state)
{
    (void)state;
    static const char *words[SRUN_ARGUMENTS_MAXIMUM + 10];
    struct srun_arguments got;
    for (size_t i = 0; i < COUNT_OF(words); i++)
        words[i] = i + 2 < COUNT_OF(words) ? "-l" : "-N2";
    srun_arguments_parse(words, COUNT_OF(words), &got);
    assert_int_equal(got.command, SRUN_ARGUMENTS_MAXIMUM);
    assert_null(got.values[SRUN_NODES]);
    srun_arguments_parse(words, 0, &got);
    assert_int_equal(got.command, 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_sruns_own_options),
        cmocka_unit_test(stops_at_its_limit),
    };
    return unit_test_main("spank_plugin/srun_arguments", tests, COUNT_OF(tests));
}
