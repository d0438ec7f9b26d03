/* SPDX-License-Identifier: MIT */
/*
 * A check: a small program for the virtual machine whose every schedule must end well. vsmp/explore/ runs it
 * under many schedules and looks for races, deadlocks and broken conditions; docs/EXPLORING.md shows how to
 * write one. The functions here are instrumented code, as all that runs on the machine.
 */
#ifndef VSMP_CHECK_H
#define VSMP_CHECK_H

#include <stdbool.h>

#include "base/message.h"

#define CHECK_CPUS_MAX 8

struct check {
	const char *name;    /* as given on the command line: "fault-unmap" */
	const char *summary; /* one line: what runs against what */

	/*
	 * On CPU 0, alone, once: makes the state that every schedule starts from. Returns 0, or a negative
	 * errno with a message: then nothing runs.
	 */
	int (*setup)(struct message *why);

	/* What CPU i does, the first NULL ends the list; two at the least. */
	void (*body[CHECK_CPUS_MAX])(void);

	/*
	 * The most CPUs that the check can have. With more than functions CPU i does number i modulo their
	 * count, so several must be able to do the same. 0: as many as functions, no more.
	 */
	unsigned cpus_max;

	/* How many memory nodes the machine has; CPU i belongs to number i modulo their count. 0: one. */
	unsigned nodes;

	/*
	 * On CPU 0, alone, after all bodies have returned: the final condition. Returns true when it holds;
	 * false with a message that tells what was found and what should have been. Must be able to be
	 * false: a test inverts it and expects a failure.
	 */
	bool (*holds)(struct message *why);

	/*
	 * On CPU 0, alone, after that: gives back everything. What is still allocated then is a leak, and
	 * check_nothing_left() tells of what the machine does not count.
	 */
	void (*teardown)(void);

	/*
	 * Policies, as texts for policy_parse(), under which the check is explored by `make test`; ended by
	 * NULL. NULL: only the default one. check_policy() tells the one in force.
	 */
	const char *const *variants;

	/*
	 * NULL for a check of right code. For one of a fault that was planted: the kinds of failure that may
	 * be reported ("lost wake-up", more than one separated by '|'), and the text that stands as a comment
	 * at the line of the fault, which the report must name ("planted: no release").
	 */
	const char *planted_kind, *planted_mark;
};

/* All checks that are linked into the program, ended by NULL: tests/explore/registry.c lists this project's.
 */
extern const struct check *const checks[];

/* --- From inside the functions of a check -------------------------------------------------------------- */

/* The policy text that was asked for; "default" where none was. */
const char *check_policy(void);

/* How many CPUs take part. */
unsigned check_cpus(void);

/* Ends the schedule with the failure "assertion" when the condition is false. */
#define check_that(condition) ((condition) ? (void)0 : check_fail(__FILE__, __LINE__, #condition))
_Noreturn void check_fail(const char *file, int line, const char *text);

/* Ends the schedule with the failure "differs from the model" unless the two are equal. */
#define check_equal(actual, model) \
	check_compare(__FILE__, __LINE__, #actual, (unsigned long long)(actual), (unsigned long long)(model))
void check_compare(const char *file, int line, const char *text, unsigned long long actual,
		   unsigned long long model);

/* Ends the schedule with the failure "leak" unless `count` is 0: so many `what` ("frames") were not given
 * back. */
void check_nothing_left(const char *what, unsigned long long count);

#endif
