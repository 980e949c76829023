/* SPDX-License-Identifier: MIT */
#include "spank_plugin/master_address.h"
#include <netdb.h>
#include <stdio.h>
#include <string.h>

static bool resolves(const char *name)
{
    struct addrinfo *found = NULL;
    const struct addrinfo wanted = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    if (getaddrinfo(name, NULL, &wanted, &found) != 0)
        return false;
    freeaddrinfo(found);
    return true;
}

void master_address_find(const struct step_facts *facts, const char *node, const char *choice,
                         char *ret, size_t bytes)
{
    char address[NODE_LIST_NAME_BYTES];
    snprintf(ret, bytes, "%s", node);
    if (choice && !strcmp(choice, "name"))
        return;
    node_address_read(facts, node, address, sizeof(address));
    /* Only a NodeAddr that differs costs a look-up: a broken resolver can take seconds. */
    bool differs = strcmp(address, node) != 0;
    if (differs && (choice || !resolves(node)))
        snprintf(ret, bytes, "%s", address);
}
