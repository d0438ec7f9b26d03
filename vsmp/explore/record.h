/* SPDX-License-Identifier: MIT */
/*
 * What happened in one schedule: who took which steps, all events with their stacks, and how it failed. The
 * machine's hooks and the other files of vsmp/explore/ tell, when `record_level` asks for it; minimise.c and
 * print.c read. Grows in the host's memory; where there is none, what comes later is left out.
 */
#ifndef VSMP_EXPLORE_RECORD_H
#define VSMP_EXPLORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vsmp/explore/internal.h"

enum record_level {
	RECORD_NOTHING, /* nothing but record_failure() is called */
	RECORD_STEPS,   /* who took how many steps, and where each CPU was last */
	RECORD_EVENTS   /* all */
};

extern enum record_level record_level;

/* `steps` steps of `cpu` one after the other. */
struct explore_segment {
	unsigned cpu;
	uint64_t steps;
	/* Of a recorded one: what the CPU waited for at its end; "": it had returned; NULL: it was preempted.
	 */
	const char *end;
};

/* --- Told by run.c, choose.c and the hooks; each but the last only when record_level says so ------------ */

/* A schedule begins: forgets the last one. Always called, at any level. */
void record_begin(void);

/* The current CPU has been chosen and takes its step now: at the end of each explore_step(). */
void record_step(void);

/* An access is about to be made: in explore_plain() and explore_before_atomic(), before all checks of it. */
void record_access(const struct explore_access *access);

/* An atomic one was made, as in explore_after_atomic(). */
void record_made(const struct explore_access *access, uint64_t value);

/* A function of port/, as in explore_call(), after the step was granted. */
void record_call(const char *what, const void *object, const void *pc);

/* Memory was freed, or an object in it has died. */
void record_free(const void *memory, size_t bytes, const void *pc);

/* A function was entered or left: `pc` is the hook's return address, in the function itself. Also while
 * explore_alone. */
void record_enter(const void *function, const void *call_site, const void *pc);
void record_exit(void);

/* The schedule fails: called by explore_fail() first of all, at any level. `other` may be NULL. */
void record_failure(enum explore_kind kind, const struct explore_place *other, const char *text);

/* --- Supplied by choose.c and run.c -------------------------------------------------------------------- */

/*
 * Runs a schedule as explore_run() does, but each next step is taken by the CPU that the segments name, the
 * first first: a segment whose CPU cannot run, or has taken `steps` steps, is over. After the last one the
 * CPU that runs goes on until it cannot, and then the one with the lowest number that can.
 */
struct explore_outcome explore_run_forced(const struct explore_segment *segments, size_t count);

/*
 * From now on explore_schedule_begin() begins this schedule, whatever its seed: as explore_run_forced() does.
 * NULL: no longer. They outlive the schedules.
 */
void explore_schedule_force(const struct explore_segment *segments, size_t count);

/* What explore_open() was given, valid until explore_close(). */
const struct explore_config *explore_configuration(void);

/* --- Read afterwards ------------------------------------------------------------------------------------ */

/* A function that was entered and not yet left. Valid until record_begin(). */
struct record_frame {
	const void *function;
	const void *call_site; /* return address of the call, for a function that was not inlined */
	const void *pc;        /* of the hook at its entry */
	struct record_frame *caller;
	struct record_frame *first_callee, *next; /* of the same caller */
	uint32_t depth;
};

enum record_value { RECORD_NO_VALUE, RECORD_VALUE, RECORD_CHANGE };

struct record_event {
	uint64_t step; /* how many steps the schedule had when it happened */
	const struct record_frame *frame;
	const void *pc;
	uintptr_t address;
	uint64_t value, before; /* `before`: of a RECORD_CHANGE */
	const char *what;       /* of a call; "free" of memory that was freed, which counts as written */
	const char *type_name;  /* of the memory at `address`; NULL: see `object` */
	uintptr_t object;       /* where the allocation begins; 0: a global variable */
	size_t object_bytes;
	uint32_t bytes;
	uint8_t cpu;
	bool alone;    /* in setup, holds or teardown */
	uint8_t event; /* enum explore_event */
	uint8_t order;
	uint8_t has; /* enum record_value */
};

/* Where a CPU stood at the end. */
struct record_cpu {
	const void *function;             /* the innermost */
	const struct record_frame *frame; /* at RECORD_EVENTS */
	const void *pc;                   /* of its last access */
	const char *waits_for;            /* NULL: for nothing */
	bool returned;
};

#define RECORD_STACK_MAX 32u

/* All that outlives the machine. */
struct record_failure {
	enum explore_kind kind;
	char text[512];
	unsigned cpu; /* whose step it was */
	bool alone;
	bool has_other;
	unsigned other_cpu;
	const void *other_pc;
	const void *other_stack[RECORD_STACK_MAX]; /* functions, innermost first, ended by NULL */
};

extern struct record {
	struct record_event *events;
	size_t event_count, event_room;
	struct explore_segment *segments;
	size_t segment_count, segment_room;
	uint64_t steps;
	struct record_cpu cpus[CHECK_CPUS_MAX];
	unsigned cpu_count;
	struct record_failure failure; /* kind EXPLORE_NOTHING: it ended well */
	bool incomplete;               /* there was no memory for all */
} record;

/* Frees the host's memory and records nothing. */
void record_close(void);

/* --- minimise.c and print.c ----------------------------------------------------------------------------- */

/* Runs a schedule of given segments, as explore_run_forced() does. */
typedef void minimise_run(const struct explore_segment *segments, size_t count);

/*
 * Looks for a schedule of fewer context switches that fails as the one in `record` does, which was recorded
 * at RECORD_STEPS or more, by at most `runs_max` runs. Returns true and leaves the best one, recorded at
 * RECORD_EVENTS, in `record`; false when not even the same switches fail again when they are forced: then
 * `record` is of no use.
 */
bool minimise(minimise_run *run, unsigned runs_max);

/* Writes the report of the failed schedule in `record`. Returns a text to free, or NULL without memory. */
char *print_report(const char *title, unsigned columns);

#endif
