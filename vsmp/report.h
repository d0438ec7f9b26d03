/* SPDX-License-Identifier: MIT */
/*
 * What a run found out. Rows are plain data with names already resolved; all strings belong to the report.
 * Everything counts only what CPUs did inside their measured window (vsmp_measure_begin to vsmp_measure_end).
 */
#ifndef VSMP_REPORT_H
#define VSMP_REPORT_H

#include <stddef.h>
#include <stdint.h>

/* One function, over all CPUs and call paths. */
struct vsmp_profile_row {
	char *symbol;
	double self_percent;  /* of all measured CPU time, in the function itself */
	double total_percent; /* and in what it called; recursion counts once */
	/* Its callers by their share of this function's total, greatest first. */
	struct vsmp_caller_row {
		char *symbol;
		double percent; /* of the function's own total */
	} * callers;
	size_t caller_count;
};

/* One call path: "outer;inner;innermost" and the time in the innermost alone. */
struct vsmp_stack_row {
	char *path;
	uint64_t self_cycles;
};

/* One class of locks, the columns of the kernel's lock statistics. */
struct vsmp_lock_row {
	char *name;
	int shared;                 /* this row counts readers' takes */
	uint64_t contended_bounces; /* contended, and the lock's line came from another core */
	uint64_t contentions;       /* the taker had to wait */
	uint64_t wait_min_cycles, wait_max_cycles, wait_total_cycles;
	uint64_t acquisition_bounces; /* the lock's line came from another core */
	uint64_t acquisitions;
	uint64_t hold_min_cycles, hold_max_cycles, hold_total_cycles;
	/* Where takers waited, by count, greatest first: the function that asked for the lock. */
	struct vsmp_lock_site_row {
		char *symbol;
		uint64_t contentions;
	} * sites;
	size_t site_count;
};

/* One cache line, or all lines of one type at one place in it, that moved between cores. */
struct vsmp_line_row {
	char *name;         /* "struct spinlock memtype_lock.next_ticket", "struct page.flags" */
	uint64_t lines;     /* how many cache lines stand behind this row */
	uint64_t transfers; /* fills from another core's cache */
	uint64_t invalidations;
	uint64_t wait_cycles;      /* time that CPUs stood waiting for it */
	unsigned readers, writers; /* different CPUs */
	struct vsmp_line_site_row {
		char *symbol;
		int writes;
		uint64_t transfers;
	} * sites; /* by transfers, greatest first */
	size_t site_count;
};

/* Cache lines that two CPUs touched in operation scopes, at least one of them writing. */
struct vsmp_conflict_row {
	char *scope, *other_scope; /* in alphabetical order */
	char *name;                /* type and field, as in vsmp_line_row */
	int true_sharing;          /* both touched the same bytes; otherwise only neighbours on a line */
	uint64_t lines;            /* different cache lines */
	uint64_t transfers;        /* line fills between those CPUs in these scopes */
};

struct vsmp_report {
	uint64_t operations;       /* counted by vsmp_count_operations() inside the window */
	uint64_t transfers;        /* line fills from another core's cache */
	uint64_t accesses;         /* hooked accesses of the whole run, outside the window too */
	unsigned speedups_entered; /* which of vsmp_config.speedups, by bits: a function that runs */
	/* By bits of enum vsmp_parameter. With another value of one that is not here the run is the same. */
	uint64_t parameters_asked;
	uint64_t dropped; /* events that there was no memory to keep: if not 0, the rows tell too little */
	struct vsmp_profile_row *profile;
	size_t profile_count;
	struct vsmp_stack_row *stacks;
	size_t stack_count;
	struct vsmp_lock_row *locks;
	size_t lock_count;
	struct vsmp_line_row *lines;
	size_t line_count;
	struct vsmp_conflict_row *conflicts;
	size_t conflict_count;
};

#endif
