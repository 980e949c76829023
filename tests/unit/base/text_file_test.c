/* SPDX-License-Identifier: MIT */
#include "base/text_file.h"
#include "tests/support/unit_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#define FILE_MAXIMUM ((size_t)1 << 20)

static char folder[] = "/tmp/parplan_text_file.XXXXXX";
static char path[128];

static void write_file(const char *name, const char *text, size_t bytes, mode_t mode)
{
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, bytes), (ssize_t)bytes);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

/* The message with the folder's own name, which differs in each run, left out. */
static const char *without_folder(struct error_info *err)
{
    static char text[ERROR_TEXT_BYTES];
    char *write = text;
    size_t bytes = strlen(folder);
    for (const char *read = err->text; *read;) {
        if (strncmp(read, folder, bytes) == 0) {
            *write++ = 'F';
            read += bytes;
        } else {
            *write++ = *read++;
        }
    }
    *write = '\0';
    return text;
}

static void reads_whole_files(void **state)
{
    (void)state;
    static char big[100000];
    memset(big, 'x', sizeof(big));
    static const struct {
        const char *text;
        size_t bytes;
    } rows[] = {{"", 0},      {"text\n", 5}, {"a\0b", 3},       {big, 16383},
                {big, 16384}, {big, 16385},  {big, sizeof(big)}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        write_file("file", rows[i].text, rows[i].bytes, 0600);
        size_t bytes = 77;
        struct error_info err = {0};
        CLEANUP_MEMORY char *text = text_file_read(path, FILE_MAXIMUM, &bytes, &err);
        if (!text)
            fail_msg("%s", err.text);
        assert_int_equal(bytes, rows[i].bytes);
        assert_memory_equal(text, rows[i].text, bytes);
        assert_memory_equal(text + bytes, "", 1);
    }
}

static void reads_files_without_a_true_size(void **state)
{
    (void)state;
    size_t bytes = 0;
    struct error_info err = {0};
    CLEANUP_MEMORY char *text = text_file_read("/proc/self/smaps", FILE_MAXIMUM, &bytes, &err);
    if (!text)
        fail_msg("%s", err.text);
    assert_true(bytes > 0);
}

static void reports_read_errors(void **state)
{
    (void)state;
    size_t bytes = 0;
    struct error_info err = {0};
    assert_null(text_file_read("/proc/self/mem", FILE_MAXIMUM, &bytes, &err));
    assert_string_equal(err.text, "/proc/self/mem: Input/output error");
    assert_int_equal(err.kind, ERROR_SYSTEM);
}

static void respects_the_maximum(void **state)
{
    (void)state;
    write_file("file", "12345", 5, 0600);
    size_t bytes = 77;
    struct error_info err = {0};
    CLEANUP_MEMORY char *text = text_file_read(path, 5, &bytes, &err);
    assert_non_null(text);
    assert_int_equal(bytes, 5);
    CLEANUP_MEMORY char *unlimited = text_file_read(path, SIZE_MAX, &bytes, &err);
    assert_non_null(unlimited);
    assert_null(text_file_read(path, 4, &bytes, &err));
    assert_string_equal(without_folder(&err),
                        "F/file: the file is larger than the 4 bytes that are read");
    assert_int_equal(bytes, 5);
}

static void refuses_what_is_no_file(void **state)
{
    (void)state;
    size_t bytes;
    struct error_info err = {0};
    assert_null(text_file_read("/nowhere/file", 10, &bytes, &err));
    assert_string_equal(err.text, "/nowhere/file: No such file or directory");
    assert_int_equal(err.kind, ERROR_INPUT);
    assert_null(text_file_read(folder, 10, &bytes, &err));
    assert_string_equal(without_folder(&err), "F: not a regular file");
    assert_null(text_file_read("/dev/zero", 10, &bytes, &err));
    assert_string_equal(err.text, "/dev/zero: not a regular file");
    snprintf(path, sizeof(path), "%s/fifo", folder);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(text_file_read(path, 10, &bytes, &err)); /* does not wait for a writer */
    assert_string_equal(without_folder(&err), "F/fifo: not a regular file");
    struct error_info trusted_err = {0};
    char *text = NULL;
    assert_int_equal(text_file_read_trusted(path, getuid(), 10, &text, &bytes, &trusted_err),
                     TEXT_FILE_UNSAFE);
    assert_string_equal(without_folder(&trusted_err), "F/fifo is not a regular file");
    unlink(path);
}

static void trusts_what_only_the_owner_can_write(void **state)
{
    (void)state;
    write_file("admin.yaml", "enabled: true\n", 14, 0644);
    CLEANUP_MEMORY char *text = NULL;
    size_t bytes = 0;
    struct error_info err = {0};
    enum text_file_trust trust =
        text_file_read_trusted(path, getuid(), FILE_MAXIMUM, &text, &bytes, &err);
    if (trust != TEXT_FILE_OK)
        fail_msg("%s", err.text);
    assert_string_equal(text, "enabled: true\n");
    assert_int_equal(bytes, 14);
}

struct unsafe_row {
    mode_t folder_mode, mode;
    enum text_file_trust want;
    const char *error;
};

static const struct unsafe_row unsafe_rows[] = {
    {0700, 0600, TEXT_FILE_OK, ""},
    {0755, 0444, TEXT_FILE_OK, ""},
    {0700, 0666, TEXT_FILE_UNSAFE,
     "F/admin.yaml is writable by others (mode 0666); run chmod go-w 'F/admin.yaml'"},
    {0700, 0664, TEXT_FILE_UNSAFE,
     "F/admin.yaml is writable by its group (mode 0664); run chmod go-w 'F/admin.yaml'"},
    {0777, 0600, TEXT_FILE_UNSAFE, "F is writable by others (mode 0777); run chmod go-w 'F'"},
    {01777, 0600, TEXT_FILE_UNSAFE, "F is writable by others (mode 1777); run chmod go-w 'F'"},
    {0775, 0600, TEXT_FILE_UNSAFE, "F is writable by its group (mode 0775); run chmod go-w 'F'"},
};

static void refuses_what_others_can_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(unsafe_rows); i++) {
        write_file("admin.yaml", "x", 1, unsafe_rows[i].mode);
        assert_int_equal(chmod(folder, unsafe_rows[i].folder_mode), 0);
        char *text = NULL;
        size_t bytes;
        struct error_info err = {0};
        enum text_file_trust trust =
            text_file_read_trusted(path, getuid(), FILE_MAXIMUM, &text, &bytes, &err);
        memory_free(text);
        chmod(folder, 0700);
        assert_int_equal(trust, unsafe_rows[i].want);
        assert_string_equal(without_folder(&err), unsafe_rows[i].error);
    }
}

static void refuses_another_owner(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip(); /* only root can give a file away */
    char *text = NULL;
    size_t bytes;
    struct error_info err = {0};
    write_file("admin.yaml", "x", 1, 0600);
    assert_int_equal(chown(path, 12345, 0), 0);
    assert_int_equal(text_file_read_trusted(path, 0, 10, &text, &bytes, &err), TEXT_FILE_UNSAFE);
    assert_string_equal(without_folder(&err),
                        "F/admin.yaml is owned by user 12345; run chown 0 'F/admin.yaml'");
    assert_int_equal(text_file_read_trusted(path, 12345, 10, &text, &bytes, &err), TEXT_FILE_OK);
    memory_free(text);
}

static void refuses_links(void **state)
{
    (void)state;
    write_file("real", "x", 1, 0600);
    char link[256];
    snprintf(link, sizeof(link), "%s/link", folder);
    assert_int_equal(symlink("real", link), 0);
    char *text = NULL;
    size_t bytes;
    struct error_info err = {0};
    assert_int_equal(text_file_read_trusted(link, getuid(), 10, &text, &bytes, &err),
                     TEXT_FILE_UNSAFE);
    assert_string_equal(without_folder(&err),
                        "F/link is a symbolic link; put the file itself there");
    unlink(link);
}

static void refuses_sockets(void **state)
{
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    char *text = NULL;
    size_t bytes;
    struct error_info err = {0};
    assert_int_equal(text_file_read_trusted(address.sun_path, getuid(), 10, &text, &bytes, &err),
                     TEXT_FILE_UNSAFE);
    assert_string_equal(without_folder(&err), "F/socket is not a regular file");
    unlink(address.sun_path);
}

static void tells_missing_from_failed(void **state)
{
    (void)state;
    char *text = NULL;
    size_t bytes;
    struct error_info err = {0};
    snprintf(path, sizeof(path), "%s/absent", folder);
    assert_int_equal(text_file_read_trusted(path, getuid(), 10, &text, &bytes, &err),
                     TEXT_FILE_MISSING);
    assert_string_equal(without_folder(&err), "F/absent does not exist");
    assert_int_equal(text_file_read_trusted("/nowhere/x", 0, 10, &text, &bytes, &err),
                     TEXT_FILE_MISSING);
    assert_string_equal(err.text, "/nowhere does not exist");
    write_file("file", "12345", 5, 0600);
    assert_int_equal(text_file_read_trusted(path, getuid(), 4, &text, &bytes, &err),
                     TEXT_FILE_FAILED);
    assert_string_equal(without_folder(&err),
                        "F/file: the file is larger than the 4 bytes that are read");
    char below[160];
    snprintf(below, sizeof(below), "%s/below", path);
    assert_int_equal(text_file_read_trusted(below, getuid(), 10, &text, &bytes, &err),
                     TEXT_FILE_FAILED);
    assert_string_equal(without_folder(&err), "F/file: Not a directory");
    assert_int_equal(text_file_read_trusted("", 0, 4, &text, &bytes, &err), TEXT_FILE_FAILED);
    assert_string_equal(err.text, "'' is not the path of a file");
    assert_int_equal(text_file_read_trusted("/etc/", 0, 4, &text, &bytes, &err), TEXT_FILE_FAILED);
    assert_string_equal(err.text, "'/etc/' is not the path of a file");
    assert_int_equal(text_file_read_trusted("/absent", 0, 4, &text, &bytes, &err),
                     TEXT_FILE_MISSING);
    assert_string_equal(err.text, "/absent does not exist");
    assert_null(text);
}

static void drops_a_byte_order_mark(void **state)
{
    (void)state;
    static const struct {
        const char *text, *read;
    } rows[] = {{"\xef\xbb\xbf"
                 "a: 1\n",
                 "a: 1\n"},
                {"\xef\xbb\xbf", ""},
                {"\xef\xbb", "\xef\xbb"}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        write_file("file", rows[i].text, strlen(rows[i].text), 0600);
        size_t bytes = 77;
        CLEANUP_MEMORY char *text = text_file_read(path, FILE_MAXIMUM, &bytes, NULL);
        assert_non_null(text);
        assert_string_equal(text, rows[i].read);
        assert_int_equal(bytes, strlen(rows[i].read));
    }
}

static void explains_a_name_that_is_a_path(void **state)
{
    (void)state;
    char name[128];
    struct error_info err = {0};
    error_set(&err, "nothing is called so");
    assert_int_equal(text_file_explain_name("", &err), -1);
    assert_int_equal(text_file_explain_name("no such name", &err), -1);
    assert_int_equal(text_file_explain_name("tests", NULL), -1);
    assert_string_equal(err.text, "nothing is called so");
    assert_int_equal(text_file_explain_name("tests", &err), -1);
    assert_string_equal(err.text, "tests is a folder here; give a file in it, as ./tests/FILE");
    assert_int_equal(text_file_explain_name("Makefile", &err), -1);
    assert_string_equal(err.text, "Makefile is a file here; give ./Makefile");
    write_file("file", "x", 1, 0600);
    assert_int_equal(text_file_explain_name(path, &err), -1);
    assert_string_equal(without_folder(&err), "F/file is a file here; give F/file");
    snprintf(name, sizeof(name), "%s/fifo", folder);
    unlink(name);
    assert_int_equal(mkfifo(name, 0600), 0);
    assert_int_equal(text_file_explain_name(name, &err), -1);
    assert_string_equal(without_folder(&err),
                        "F/fifo here is no regular file; give the path of one");
    error_set_memory(&err);
    assert_int_equal(text_file_explain_name("tests", &err), -1);
    assert_int_equal(err.kind, ERROR_MEMORY);
}

static void writes_whole_or_not_at_all(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    char name[160];
    write_file("file", "old", 3, 0600);
    assert_int_equal(text_file_write(path, "newer", 5, 0640, &err), 0);
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600); /* the old one's */
    size_t bytes = 0;
    CLEANUP_MEMORY char *text = text_file_read(path, FILE_MAXIMUM, &bytes, &err);
    assert_non_null(text);
    assert_string_equal(text, "newer");
    snprintf(name, sizeof(name), "%s/absent/file", folder);
    assert_int_equal(text_file_write(name, "x", 1, 0644, &err), -1);
    assert_string_equal(without_folder(&err),
                        "F/absent/file cannot be written: No such file or directory");
    err = (struct error_info){.kind = ERROR_NONE};
    assert_int_equal(text_file_write(folder, "x", 1, 0644, &err), -1); /* a folder is no file */
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries));)
        assert_null(strstr(entry->d_name, ".new."));
    closedir(entries);
}

/* A device or a FIFO is written to, a link followed, mode kept: nothing is put in their place. */
static void creates_but_does_not_replace(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct stat status;
    size_t bytes = 0;
    write_file("file", "old", 3, 0600);
    assert_int_equal(text_file_create(path, "newer", 5, 0644, &err), -1);
    assert_string_equal(without_folder(&err), "F/file cannot be written: File exists");
    CLEANUP_MEMORY char *old = text_file_read(path, FILE_MAXIMUM, &bytes, &err);
    assert_non_null(old);
    assert_string_equal(old, "old");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(text_file_create(path, "newer", 5, 0600, &err), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(status.st_nlink, 1);
    CLEANUP_MEMORY char *fresh = text_file_read(path, FILE_MAXIMUM, &bytes, &err);
    assert_non_null(fresh);
    assert_string_equal(fresh, "newer");
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries));)
        assert_null(strstr(entry->d_name, ".new."));
    closedir(entries);
}

static void writes_through_what_is_no_file(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct stat status;
    char link_path[160], fifo[160], read_back[16] = "";
    /* A null device of our own, where we may make one: a fault here must not cost the real one. */
    snprintf(fifo, sizeof(fifo), "%s/null", folder);
    unlink(fifo);
    if (mknod(fifo, S_IFCHR | 0600, makedev(1, 3)) == 0) {
        assert_int_equal(text_file_write(fifo, "x", 1, 0644, &err), 0);
        assert_int_equal(stat(fifo, &status), 0);
        assert_true(S_ISCHR(status.st_mode));
        unlink(fifo);
    }
    snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
    unlink(fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int reader = open(fifo, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(text_file_write(fifo, "through", 7, 0644, &err), 0);
    assert_int_equal(read(reader, read_back, sizeof(read_back)), 7);
    close(reader);
    unlink(fifo);
    write_file("file", "old", 3, 0640);
    snprintf(link_path, sizeof(link_path), "%s/link", folder);
    unlink(link_path);
    assert_int_equal(symlink("file", link_path), 0);
    assert_int_equal(text_file_write(link_path, "new", 3, 0644, &err), 0);
    assert_int_equal(lstat(link_path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
    mode_t mask = umask(077);
    unlink(path);
    assert_int_equal(text_file_write(path, "new", 3, 0644, &err), 0);
    umask(mask);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    unlink(link_path);
}

static int read_scenario(void *context, struct error_info *err)
{
    size_t bytes;
    CLEANUP_MEMORY char *text = text_file_read(context, FILE_MAXIMUM, &bytes, err);
    return text ? 0 : -1;
}

static void fails_cleanly(void **state)
{
    (void)state;
    write_file("file", "12345", 5, 0600);
    unit_test_expect_clean_failures(read_scenario, path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_whole_files),
    cmocka_unit_test(reads_files_without_a_true_size),
    cmocka_unit_test(reports_read_errors),
    cmocka_unit_test(respects_the_maximum),
    cmocka_unit_test(refuses_what_is_no_file),
    cmocka_unit_test(trusts_what_only_the_owner_can_write),
    cmocka_unit_test(refuses_what_others_can_write),
    cmocka_unit_test(refuses_another_owner),
    cmocka_unit_test(refuses_links),
    cmocka_unit_test(refuses_sockets),
    cmocka_unit_test(tells_missing_from_failed),
    cmocka_unit_test(drops_a_byte_order_mark),
    cmocka_unit_test(explains_a_name_that_is_a_path),
    cmocka_unit_test(writes_whole_or_not_at_all),
    cmocka_unit_test(creates_but_does_not_replace),
    cmocka_unit_test(writes_through_what_is_no_file),
    cmocka_unit_test(fails_cleanly),
};

static void remove_folder(void)
{
    static const char *const names[] = {"file", "fifo", "admin.yaml", "real", "link", "socket"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    int result = unit_test_main("base/text_file", tests, COUNT_OF(tests));
    remove_folder();
    return result;
}
