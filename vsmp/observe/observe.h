/* SPDX-License-Identifier: MIT */
/*
 * The observers: what the machine's core tells them while it runs, and the report they make of it. The core
 * calls these functions; they never change a clock and never touch simulated memory. They run on a simulated
 * CPU's stack, uninstrumented, and allocate with malloc. Where they have no memory in the middle of a run
 * they leave out what they cannot keep, count it in the report's `dropped`, and go on.
 *
 * A line is named here by its number; observe_place_of() tells what stands at it.
 */
#ifndef VSMP_OBSERVE_OBSERVE_H
#define VSMP_OBSERVE_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "vsmp/report.h"

/* Where an address of simulated memory belongs, for the reports; the core answers. */
struct observe_place {
	uintptr_t object; /* first byte of the allocation or variable, 0 when it is a global of the program */
	size_t object_bytes;
	const char
	    *type_name; /* of the allocation's elements, "struct page"; NULL when unknown or a global */
};

/*
 * Tells what is at `address`; observe_line_address(line) is the first byte of a line. Supplied by the core,
 * and called on any stack, while a life of the line lasts: at the first event that needs it after
 * observe_forget().
 */
struct observe_place observe_place_of(uintptr_t address);
uintptr_t observe_line_address(uint64_t line);

/* Reads the program's symbols and debug information, which are kept: a process that will start others, each
 * with a machine, does it once for all. What fails here is tried again when it is needed. */
void observe_prepare(void);

/* Starts observing for `cpus` CPUs. Returns 0 or -ENOMEM. */
int observe_open(unsigned cpus, bool profile, bool locks, bool lines, bool conflicts);
void observe_close(void);

/* --- Calls, for profiles and call sites. Always on: stacks are needed for deadlock reports. --- */

/* The CPU entered or left `function` at `now_cycles`; the time since its last mark goes to where it was.
 * `measuring`: the CPU is inside its window, otherwise the time is dropped. */
void observe_enter(unsigned cpu, const void *function, uint64_t now_cycles, bool measuring);
void observe_exit(unsigned cpu, uint64_t now_cycles, bool measuring);
/* A window begins or ends here: attributes the time up to now (or drops it) without moving the cursor. */
void observe_mark(unsigned cpu, uint64_t now_cycles, bool measuring);
/* Prints the CPU's stack, innermost first, one function a line, each line after `indent`. */
void observe_print_stack(unsigned cpu, FILE *out, const char *indent);
/* Sets the cursor back to the root (a fiber starts anew). */
void observe_reset_stack(unsigned cpu);

/* --- Locks, from port/trace.h. `bounced`: the lock's line had to come from another core for this take. ---
 */
void observe_lock_contended(unsigned cpu, const void *lock, const char *name, bool shared,
			    uint64_t now_cycles);
void observe_lock_acquired(unsigned cpu, const void *lock, const char *name, bool shared, uint64_t now_cycles,
			   bool bounced, bool measuring);
void observe_lock_released(unsigned cpu, const void *lock, const char *name, bool shared, uint64_t now_cycles,
			   bool measuring);

/* --- Lines: one call each time a line was filled from another core's cache. Call site: the CPU's cursor. ---
 */
void observe_transfer(unsigned cpu, uint64_t line, unsigned offset, unsigned bytes, bool write,
		      uint64_t wait_cycles);
/* A write by `cpu` threw the line out of `copies` other cores. */
void observe_invalidation(unsigned cpu, uint64_t line, unsigned copies);
/* Simulated memory [first line, first line + lines) begins a new life (freed, or cleared as a page): what was
 * seen of it before does not conflict with what comes. */
void observe_forget(uint64_t first_line, uint64_t lines);

/* --- Conflicts: every access inside a scope while measuring (only called when conflicts are on). --- */
/* Scope names are compared by pointer first, then as strings. */
void observe_access(unsigned cpu, const char *scope, uint64_t line, unsigned offset, unsigned bytes,
		    bool write, bool transferred);

/* Fills the rows of `report` (everything but operations, transfers, accesses). Returns 0 or -ENOMEM. */
int observe_report(struct vsmp_report *report);
void observe_report_free(struct vsmp_report *report);

#endif
