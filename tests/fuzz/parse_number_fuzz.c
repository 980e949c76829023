/* SPDX-License-Identifier: MIT */
#include "base/parse_number.h"
#include "base/text_buffer.h"
#include "tests/fuzz/fuzz_target.h"

#include <float.h>
#include <math.h>

static void check_unsigned(const char *text)
{
    uint64_t number = 0, back = 1;
    struct error_info err = {.kind = ERROR_NONE};
    if (parse_unsigned(text, 0, UINT64_MAX, &number, &err) < 0) {
        fuzz_require_error(&err);
        return;
    }
    char written[32];
    snprintf(written, sizeof(written), "%llu", (unsigned long long)number);
    fuzz_require(parse_unsigned(written, number, number, &back, NULL) == 0 && back == number,
                 "another number came back", text);
}

static void check_signed(const char *text)
{
    int64_t number = 0, back = 1;
    struct error_info err = {.kind = ERROR_NONE};
    if (parse_signed(text, INT64_MIN, INT64_MAX, &number, &err) < 0) {
        fuzz_require_error(&err);
        return;
    }
    char written[32];
    snprintf(written, sizeof(written), "%lld", (long long)number);
    fuzz_require(parse_signed(written, number, number, &back, NULL) == 0 && back == number,
                 "another number came back", text);
}

/* All 17 digits bring the same double back; fewer bring the rounded one. */
static void check_real(const char *text)
{
    double number = 0;
    struct error_info err = {.kind = ERROR_NONE};
    if (parse_real(text, -DBL_MAX, DBL_MAX, &number, &err) < 0) {
        fuzz_require_error(&err);
        return;
    }
    for (unsigned digits = 1; digits <= 17; digits++) {
        CLEANUP_DONE(text_buffer) struct text_buffer written;
        text_buffer_init(&written, 100);
        text_buffer_add_real(&written, number, digits);
        double back = 0, rounded = round_significant(number, digits);
        fuzz_require(parse_real(text_buffer_text(&written), -DBL_MAX, DBL_MAX, &back, NULL) == 0,
                     "what we wrote is refused", text_buffer_text(&written));
        fuzz_require(back == rounded, "another number came back", text_buffer_text(&written));
        fuzz_require(digits < 17 || back == number, "17 digits are not exact", text);
        fuzz_require(round_significant(rounded, digits) == rounded, "rounding moves on", text);
    }
}

static void check_others(const char *text)
{
    uint64_t number;
    bool truth;
    struct error_info err = {.kind = ERROR_NONE};
    if (parse_hexadecimal(text, UINT64_MAX, &number, &err) < 0)
        fuzz_require_error(&err);
    if (parse_bytes(text, &number, &err) < 0)
        fuzz_require_error(&err);
    if (parse_boolean(text, &truth, &err) < 0)
        fuzz_require_error(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    check_unsigned(text);
    check_signed(text);
    check_real(text);
    check_others(text);
    double number;
    if (size == sizeof(number)) { /* also as the bits of any double */
        memcpy(&number, data, sizeof(number));
        CLEANUP_DONE(text_buffer) struct text_buffer written;
        text_buffer_init(&written, 100);
        text_buffer_add_real(&written, number, 17);
        if (isfinite(number))
            check_real(text_buffer_text(&written));
    }
    return 0;
}
