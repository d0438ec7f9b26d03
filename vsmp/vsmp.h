/* SPDX-License-Identifier: MIT */
/*
 * The virtual SMP machine: runs ordinary C on up to 1,024 simulated CPUs inside one thread of the caller.
 * Code that is to be simulated is compiled as the Makefile compiles build/vsmp-home/ and sees only port/.
 *
 * One machine exists at a time in a process. Same program, same configuration, same seed: same result, to the
 * last cycle. Nothing here may be called from two threads.
 */
#ifndef VSMP_VSMP_H
#define VSMP_VSMP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/message.h"
#include "vsmp/machine.h"
#include "vsmp/report.h"
#include "vsmp/speedup.h"

struct vsmp_config {
	const struct vsmp_machine *machine; /* copied */
	struct vsmp_placement placement;
	unsigned cpus; /* 1 to vsmp_machine_cpus(machine) */
	uint64_t seed;
	/* The socket where globals and the boot CPU's memory have their home; -1: CPU 0's own. */
	int home_socket;
	/* What to collect, each at a cost in real time. */
	bool profile, locks, lines, conflicts;
	/* What if these functions cost less? See what_if.h. Copied; at most VSMP_SPEEDUPS_MAX. */
	const struct vsmp_speedup *speedups;
	unsigned speedup_count;
};

/*
 * Makes the machine. Returns 0; -EINVAL with a message for a configuration that cannot be; -ENOMEM with a
 * message when the address space for it cannot be had; -EBUSY when one exists; -ENOENT with one when a
 * speedup names no function.
 */
int vsmp_create(const struct vsmp_config *config, struct message *why);

/* Reads what every machine needs to know of the program. To be called, or not, before processes are made that
 * each have a machine. */
void vsmp_prepare(void);

/* Returns whether a speedup may name this function. Needs no machine. */
bool vsmp_has_function(const char *symbol);

/* Ends the machine and frees all that simulated code had allocated. No run may be going on. */
void vsmp_destroy(void);

/*
 * Runs body(argument) on CPU 0 at no cost in virtual time: to set up and tear down what a run needs.
 * Returns 0, or -EDEADLK with a message after a deadlock of an earlier run. A body that waits for another CPU
 * is a broken invariant: there is none.
 */
int vsmp_setup(void (*body)(void *argument), void *argument, struct message *why);

/*
 * Runs body(cpu, argument) on every CPU until all have returned. CPUs start within `start_spread_cycles` of
 * each other, at random. Returns 0; -EDEADLK when every CPU that has not returned waits for another, with the
 * stack of each in a text that vsmp_deadlock_report() returns, and a first line in `why`. After a deadlock
 * the machine can only be destroyed.
 */
int vsmp_run(void (*body)(unsigned cpu, void *argument), void *argument, uint64_t start_spread_cycles,
	     struct message *why);

/* The text of the last deadlock: every CPU's stack and what it waits for; NULL when there was none. */
const char *vsmp_deadlock_report(void);

/* --- From inside a body ------------------------------------------------------------------------------- */

/* Waits until every CPU whose body has not returned is here; then all go on within the start spread. No
 * profile counts the time spent here, nor any in which a CPU sleeps. */
void vsmp_barrier(void);

/* The calling CPU's measured window: what reports count, and what vsmp_window_cycles() tells. */
void vsmp_measure_begin(void);
void vsmp_measure_end(void);

/* True until every CPU has ended its window: a body goes on with its operations, so that the others still
 * meet the same load. */
bool vsmp_measure_active(void);

/* Adds `count` operations to the calling CPU's number, when it is inside its window. */
void vsmp_count_operations(uint64_t count);

/* The calling CPU's clock. */
uint64_t vsmp_now_cycles(void);

/* --- After a run -------------------------------------------------------------------------------------- */

/* The length of `cpu`'s window; 0 when it had none. */
uint64_t vsmp_window_cycles(unsigned cpu);

/*
 * What the windows of all CPUs say together: the mean over the CPUs of window length by operations of that
 * CPU, in seconds; the longest window, in seconds; and the operations of all. CPUs without a window, or
 * without an operation in it, do not count.
 */
void vsmp_timing(double *cpu_seconds_per_operation, double *seconds, uint64_t *operations);

/*
 * Writes what the runs found into `report`, which vsmp_report_free() empties again. Names come from the
 * running program's own debug information. Returns 0, or -ENOMEM.
 */
int vsmp_report(struct vsmp_report *report);
void vsmp_report_free(struct vsmp_report *report);

/*
 * Replays the burst microbenchmark that machines/README.md describes on one cache line: every round, CPU 0
 * does one operation, and half a period later all others do one at once. `reads` nonzero: CPU 0 writes and
 * the others read, and only the readers count; else all do a locked add. Writes the mean cycles of one
 * operation. Needs a machine with `cpus` >= 1 (>= 2 for reads) and no simulated memory. Returns 0 or a
 * negative errno.
 */
int vsmp_burst(int reads, unsigned rounds, double *mean_cycles);

#endif
