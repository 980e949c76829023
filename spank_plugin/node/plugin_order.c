/* SPDX-License-Identifier: MIT */
#include "spank_plugin/node/plugin_order.h"
#include "spank_plugin/plugin_log.h"
#include <link.h>
#include <stdbool.h>
#include <string.h>

/* Objects come in the order in which Slurm loaded them, that of plugstack.conf. */
static int look_for_late_pyxis(struct dl_phdr_info *object, size_t bytes, void *seen)
{
    (void)bytes;
    if (strstr(object->dlpi_name, "/spank_parplan.so"))
        *(bool *)seen = true;
    return *(bool *)seen && strstr(object->dlpi_name, "/spank_pyxis.so");
}

void plugin_order_check(void)
{
    bool seen = false;
    if (dl_iterate_phdr(look_for_late_pyxis, &seen))
        plugin_notice("warning: spank_pyxis.so comes after spank_parplan.so in plugstack.conf, and "
                      "overwrites RANK in containers; install parplan's line as zz-parplan.conf");
}
