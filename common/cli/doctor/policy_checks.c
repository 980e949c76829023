/* SPDX-License-Identifier: MIT */
#include "cli/doctor/policy_checks.h"
#include "base/parse_number.h"
#include "base/text_file.h"
#include "base/yaml_fields.h"
#include "cli/doctor/path_access.h"
#include "workload/job/option_kind.h"
#include "workload/job_spec.h"
#include "workload/model_source.h"
#include <pwd.h>
#include <string.h>

#define JOB_FILE_MAXIMUM_BYTES ((size_t)1 << 20)
#define PASSWD_BYTES 4096
#define NEEDLE_BYTES 300u
#define SCOPES_SHOWN 4u              /* those that are mended make room for the next */
#define NAMES_MAXIMUM 64u            /* of which a mistyped one is told the nearest */
#define LARGEST_UID (UINT32_MAX - 1) /* the last one stands for "none" */

static const char *const section_keys[POLICY_SECTIONS] = {
    [SCOPE_PARTITION] = "partitions",
    [SCOPE_QOS] = "qos",
    [SCOPE_ACCOUNT] = "accounts",
    [SCOPE_USER] = "users",
};

/* The admins' file again, for its lines. */
static struct yaml_document *open_lines(const struct admin_config *config, struct error_info *err)
{
    size_t bytes;
    struct error_info why = {.kind = ERROR_NONE};
    CLEANUP_MEMORY char *text =
        text_file_read(config->source, ADMIN_CONFIG_MAXIMUM_BYTES, &bytes, &why);
    struct yaml_document *document =
        text ? yaml_document_parse(text, bytes, config->source, &why) : NULL;
    if (why.kind == ERROR_MEMORY)
        error_set_memory(err);
    return document;
}

static size_t count_rules(const struct admin_config *config)
{
    size_t rules = 0;
    for (unsigned section = 0; section < POLICY_SECTIONS; section++)
        rules += config->scopes.sections[section].count;
    return rules;
}

/* --- defaults ---------------------------------------------------------------------- */

/* A default on its way to a verdict. */
struct defaults {
    const struct doctor_facts *facts;
    const struct admin_config *config;
    const struct yaml_node *node; /* its line */
    struct findings *findings;
};

static void say(const struct defaults *defaults, enum finding_state state, const char *text,
                const char *remedy)
{
    struct error_info shown;
    yaml_node_error(defaults->node, &shown, "%s%s", text, remedy_unless_in(text, remedy));
    findings_add(defaults->findings, "defaults", state, "%s", shown.text);
}

static int read_file(const struct defaults *defaults, const char *path, struct job_spec *job,
                     struct error_info *err)
{
    size_t bytes;
    if (path[0] != '/')
        return error_set(
            err, "%s begins in the folder in which srun starts; write an absolute path", path);
    if (path_access_find(path, PATH_OPENED, defaults->facts->owner, err) != PATH_FREE)
        return -1;
    CLEANUP_MEMORY char *text = text_file_read(path, JOB_FILE_MAXIMUM_BYTES, &bytes, err);
    return text ? job_spec_parse_yaml(job, text, bytes, path, err) : -1;
}

/* What srun refuses of any option, and the model that it opens: spank_plugin/step_plan.h. */
static int check_job(const struct job_spec *job, struct error_info *err)
{
    const struct job_value *model = &job->values[JOB_MODEL];
    bool placed = job_spec_number(job, JOB_PLACE, PLACE_ENV) == PLACE_SLURM;
    if (placed)
        return error_set(err,
                         "place=slurm is read from the option of srun, sbatch or salloc alone, "
                         "and every step would run without a plan; take it out");
    if (job_spec_number(job, JOB_SPARE, 0) > 0)
        return error_set(err, "spare is of place=slurm alone; take spare out");
    if (job_spec_order_is_open(job))
        return error_set(err, "order=auto leaves open how programs number their ranks; name one");
    if (job_spec_check_available(job, err) < 0)
        return -1;
    if (!model->given)
        return 0;
    CLEANUP(model_catalogue) struct model_catalogue *catalogue = model_catalogue_builtin(err);
    CLEANUP(model_spec)
    struct model_spec *found = catalogue ? model_source_open(model->text, catalogue, err) : NULL;
    return found ? 0 : -1;
}

static struct job_spec *read_default(const struct defaults *defaults, struct error_info *err)
{
    const char *option = defaults->config->default_parplan;
    CLEANUP(job_spec) struct job_spec *job = job_spec_create(err);
    if (!job)
        return NULL;
    int read = option_names_file(option) ? read_file(defaults, option, job, err)
                                         : job_spec_parse_option(job, option, option, err);
    return read == 0 && check_job(job, err) == 0 ? move_pointer(job) : NULL;
}

static unsigned largest_node(const char *nodes)
{
    char type[GPU_TYPE_BYTES];
    unsigned largest = 0;
    for (const char *line = nodes; line && *line; line = slurm_next_line(line)) {
        unsigned count = slurm_node_gpus(line, type);
        largest = count > largest ? count : largest;
    }
    return largest;
}

/* True: said that no step can take its degrees. */
static bool say_policy(const struct defaults *defaults, const struct degrees *degrees)
{
    struct policy_verdict verdict;
    const struct policy_place place = {.where = "the largest node",
                                       .gpus_per_node = largest_node(defaults->facts->nodes)};
    if (degrees->tp == 0 || place.gpus_per_node == 0)
        return false;
    policy_check(&defaults->config->policy, degrees, &place, &verdict);
    if (verdict.result != POLICY_DENIED)
        return false;
    /* another scope's policy may allow it to some */
    say(defaults, count_rules(defaults->config) > 0 ? FINDING_WARNING : FINDING_FAULT, verdict.text,
        "; correct it");
    return true;
}

/* True: said that the cluster is too small for what is given. */
static bool say_size(const struct defaults *defaults, const struct degrees *degrees)
{
    char text[FINDING_TEXT_BYTES], type[GPU_TYPE_BYTES];
    const unsigned given[] = {degrees->tp, degrees->cp, degrees->pp, degrees->dp};
    uint64_t gpus = 0, need = 1;
    for (const char *line = defaults->facts->nodes; line && *line; line = slurm_next_line(line))
        gpus += slurm_node_gpus(line, type);
    for (size_t i = 0; i < COUNT_OF(given); i++)
        if (__builtin_mul_overflow(need, given[i] > 0 ? given[i] : 1, &need))
            need = UINT64_MAX;
    if (gpus == 0 || need <= gpus)
        return false;
    snprintf(text, sizeof(text), "its degrees take %llu GPUs, the cluster has %llu; correct it",
             (unsigned long long)need, (unsigned long long)gpus);
    say(defaults, FINDING_WARNING, text, "");
    return true;
}

/* True: said that steps are refused that nobody would expect to be. */
static bool say_required(const struct defaults *defaults, const struct job_spec *job)
{
    const struct admin_config *config = defaults->config;
    char text[FINDING_TEXT_BYTES];
    bool plans = job_spec_has_degrees(job) || job->values[JOB_MODEL].given;
    if (!config->enabled || config->policy.require_plan != REQUIRE_DENY)
        return false;
    snprintf(text, sizeof(text), "%s, and require_plan: deny refuses %s",
             plans ? "every srun without --parplan gets this plan"
                   : "a default without degrees or model is no plan",
             plans ? "those of one rank (`srun -N1 -n1 true`)"
                   : "every srun without --parplan (`srun -N1 -n1 true` too)");
    say(defaults, FINDING_WARNING, text,
        "; take defaults: out, or require plans in a partition alone (policy: partitions:)");
    return true;
}

static void judge_default(const struct defaults *defaults, const struct job_spec *job)
{
    struct degrees degrees;
    job_spec_degrees(job, &degrees);
    if (!say_policy(defaults, &degrees) && !say_size(defaults, &degrees) &&
        !say_required(defaults, job))
        findings_add(defaults->findings, "defaults", FINDING_OK, "parplan: %s",
                     defaults->config->default_parplan);
}

int check_defaults(const struct doctor_facts *facts, const struct admin_config *config,
                   struct findings *findings, struct error_info *err)
{
    struct error_info why = {.kind = ERROR_NONE}, memory = {.kind = ERROR_NONE};
    if (!config->default_parplan || strcmp(config->default_parplan, "off") == 0)
        return 0;
    CLEANUP(yaml_document) struct yaml_document *lines = open_lines(config, &memory);
    if (!lines)
        return memory.kind == ERROR_MEMORY ? error_set_memory(err) : 0;
    const struct yaml_node *node = yaml_node_get(yaml_document_root(lines), "defaults");
    node = node ? yaml_node_get(node, "parplan") : NULL;
    const struct defaults defaults = {
        .facts = facts, .config = config, .node = node, .findings = findings};
    if (!node)
        return 0;
    CLEANUP(job_spec) struct job_spec *job = read_default(&defaults, &why);
    if (why.kind == ERROR_MEMORY)
        return error_set_memory(err);
    if (job)
        judge_default(&defaults, job);
    else
        say(&defaults, FINDING_FAULT, why.text,
            "; correct it, or take it out: until then steps without --parplan get no plan");
    return 0;
}

/* --- scopes ------------------------------------------------------------------------- */

struct scopes {
    const struct doctor_facts *facts;
    const struct admin_config *config;
    const struct yaml_node *policy;
    struct findings *findings;
    unsigned said;
};

static void say_rule(struct scopes *scopes, unsigned section, const char *name,
                     enum finding_state state, const char *text)
{
    struct error_info shown;
    const struct yaml_node *node = yaml_node_get(scopes->policy, section_keys[section]);
    node = node ? yaml_node_get(node, name) : NULL;
    if (!node || scopes->said++ >= SCOPES_SHOWN)
        return;
    yaml_node_error(node, &shown, "%s", text);
    findings_add(scopes->findings, "policy", state, "%s", shown.text);
}

/* A name that a list of Slurm's must have, and the nearest that it has. */
static void check_partition(struct scopes *scopes, const char *name)
{
    char names[NAMES_MAXIMUM][NODE_LIST_NAME_BYTES], text[FINDING_TEXT_BYTES];
    const char *known[NAMES_MAXIMUM];
    size_t count = 0;
    struct name_sample sample = {.count = 0};
    for (const char *line = scopes->facts->partitions; *line && count < NAMES_MAXIMUM;
         line = slurm_next_line(line)) {
        if (!slurm_node_value(line, "PartitionName", names[count], sizeof(names[count])))
            continue;
        if (strcmp(names[count], name) == 0)
            return;
        name_sample_add(&sample, names[count]);
        known[count] = names[count];
        count++;
    }
    if (count == 0 || count == NAMES_MAXIMUM)
        return; /* not all are known */
    const char *nearest = name_nearest(name, known, count);
    snprintf(text, sizeof(text), "the cluster has no such partition; %s %.600s%s",
             nearest ? "did you mean" : "there are", nearest ? nearest : sample.names,
             nearest ? "?" : "");
    say_rule(scopes, SCOPE_PARTITION, name, FINDING_WARNING, text);
}

/* slurmctld's own list: "Account=a ", "QOS=q(1)", in lower case whatever the file has. */
static void check_association(struct scopes *scopes, unsigned section, const char *name)
{
    const char *key = section == SCOPE_QOS ? "QOS=" : "Account=";
    const char *list = scopes->facts->associations;
    char needle[NEEDLE_BYTES];
    int length =
        snprintf(needle, sizeof(needle), "%s%s%s", key, name, section == SCOPE_QOS ? "(" : " ");
    if (!list || !strstr(list, key) || length >= (int)sizeof(needle) || strcasestr(list, needle))
        return;
    say_rule(scopes, section, name, FINDING_WARNING,
             section == SCOPE_QOS ? "the cluster has no such QOS; correct its name"
                                  : "the cluster has no such account; correct its name");
}

/* The two names of one user must not say different things: which wins is nobody's intention. */
static void check_both_names(struct scopes *scopes, const struct policy_rule *by_number,
                             const char *user)
{
    char text[FINDING_TEXT_BYTES];
    for (size_t i = 0; i < scopes->config->scopes.sections[SCOPE_USER].count; i++) {
        const struct policy_rule *rule = &scopes->config->scopes.sections[SCOPE_USER].rules[i];
        bool differ = false;
        if (strcmp(rule->name, user) != 0)
            continue;
        for (size_t field = 0; field < POLICY_FIELDS; field++)
            differ = differ || (rule->change.fields[field] != by_number->change.fields[field] &&
                                rule->change.fields[field] != POLICY_KEEP &&
                                by_number->change.fields[field] != POLICY_KEEP);
        snprintf(text, sizeof(text), "is %.64s, who stands here too with another value; keep one",
                 user);
        if (differ)
            say_rule(scopes, SCOPE_USER, by_number->name, FINDING_WARNING, text);
    }
}

static void check_number(struct scopes *scopes, const struct policy_rule *rule)
{
    char buffer[PASSWD_BYTES];
    struct passwd entry, *found = NULL;
    uint64_t uid = 0;
    if (parse_unsigned(rule->name, 0, LARGEST_UID, &uid, NULL) < 0 ||
        (rule->name[0] == '0' && rule->name[1]))
        say_rule(scopes, SCOPE_USER, rule->name, FINDING_FAULT,
                 "is no uid, and nobody gets this policy; write it without leading zeros, "
                 "4294967294 at most");
    else if (getpwuid_r((uid_t)uid, &entry, buffer, sizeof(buffer), &found) == 0 && found)
        check_both_names(scopes, rule, found->pw_name);
}

static void check_user(struct scopes *scopes, const struct policy_rule *rule)
{
    char buffer[PASSWD_BYTES];
    struct passwd entry, *found = NULL;
    if (strspn(rule->name, "0123456789") == strlen(rule->name))
        check_number(scopes, rule);
    else if (getpwnam_r(rule->name, &entry, buffer, sizeof(buffer), &found) == 0 && !found)
        say_rule(scopes, SCOPE_USER, rule->name, FINDING_WARNING,
                 "this machine knows no such user; correct the name");
}

static void check_rule(struct scopes *scopes, unsigned section, const struct policy_rule *rule)
{
    if (section == SCOPE_USER)
        check_user(scopes, rule);
    else if (section != SCOPE_PARTITION)
        check_association(scopes, section, rule->name);
    else if (scopes->facts->partitions)
        check_partition(scopes, rule->name);
}

int check_scopes(const struct doctor_facts *facts, const struct admin_config *config,
                 struct findings *findings, struct error_info *err)
{
    struct error_info memory = {.kind = ERROR_NONE};
    size_t rules = count_rules(config);
    if (rules == 0)
        return 0;
    CLEANUP(yaml_document) struct yaml_document *lines = open_lines(config, &memory);
    if (!lines)
        return memory.kind == ERROR_MEMORY ? error_set_memory(err) : 0;
    struct scopes scopes = {.facts = facts,
                            .config = config,
                            .policy = yaml_node_get(yaml_document_root(lines), "policy"),
                            .findings = findings};
    for (unsigned section = 0; scopes.policy && section < POLICY_SECTIONS; section++)
        for (size_t i = 0; i < config->scopes.sections[section].count; i++)
            check_rule(&scopes, section, &config->scopes.sections[section].rules[i]);
    if (!scopes.said)
        findings_add(findings, "policy", FINDING_OK, "%zu scope%s", rules, rules == 1 ? "" : "s");
    return 0;
}
