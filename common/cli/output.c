/* SPDX-License-Identifier: MIT */
#include "cli/output.h"
#include "base/yaml_writer.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NARROWEST 60u
#define WIDEST 140u

int output_document(struct json_value *document, enum output_format format, struct command_io *io,
                    struct error_info *err)
{
    CLEANUP(json_value) struct json_value *owned = document;
    if (!owned)
        return err && err->kind != ERROR_NONE ? -1 : error_set_memory(err);
    if (format == FORMAT_YAML)
        return yaml_value_write(owned, &io->out, err);
    if (json_value_write(owned, JSON_STYLE_PRETTY, &io->out, err) < 0)
        return -1;
    if (io->out.length > 0 && io->out.text[io->out.length - 1] != '\n')
        text_buffer_add_text(&io->out, "\n");
    return 0;
}

int output_json_text(struct text_buffer *json, enum output_format format, struct command_io *io,
                     struct error_info *err)
{
    if (text_buffer_failed(json))
        return error_set_memory(err);
    if (format != FORMAT_YAML) {
        text_buffer_add_bytes(&io->out, text_buffer_text(json), json->length);
        return 0;
    }
    struct json_value *document =
        json_value_parse(text_buffer_text(json), json->length, "the document", err);
    return document ? output_document(document, format, io, err) : -1;
}

void output_style_of(int fd, struct text_style *ret)
{
    *ret = (struct text_style){.colour = false, .width = TEXT_STYLE_DEFAULT_WIDTH};
    if (!isatty(fd))
        return;
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    ret->colour = !(no_colour && no_colour[0]) && terminal && strcmp(terminal, "dumb") != 0;
    struct winsize size = {.ws_col = 0};
    if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
        return;
    ret->width = size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
    if (ret->width > WIDEST)
        ret->width = WIDEST;
}

int output_write(int fd, const char *text, size_t bytes, struct error_info *err)
{
    while (bytes > 0) {
        ssize_t written = write(fd, text, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EPIPE)
            return -1; /* whoever read has enough: nothing to say */
        if (written < 0)
            return error_set_system(err, "standard output: %s", error_errno_text(errno));
        text += written;
        bytes -= (size_t)written;
    }
    return 0;
}

void output_error(const struct error_info *err)
{
    char line[ERROR_TEXT_BYTES + 16];
    int length = snprintf(line, sizeof(line), "parplan: %s\n", err->text);
    if (length > 0)
        (void)output_write(STDERR_FILENO, line, (size_t)length, NULL);
}
