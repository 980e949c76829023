/* SPDX-License-Identifier: MIT */
#include "cli/doctor/slurm_checks.h"
#include <string.h>

void check_slurm_version(const struct doctor_facts *facts, struct findings *findings)
{
    static const char point[] = "slurm-version";
    char here[SLURM_VERSION_BYTES], there[SLURM_VERSION_BYTES];
    uint32_t local = doctor_local_version(facts), controller = doctor_controller_version(facts);
    slurm_version_write(local, true, here);
    slurm_version_write(controller, true, there);
    if (!facts->client_version)
        findings_add(findings, point, FINDING_FAULT,
                     "%s; install Slurm's client, or name its slurm.conf with --slurm-conf",
                     facts->client_error.text);
    else if (!local)
        findings_add(findings, point, FINDING_WARNING,
                     "`scontrol -V` says '%.60s', which has no version; is that Slurm's scontrol?",
                     facts->client_version);
    else if (controller && controller != local)
        findings_add(findings, point, FINDING_WARNING,
                     "Slurm here is %s, slurmctld is %s; upgrade this machine too", here, there);
    else
        findings_add(findings, point, FINDING_OK, "Slurm %s%s", here,
                     controller ? ", as slurmctld" : "");
}

void check_controller(const struct doctor_facts *facts, struct findings *findings)
{
    static const char point[] = "slurmctld";
    if (facts->controller_error.kind == ERROR_NONE)
        findings_add(findings, point, FINDING_OK, "it answers");
    else
        findings_add(findings, point, FINDING_FAULT,
                     "no answer, topology and gpus are not judged: %s; start it, or look at its "
                     "log and at %s",
                     facts->controller_error.text, facts->slurm_conf);
}

void check_slurm_settings(const struct doctor_facts *facts, struct findings *findings)
{
    char word[DOCTOR_WORD_BYTES];
    if (!facts->settings)
        return;
    slurm_setting_find(facts->settings, "KillOnBadExit", word, sizeof(word));
    if (strcmp(word, "1") == 0)
        findings_add(findings, "kill-on-bad-exit", FINDING_OK, "KillOnBadExit=1");
    else
        findings_add(findings, "kill-on-bad-exit", FINDING_WARNING,
                     "where one node refuses, the tasks of the others wait until the time limit; "
                     "set KillOnBadExit=1 in slurm.conf");
    slurm_setting_find(facts->settings, "MpiParams", word, sizeof(word));
    if (strstr(word, "ports="))
        findings_add(findings, "mpi-ports", FINDING_OK, "MpiParams=%.80s", word);
    else
        findings_add(findings, "mpi-ports", FINDING_WARNING,
                     "MASTER_PORT is made of job and step id, and two steps of a node may meet; "
                     "set MpiParams=ports=20000-29999 in slurm.conf");
}
