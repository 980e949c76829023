/* SPDX-License-Identifier: MIT */
#include "base/text_file.h"
#include "k8s_extender/api/api_client.h"

#include <string.h>

#define PEM_MAXIMUM_BYTES ((size_t)4 << 20)

bool api_text_is_pem(const char *text, enum api_pem kind)
{
    static const char *const ends[] = {
        [API_PEM_CERTIFICATE] = "CERTIFICATE-----", [API_PEM_KEY] = "PRIVATE KEY-----"};
    for (const char *begin = text; (begin = strstr(begin, "-----BEGIN ")); begin++) {
        const char *end = strstr(begin, ends[kind]);
        if (end && !memchr(begin, '\n', (size_t)(end - begin)))
            return true;
    }
    return false;
}

static int check_pem(const char *path, enum api_pem kind, struct error_info *err)
{
    size_t bytes;
    CLEANUP_MEMORY char *text = path ? text_file_read(path, PEM_MAXIMUM_BYTES, &bytes, err) : NULL;
    if (!path)
        return 0;
    if (!text)
        return -1;
    return api_text_is_pem(text, kind)
               ? 0
               : error_set(err, "%s: it holds no %s in PEM form", path, api_pem_words[kind]);
}

int api_config_check(const struct api_config *config, struct error_info *err)
{
    CLEANUP(api_client) struct api_client *client = api_client_create(config, err);
    if (!client || check_pem(config->ca_file, API_PEM_CERTIFICATE, err) < 0 ||
        check_pem(config->certificate_file, API_PEM_CERTIFICATE, err) < 0 ||
        check_pem(config->key_file, API_PEM_KEY, err) < 0)
        return -1;
    CLEANUP_MEMORY char *token =
        config->token_file ? api_token_read(config->token_file, err) : NULL;
    return config->token_file && !token ? -1 : 0;
}

const char *const api_pem_words[] = {
    [API_PEM_CERTIFICATE] = "certificate", [API_PEM_KEY] = "private key"};

/* --- tokens ------------------------------------------------------------------------- */

bool api_token_is_clean(const char *token)
{
    for (const char *at = token; *at; at++)
        if (*at <= ' ' || *at > '~')
            return false;
    return token[0] != '\0';
}

char *api_token_read(const char *path, struct error_info *err)
{
    size_t bytes;
    char *text = text_file_read(path, API_TOKEN_MAXIMUM_BYTES, &bytes, err);
    if (!text)
        return NULL;
    text[strcspn(text, " \t\r\n")] = '\0';
    if (api_token_is_clean(text))
        return text;
    memory_free(text);
    return error_null(error_set(err, "%s: it holds no token", path));
}
