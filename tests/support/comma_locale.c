/* SPDX-License-Identifier: MIT */
#include "tests/support/comma_locale.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
void __lsan_disable(void);
void __lsan_enable(void);
#endif

/* What localedef makes of: decimal_point ","; thousands_sep "."; grouping 3;3. */
static const unsigned char numeric_file[] = {
    0x14, 0x11, 0x03, 0x20, 0x06, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x22, 0x00, 0x00, 0x00,
    0x24, 0x00, 0x00, 0x00, 0x28, 0x00, 0x00, 0x00, 0x2c, 0x00, 0x00, 0x00, 0x30, 0x00, 0x00, 0x00,
    ',',  0x00, '.',  0x00, 0x03, 0x03, 0x00, 0x00, ',',  0x00, 0x00, 0x00, '.',  0x00, 0x00, 0x00,
    'A',  'N',  'S',  'I',  '_',  'X',  '3',  '.',  '4',  '-',  '1',  '9',  '6',  '8',  0x00,
};

static bool write_numeric_file(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool written = fwrite(numeric_file, sizeof(numeric_file), 1, file) == 1;
    return fclose(file) == 0 && written;
}

/* glibc itself loses what it makes of LOCPATH. */
static void ignore_leaks(bool ignore)
{
#ifdef __SANITIZE_ADDRESS__
    if (ignore)
        __lsan_disable();
    else
        __lsan_enable();
#else
    (void)ignore;
#endif
}

locale_t comma_locale_create(void)
{
    char folder[] = "/tmp/parplan_locale.XXXXXX";
    char locale_folder[64], path[96];
    locale_t comma = (locale_t)0;
    if (!mkdtemp(folder))
        return comma;
    snprintf(locale_folder, sizeof(locale_folder), "%s/comma", folder);
    snprintf(path, sizeof(path), "%s/LC_NUMERIC", locale_folder);
    if (mkdir(locale_folder, 0700) == 0 && write_numeric_file(path) &&
        setenv("LOCPATH", folder, 1) == 0) {
        ignore_leaks(true);
        comma = newlocale(LC_NUMERIC_MASK, "comma", (locale_t)0);
        ignore_leaks(false);
        unsetenv("LOCPATH");
    }
    unlink(path);
    rmdir(locale_folder);
    rmdir(folder);
    return comma;
}
