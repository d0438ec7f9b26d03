/* SPDX-License-Identifier: MIT */
/*
 * Exploration: runs one check under many schedules and finds those that end badly.
 *
 * A *schedule* is the order in which the CPUs take their *steps*; a step is an atomic access or a call of a
 * lock-like function of port/, with the plain accesses up to the next. Plain accesses are no steps: two that
 * no synchronisation orders are reported as a data race whichever comes first. Each schedule comes from one
 * seed, and the same seed gives the same schedule, in any process. Executions are sequentially consistent;
 * but the order that is required of atomic accesses counts for the race check, so that an unlock without
 * release order is found. What needs two stores to be seen out of order (a missing store-load fence) is not.
 *
 * Between schedules the state that setup() made is put back: every line that was written is restored.
 *
 * Used by one thread, with no other virtual machine open.
 */
#ifndef VSMP_EXPLORE_EXPLORE_H
#define VSMP_EXPLORE_EXPLORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/message.h"

struct check;

/* Of PCT; far below it the bound is of no use to anybody. */
#define EXPLORE_DEPTH_MAX 16u

enum explore_strategy {
	/* At each step each CPU that can run is as likely as any other. */
	EXPLORE_RANDOM,
	/*
	 * Probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatte: "A Randomized
	 * Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010): random priorities, which
	 * change at depth - 1 random steps. Finds each bug of that depth with probability of at least
	 * 1 / (cpus * steps^(depth - 1)) a schedule.
	 */
	EXPLORE_PCT
};

struct explore_config {
	const struct check *check;
	const char *policy; /* text for check_policy(); NULL: "default" */
	unsigned cpus;      /* as many as the check has functions, to its cpus_max; 0: the former */
	enum explore_strategy strategy;
	unsigned depth; /* of PCT: 1 to EXPLORE_DEPTH_MAX */
	bool invert;    /* takes the final condition for its opposite: proves that it is looked at */
};

enum explore_kind {
	EXPLORE_NOTHING, /* no failure */
	EXPLORE_DATA_RACE,
	EXPLORE_DEADLOCK,
	EXPLORE_LOST_WAKEUP,    /* a CPU sleeps on a word that has changed, and nobody is left to wake it */
	EXPLORE_LIVELOCK,       /* more steps than any schedule needs */
	EXPLORE_USE_AFTER_FREE, /* of memory, of a frame or of an object of a cache */
	EXPLORE_WILD_ACCESS,    /* of memory that was never allocated */
	EXPLORE_ASSERTION,      /* check_that(), or an invariant or a precondition of the code */
	EXPLORE_MODEL,          /* check_equal() */
	EXPLORE_CONDITION,      /* holds() was false */
	EXPLORE_LEAK,
	EXPLORE_RCU_READER, /* waits or blocks in a read section, or reads what RCU protects outside one */
	EXPLORE_REPLAY      /* a replay went another way than the first time */
};

/* "data race", "lost wake-up", ...: for reports. */
const char *explore_kind_name(enum explore_kind kind);

/* What one schedule came to. */
struct explore_outcome {
	enum explore_kind kind;
	uint64_t steps;
	uint64_t fingerprint; /* of who did what when: equal for equal schedules */
};

/* Returns how many functions the check has: the number of CPUs where none is asked for. */
unsigned explore_default_cpus(const struct check *check);

/*
 * Makes the machine and runs the check's setup, and one schedule without preemption to measure its steps (see
 * explore_steps()). Returns 0; -EINVAL with a message for a number of CPUs or a depth that cannot be; what
 * setup returned; -EFAULT when a failure ended it; -ENOMEM; -EBUSY when a machine is open.
 */
int explore_open(const struct explore_config *config, struct message *why);
void explore_close(void);

/* The steps of the schedule without preemption, and the points among which PCT draws its changes. */
uint64_t explore_steps(void);

/* The probability of at least which one schedule of PCT, of so many CPUs and steps, finds a bug of a depth.
 */
double explore_bound(unsigned cpus, uint64_t steps, unsigned depth);

/* Runs the schedule of `seed` and puts the state back. */
struct explore_outcome explore_run(uint64_t seed);

/*
 * Runs the schedule of `seed`, which ended badly with `expected`, again with everything written down, looks
 * for a schedule of as few context switches as can be found that fails in the same way, and writes a report
 * to *text, which the caller frees: the kind, the place and both stacks, and the last steps of each CPU in a
 * column of its own, `columns` characters wide in all. Where the replay does not go as expected, that is the
 * report, and *outcome (if not NULL) is EXPLORE_REPLAY. `expected` NULL: whatever it comes to is right.
 * Returns 0, or -ENOMEM.
 */
int explore_report(uint64_t seed, const struct explore_outcome *expected, unsigned columns, char **text,
		   struct explore_outcome *outcome);

/* --- Experiments ---------------------------------------------------------------------------------------- */

/*
 * Explores what runs through vsmp_create() and vsmp_run() next, one schedule: the machine that is created
 * after this call schedules by `strategy`, `depth` and `seed` and looks for the same failures, but for leaks;
 * vsmp_run() returns -EFAULT with the first line of what was found.
 * `steps`: what PCT draws its changes from, and more than 64 times of which are a livelock; 1: not known.
 * Lasts until explore_schedule_end(), which returns what was found. `wrong`, if not NULL, is what the run
 * itself says went wrong: where nothing else was found, a condition that does not hold.
 */
void explore_schedule_begin(enum explore_strategy strategy, unsigned depth, uint64_t steps, uint64_t seed);
struct explore_outcome explore_schedule_end(const char *wrong);

/*
 * Reports a schedule of an experiment as explore_report() does that of a check. `again`(`argument`) runs it,
 * from explore_schedule_begin() to explore_schedule_end(), and is called often. `title` says in a line what
 * it is. Returns 0, or -ENOMEM.
 */
int explore_schedule_report(struct explore_outcome (*again)(void *argument), void *argument,
			    const char *title, const struct explore_outcome *expected, unsigned columns,
			    char **text, struct explore_outcome *outcome);

#endif
