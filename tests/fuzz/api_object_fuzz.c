/* SPDX-License-Identifier: MIT */
/* What is read of a Lease, of the objects that know a gang's size, and of a Status. */
#include "k8s_extender/api/gang_size.h"
#include "k8s_extender/api/lease_decision.h"
#include "tests/fuzz/fuzz_target.h"

static void check_sizes(const struct json_value *object)
{
    for (int from = GANG_SIZE_GIVEN; from <= GANG_SIZE_OF_KOORDINATOR; from++) {
        struct gang_size size;
        gang_size_read((enum gang_size_from)from, "x", object, &size);
        fuzz_require(size.pods <= GANG_MAXIMUM_PODS, "too many pods", "");
        fuzz_require((size.pods == 0) == (size.problem[0] != '\0'),
                     "neither a size nor a problem, or both", size.problem);
    }
}

static void check_lease(const struct json_value *object)
{
    struct error_info err = {.kind = ERROR_NONE};
    struct lease_record record;
    struct lease_observer observer = {.changed_milliseconds = 0};
    uint64_t left;
    if (lease_record_read(object, &record, &err) < 0) {
        fuzz_require_error(&err);
        return;
    }
    fuzz_require(record.duration_seconds <= LEASE_MAXIMUM_SECONDS, "a duration without end", "");
    enum lease_move move = lease_decide(&observer, &record, "me", 10, 1000, &left);
    fuzz_require(move == (strcmp(record.holder, "me") == 0 ? LEASE_RENEW
                          : record.holder[0]               ? LEASE_WAIT
                                                           : LEASE_TAKE),
                 "another move", record.holder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP_MEMORY char *text = fuzz_text(data, size);
    char words[100];
    const struct api_answer answer = {.status = 500, .body = text, .body_bytes = size};
    api_answer_words(&answer, words, sizeof(words));
    fuzz_require(strlen(words) < sizeof(words), "words without end", "");
    api_status_code(text, size);
    CLEANUP(json_value) struct json_value *object = json_value_parse(text, size, "fuzz", NULL);
    if (!object)
        return 0;
    check_sizes(object);
    check_lease(object);
    return 0;
}
