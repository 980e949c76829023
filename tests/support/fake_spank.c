/* SPDX-License-Identifier: MIT */
#include "tests/support/fake_spank.h"
#include <slurm/spank.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLES 64
#define NAME_BYTES 64
#define VALUE_BYTES 70000

static struct variable {
    char name[NAME_BYTES];
    char value[VALUE_BYTES];
} variables[VARIABLES];

static struct fake_step current;
static char last_error[2048], last_notice[2048];
static unsigned error_count, notice_count;

void fake_spank_begin(const struct fake_step *step)
{
    current = *step;
    for (unsigned i = 0; i < VARIABLES; i++)
        variables[i].name[0] = '\0';
    last_error[0] = last_notice[0] = '\0';
    error_count = notice_count = 0;
}

static struct variable *find(const char *name)
{
    for (unsigned i = 0; i < VARIABLES; i++)
        if (!strcmp(variables[i].name, name))
            return &variables[i];
    return NULL;
}

void fake_spank_set(const char *name, const char *value)
{
    struct variable *variable = find(name);
    if (!variable)
        variable = find("");
    if (!variable)
        return;
    snprintf(variable->name, sizeof(variable->name), "%s", name);
    snprintf(variable->value, sizeof(variable->value), "%s", value);
}

const char *fake_spank_get(const char *name)
{
    const struct variable *variable = find(name);
    return variable ? variable->value : NULL;
}

unsigned fake_spank_variables(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < VARIABLES; i++)
        count += variables[i].name[0] != '\0';
    return count;
}

const char *fake_spank_error(void) { return last_error; }

unsigned fake_spank_errors(void) { return error_count; }

unsigned fake_spank_notices(void) { return notice_count; }

spank_err_t spank_getenv(spank_t spank, const char *name, char *buffer, int bytes)
{
    (void)spank;
    const struct variable *variable = find(name);
    if (!variable)
        return ESPANK_ENV_NOEXIST;
    if (bytes <= 0 || strlen(variable->value) >= (size_t)bytes)
        return ESPANK_NOSPACE;
    memcpy(buffer, variable->value, strlen(variable->value) + 1);
    return ESPANK_SUCCESS;
}

spank_err_t spank_setenv(spank_t spank, const char *name, const char *value, int overwrite)
{
    (void)spank;
    if (current.refuses_setenv)
        return ESPANK_NOSPACE;
    if (!overwrite && find(name))
        return ESPANK_ENV_EXISTS;
    fake_spank_set(name, value);
    return ESPANK_SUCCESS;
}

spank_err_t spank_unsetenv(spank_t spank, const char *name)
{
    (void)spank;
    struct variable *variable = find(name);
    if (variable)
        variable->name[0] = '\0';
    return ESPANK_SUCCESS;
}

spank_err_t spank_get_item(spank_t spank, spank_item_t item, ...)
{
    (void)spank;
    const struct {
        spank_item_t item;
        uint32_t value;
    } items[] = {
        {S_JOB_ID, current.job},
        {S_TASK_GLOBAL_ID, current.process},
        {S_JOB_STEPID, current.step},
        {S_JOB_NODEID, current.node},
        {S_JOB_NNODES, current.nodes},
        {S_JOB_LOCAL_TASK_COUNT, current.tasks_on_node},
        {S_JOB_TOTAL_TASK_COUNT, current.tasks},
        {S_JOB_UID, current.uid},
    };
    static char *command[2];
    va_list arguments;
    va_start(arguments, item);
    void *target = va_arg(arguments, void *);
    char ***list = item == S_JOB_ARGV ? va_arg(arguments, char ***) : NULL;
    va_end(arguments);
    if (list && current.program) {
        command[0] = (char *)current.program;
        *(int *)target = 1;
        *list = command;
        return ESPANK_SUCCESS;
    }
    if (item == S_TASK_ID) {
        *(int *)target = current.local_task;
        return ESPANK_SUCCESS;
    }
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++)
        if (items[i].item == item) {
            *(uint32_t *)target = items[i].value;
            return ESPANK_SUCCESS;
        }
    return ESPANK_BAD_ARG;
}

spank_context_t spank_context(void) { return S_CTX_REMOTE; } /* a node's, as all here */

spank_err_t spank_option_register(spank_t spank, struct spank_option *option)
{
    (void)spank;
    (void)option;
    return ESPANK_SUCCESS;
}

void slurm_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_error, sizeof(last_error), format, arguments);
    va_end(arguments);
    error_count++;
}

const char *fake_spank_notice(void) { return last_notice; }

void slurm_info(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last_notice, sizeof(last_notice), format, arguments);
    va_end(arguments);
    notice_count++;
}

/* slurmctld's heap. */
char *slurm_xstrdup(const char *text);
void slurm_xfree(void **pointer);

char *slurm_xstrdup(const char *text) { return strdup(text); }

void slurm_xfree(void **pointer)
{
    free(*pointer);
    *pointer = NULL;
}
