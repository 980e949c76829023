/* SPDX-License-Identifier: MIT */
#include "cli/output.h"
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* Started without stdin, stdout or stderr, the next file we open would take its number, and
 * an answer would be written into it. */
static void occupy_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
            _exit(EXIT_FAILED);
    }
}

int main(int argc, char **argv)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct command_io io = {.out_is_complaint = false};
    occupy_standard_descriptors();
    signal(SIGPIPE, SIG_IGN);
    text_buffer_init(&io.out, TEXT_BUFFER_REPORT_MAXIMUM);
    output_style_of(STDOUT_FILENO, &io.style);

    enum exit_status status = command_status(command_run(argc, argv, &io, &err), &err);
    if (text_buffer_failed(&io.out)) {
        error_set_memory(&err);
        status = EXIT_FAILED;
    } else if (output_write(io.out_is_complaint ? STDERR_FILENO : STDOUT_FILENO,
                            text_buffer_text(&io.out), io.out.length, &err) < 0) {
        status = EXIT_FAILED;
    }
    text_buffer_done(&io.out);
    if (err.text[0] != '\0')
        output_error(&err);
    return (int)status;
}
