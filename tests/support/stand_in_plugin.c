/* SPDX-License-Identifier: MIT */
/*
 * A SPANK plugin beside ours in tests. Its arguments, each on its own:
 *     name=value   user_init sets the variable, as a site's plugin or gres.conf's env_uuid would
 *     name=        user_init removes it
 *     pyxis        as pyxis 0.24: task_init goes into another mount namespace, where the folders
 *                  of hide=A,B are empty, and where PYTORCH_VERSION is set it writes RANK and
 *                  LOCAL_RANK from SLURM_PROCID and SLURM_LOCALID
 *     hide=A,B     see there
 */
#include <sched.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>

#define TEXT_BYTES 4096

SPANK_PLUGIN(stand_in, 1)

static int set_variable(spank_t spank, const char *argument)
{
    char name[TEXT_BYTES];
    const char *equals = strchr(argument, '=');
    snprintf(name, sizeof(name), "%.*s", (int)(equals - argument), argument);
    if (equals[1])
        return spank_setenv(spank, name, equals + 1, 1) == ESPANK_SUCCESS ? 0 : -1;
    spank_unsetenv(spank, name);
    return 0;
}

int slurm_spank_user_init(spank_t spank, int argument_count, char **arguments)
{
    for (int i = 0; i < argument_count; i++)
        if (strchr(arguments[i], '=') && strncmp(arguments[i], "hide=", 5) != 0 &&
            set_variable(spank, arguments[i]) < 0)
            return -1;
    return 0;
}

static int hide_folders(const char *list)
{
    char folders[TEXT_BYTES];
    snprintf(folders, sizeof(folders), "%s", list);
    if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
        return -1;
    for (char *folder = folders; folder;) {
        char *next = strchr(folder, ',');
        if (next)
            *next++ = '\0';
        if (mount("none", folder, "tmpfs", 0, NULL) < 0)
            return -1;
        folder = next;
    }
    return 0;
}

static void copy_variable(spank_t spank, const char *from, const char *to)
{
    char value[TEXT_BYTES];
    if (spank_getenv(spank, from, value, sizeof(value)) == ESPANK_SUCCESS)
        spank_setenv(spank, to, value, 1);
}

int slurm_spank_task_init(spank_t spank, int argument_count, char **arguments)
{
    char value[TEXT_BYTES];
    int is_pyxis = 0;
    for (int i = 0; i < argument_count; i++) {
        is_pyxis |= !strcmp(arguments[i], "pyxis");
        if (!strncmp(arguments[i], "hide=", 5) && hide_folders(arguments[i] + 5) < 0) {
            slurm_error("stand_in: no mount namespace: %m");
            return -1;
        }
    }
    if (is_pyxis &&
        spank_getenv(spank, "PYTORCH_VERSION", value, sizeof(value)) == ESPANK_SUCCESS) {
        copy_variable(spank, "SLURM_PROCID", "RANK");
        copy_variable(spank, "SLURM_LOCALID", "LOCAL_RANK");
    }
    return 0;
}
