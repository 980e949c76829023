/* SPDX-License-Identifier: MIT */
#include "spank_plugin/place/srun_arguments.h"
#include "base/text_buffer.h"
#include <stdbool.h>
#include <string.h>

/* Short options that take a value, and those that take it only when attached ("-K0"). */
#define SHORT_WITH_VALUE "ABcCdDeFgGiJLmMnNopqrStTUwWx"
#define SHORT_WITH_ATTACHED "IkK"

/* Long options without a value, or with one only after "=": those in use. */
static const char long_without_value[] =
    " contiguous exact exclusive interactive kill-on-bad-exit label multi-prog no-kill overcommit "
    "overlap oversubscribe parplan parplan-report preserve-env propagate pty quiet unbuffered "
    "verbose ";

static const struct wanted_option {
    char name[16];
    char letter; /* '\0': none */
} wanted_options[SRUN_ARGUMENT_COUNT] = {
    [SRUN_NODES] = {"nodes", 'N'},
    [SRUN_TASKS] = {"ntasks", 'n'},
    [SRUN_TASKS_PER_NODE] = {"ntasks-per-node", '\0'},
    [SRUN_EXCLUDED] = {"exclude", 'x'},
    [SRUN_NODE_LIST] = {"nodelist", 'w'},
    [SRUN_RELATIVE] = {"relative", 'r'},
    [SRUN_MPI] = {"mpi", '\0'},
    [SRUN_PARPLAN] = {"parplan", '\0'},
    [SRUN_INTERACTIVE] = {"interactive", '\0'},
};

/* letter '\0': by name, which ends at length. */
static void take(struct srun_arguments *ret, char letter, const char *name, size_t length,
                 const char *value)
{
    for (size_t i = 0; i < SRUN_ARGUMENT_COUNT; i++) {
        const struct wanted_option *option = &wanted_options[i];
        if (letter ? option->letter == letter
                   : strlen(option->name) == length && !memcmp(option->name, name, length))
            ret->values[i] = value;
    }
}

/* Whether the next word is its value. */
static bool read_long(const char *name, const char *next, struct srun_arguments *ret)
{
    size_t length = strcspn(name, "=");
    bool alone = !name[length] && (!next || next[0] == '-' || text_lists(long_without_value, name));
    bool apart = !name[length] && !alone;
    take(ret, '\0', name, length, alone ? "auto" : apart ? next : name + length + 1);
    return apart;
}

static bool read_short(const char *letters, const char *next, struct srun_arguments *ret)
{
    for (; *letters && !strchr(SHORT_WITH_ATTACHED, *letters); letters++) {
        if (!strchr(SHORT_WITH_VALUE, *letters))
            continue;
        bool attached = letters[1] != '\0';
        take(ret, *letters, "", 0, attached ? letters + 1 : next);
        return !attached;
    }
    return false;
}

void srun_arguments_parse(const char *const *arguments, size_t count, struct srun_arguments *ret)
{
    *ret = (struct srun_arguments){.command = 0};
    if (count > SRUN_ARGUMENTS_MAXIMUM)
        count = SRUN_ARGUMENTS_MAXIMUM;
    size_t at = 1;
    for (; at < count && arguments[at][0] == '-' && arguments[at][1]; at++) {
        const char *word = arguments[at] + 1, *next = at + 1 < count ? arguments[at + 1] : NULL;
        if (!strcmp(word, "-")) {
            at++;
            break;
        }
        at += word[0] == '-' ? read_long(word + 1, next, ret) : read_short(word, next, ret);
    }
    ret->command = at < count ? at : count;
}
