/* SPDX-License-Identifier: MIT */
#include "cli/inputs/run_options.h"

#include "base/parse_number.h"
#include <stdio.h>
#include <string.h>

#define NUMBER_BYTES 64u
#define DIGITS "0123456789"

static int bad_range(const char *text, unsigned maximum, struct error_info *err)
{
    return error_set(err, "\"%.64s\" is no range; write FIRST-LAST, up to %u, as %s", text, maximum,
                     maximum > 16 ? "12-16" : "1-2");
}

static size_t separator_length(const char *text)
{
    return strncmp(text, "..", 2) == 0 ? 2 : text[0] == '-';
}

int run_options_read_range(const char *text, unsigned maximum, unsigned *ret_first,
                           unsigned *ret_last, struct error_info *err)
{
    size_t length = strspn(text, DIGITS);
    const char *rest = text + length;
    size_t separator = separator_length(rest);
    char first_text[NUMBER_BYTES];
    uint64_t first, last;
    if (separator == 0 || length >= sizeof(first_text))
        return bad_range(text, maximum, err);
    snprintf(first_text, sizeof(first_text), "%.*s", (int)length, text);
    if (parse_unsigned(first_text, 1, maximum, &first, NULL) < 0 ||
        parse_unsigned(rest + separator, 1, maximum, &last, NULL) < 0 || first > last)
        return bad_range(text, maximum, err);
    *ret_first = (unsigned)first;
    *ret_last = (unsigned)last;
    return 0;
}

void run_options_take_nodes(struct command_options *options)
{
    const char *text = options->nodes;
    size_t first = text ? strspn(text, DIGITS) : 0;
    size_t between = first > 0 ? separator_length(text + first) : 0;
    size_t last = between > 0 ? strspn(text + first + between, DIGITS) : 0;
    if (last == 0 || text[first + between + last] != '\0' || options->nodes_range)
        return;
    options->nodes_range = text;
    options->range_is_nodes = true;
    options->nodes = NULL;
}

static const struct {
    char letter;
    double factor;
} scales[] = {{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}};

int run_options_read_tokens(const char *text, double *ret, struct error_info *err)
{
    char number[NUMBER_BYTES];
    size_t length = strnlen(text, sizeof(number));
    double factor = 1, value;
    for (size_t i = 0; i < COUNT_OF(scales) && length > 0; i++)
        if (text[length - 1] == scales[i].letter)
            factor = scales[i].factor;
    if (factor > 1)
        length--;
    if (length < sizeof(number))
        snprintf(number, sizeof(number), "%.*s", (int)length, text);
    if (length >= sizeof(number) || parse_real(number, 0, RUN_TOKENS_MAXIMUM, &value, NULL) < 0 ||
        value <= 0 || value * factor > RUN_TOKENS_MAXIMUM)
        return error_set(err,
                         "--tokens: \"%.64s\" is no number of tokens; write it as 15T, 300B or "
                         "1.5e12, up to 1e18",
                         text);
    *ret = value * factor;
    return 0;
}

static int read_positive(const char *option, const char *text, double maximum, double *ret,
                         struct error_info *err)
{
    if (!text)
        return 0;
    if (parse_real(text, 0, maximum, ret, NULL) < 0 || *ret <= 0)
        return error_set(err, "--%s: \"%.64s\" is no number above 0 and up to %g", option, text,
                         maximum);
    return 0;
}

static int read_run(const struct command_options *options, struct run_length *ret,
                    struct error_info *err)
{
    if (options->tokens && run_options_read_tokens(options->tokens, &ret->tokens, err) < 0)
        return -1;
    if (!options->tokens && (options->within || options->price))
        return error_set(err, "--%s needs the length of the run; give --tokens, as --tokens 15T",
                         options->within ? "within" : "price-per-gpu-hour");
    if (read_positive("within", options->within, RUN_DAYS_MAXIMUM, &ret->within_days, err) < 0)
        return -1;
    return read_positive("price-per-gpu-hour", options->price, RUN_PRICE_MAXIMUM,
                         &ret->price_per_gpu_hour, err);
}

static int read_preference(const char *text, enum scaling_preference *ret, struct error_info *err)
{
    if (!text || strcmp(text, "throughput") == 0)
        *ret = PREFER_THROUGHPUT;
    else if (strcmp(text, "gpu-hours") == 0)
        *ret = PREFER_GPU_HOURS;
    else
        return error_set(err, "--prefer: \"%.64s\" is neither throughput nor gpu-hours", text);
    return 0;
}

static int read_counts(const struct command_options *options, unsigned nodes,
                       struct scaling_request *scaling, struct error_info *err)
{
    const char *name = options->range_is_nodes ? "--nodes" : "--nodes-range";
    scaling->first = 1;
    scaling->last = nodes;
    scaling->doubling = !options->nodes_range;
    if (!options->nodes_range)
        return 0;
    if (options->scaling)
        return error_set(err, "%s %.64s and --scaling both say which node counts; keep one", name,
                         options->nodes_range);
    if (run_options_read_range(options->nodes_range, nodes, &scaling->first, &scaling->last, err) <
        0)
        return error_prefix(err, "%s", name);
    return 0;
}

int run_options_read(const struct command_options *options, const struct scenario *scenario,
                     struct run_options *ret, struct error_info *err)
{
    unsigned nodes = (unsigned)scenario->cluster->node_count;
    struct run_options run = {.counts =
                                  options->nodes_range || options->scaling || options->within};
    struct scaling_request *scaling = &run.scaling;
    scaling->plan = &scenario->request;
    scaling->gpus_per_node = scenario->gpus_per_node;
    if (read_counts(options, nodes, scaling, err) < 0)
        return -1;
    if (read_run(options, &scaling->run, err) < 0 ||
        read_preference(options->prefer, &scaling->prefer, err) < 0)
        return -1;
    if (options->prefer && (!run.counts || options->within))
        return error_set(err, "--prefer chooses between node counts; give --nodes-range or "
                              "--scaling, without --within");
    const struct job_value *spare = &options->job->values[JOB_SPARE];
    if (run.counts && spare->given)
        return error_set(err,
                         "%s: spare=%s: node counts are asked for, which leave the rest free; "
                         "leave spare out",
                         spare->where, spare->text);
    *ret = run;
    return 0;
}
