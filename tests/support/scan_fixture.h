/* SPDX-License-Identifier: MIT */
/*
 * scan_fixture: a scan of a toy model over two nodes, from no search: three rows with round
 * figures, and why there is no plan with both TP and PP.
 */
#ifndef TESTS_SUPPORT_SCAN_FIXTURE_H
#define TESTS_SUPPORT_SCAN_FIXTURE_H

#include "planner/scan/scan_grid.h"
#include "report/plan_report.h"

extern const struct scan_grid scan_fixture_grid;
extern const struct plan_report scan_fixture_report;

#endif
