/* SPDX-License-Identifier: MIT */
#include "base/text_buffer.h"
#include "k8s_extender/api/api_client.h"
#include "tests/fuzz/fuzz_target.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error_info err = {.kind = ERROR_NONE};
    char path[64];
    int fd = memfd_create("kubeconfig", MFD_CLOEXEC);
    fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size, "no memory file", "");
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    struct api_config *config = api_config_kubeconfig(path, NULL, &err);
    close(fd);
    if (!config) {
        fuzz_require_error(&err);
        return 0;
    }
    fuzz_require(config->server && config->namespace, "a configuration without a server", "");
    struct api_client *client = api_client_create(config, &err);
    if (!client)
        fuzz_require_error(&err);
    api_client_free(client);
    api_config_free(config);
    return 0;
}
