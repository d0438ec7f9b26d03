/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/observe.h"

#include <errno.h>
#include <stdlib.h>

#include "vsmp/observe/calls.h"
#include "vsmp/observe/conflicts.h"
#include "vsmp/observe/debuginfo.h"
#include "vsmp/observe/lines.h"
#include "vsmp/observe/lockstat.h"
#include "vsmp/observe/profile.h"
#include "vsmp/observe/symbols.h"

static bool profile_wanted, names_wanted;

void observe_prepare(void)
{
	if (!symbols_open())
		debuginfo_open();
}

int observe_open(unsigned cpus, bool profile, bool locks, bool lines, bool conflicts)
{
	profile_wanted = profile;
	names_wanted = profile || locks || lines || conflicts;
	/* Symbols now: a deadlock's report needs them on a simulated CPU's stack. */
	if (symbols_open() || calls_open(cpus, profile || locks || lines))
		return -ENOMEM;
	if ((locks && lockstat_open(cpus)) || (conflicts && conflicts_open(cpus))) {
		observe_close();
		return -ENOMEM;
	}
	if (lines)
		lines_observe(cpus);
	return 0;
}

void observe_close(void)
{
	conflicts_close();
	lines_ignore();
	lockstat_close();
	calls_close();
}

void observe_forget(uint64_t first_line, uint64_t lines)
{
	lines_renew(first_line, lines);
	conflicts_renew(first_line, lines);
}

int observe_report(struct vsmp_report *report)
{
	int error;

	report->profile = NULL;
	report->stacks = NULL;
	report->locks = NULL;
	report->lines = NULL;
	report->conflicts = NULL;
	report->profile_count = report->stack_count = report->lock_count = 0;
	report->line_count = report->conflict_count = 0;

	error = names_wanted ? debuginfo_open() : 0;
	if (!error && profile_wanted)
		error = profile_report(report);
	if (!error)
		error = lockstat_report(report);
	if (!error)
		error = lines_report(report);
	if (!error)
		error = conflicts_report(report);
	report->dropped = calls_dropped() + lockstat_dropped() + lines_dropped() + conflicts_dropped();
	if (error)
		observe_report_free(report);
	return error;
}

static void free_profile(struct vsmp_report *report)
{
	for (size_t i = 0; i < report->profile_count; i++) {
		for (size_t j = 0; j < report->profile[i].caller_count; j++)
			free(report->profile[i].callers[j].symbol);
		free(report->profile[i].callers);
		free(report->profile[i].symbol);
	}
	for (size_t i = 0; i < report->stack_count; i++)
		free(report->stacks[i].path);
	free(report->profile);
	free(report->stacks);
}

void observe_report_free(struct vsmp_report *report)
{
	free_profile(report);
	for (size_t i = 0; i < report->lock_count; i++) {
		for (size_t j = 0; j < report->locks[i].site_count; j++)
			free(report->locks[i].sites[j].symbol);
		free(report->locks[i].sites);
		free(report->locks[i].name);
	}
	for (size_t i = 0; i < report->line_count; i++) {
		for (size_t j = 0; j < report->lines[i].site_count; j++)
			free(report->lines[i].sites[j].symbol);
		free(report->lines[i].sites);
		free(report->lines[i].name);
	}
	for (size_t i = 0; i < report->conflict_count; i++) {
		free(report->conflicts[i].scope);
		free(report->conflicts[i].other_scope);
		free(report->conflicts[i].name);
	}
	free(report->locks);
	free(report->lines);
	free(report->conflicts);
	*report = (struct vsmp_report){.operations = report->operations,
				       .transfers = report->transfers,
				       .accesses = report->accesses,
				       .speedups_entered = report->speedups_entered,
				       .parameters_asked = report->parameters_asked};
}
