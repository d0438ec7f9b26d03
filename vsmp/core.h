/* SPDX-License-Identifier: MIT */
/*
 * The machine's inner structures, shared by the files of vsmp/ and by nobody else.
 *
 * Everything runs in one thread of the host. Exactly one simulated CPU, or the caller of vsmp_run(), runs at
 * a time; a CPU gives way only inside the functions that say so. So nothing here needs a lock.
 */
#ifndef VSMP_CORE_H
#define VSMP_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/random.h"
#include "vsmp/fiber.h"
#include "vsmp/vsmp.h"
#include "vsmp/speedup.h"

#define LINE_SHIFT 6

/* What a request wants of a line. */
enum access_kind { ACCESS_READ, ACCESS_WRITE };

enum cpu_state {
	CPU_IDLE,       /* has no body to run, or its body has returned */
	CPU_READY,      /* in the schedule, or running */
	CPU_FETCHING,   /* waits for a line to be granted */
	CPU_PARKED,     /* spins on lines that it holds; a write to one of them wakes it */
	CPU_SLEEPING,   /* in port_wait() */
	CPU_IN_GRACE,   /* waits for the end of a grace period */
	CPU_IN_BARRIER, /* waits for another CPU's RCU callback to return */
	CPU_IN_FLUSH    /* waits until another has left its access section */
};

/* A spinning CPU watches the lines that it read since its last turn; more than this and it really spins. */
#define WATCH_MAX 4

struct line;

/* Which bytes of which line. */
struct place {
	struct line *line;
	uint16_t offset, bytes;
};

/* One line that a parked CPU watches: a member of the line's list of watchers. */
struct watch {
	struct place place;      /* of the read whose value it waits to change; line NULL: not in use */
	uint32_t next, previous; /* by number; 0: none */
};

/* The condition of port_spin_until_*(): (*word & mask) == value. */
struct spin {
	const void *word; /* NULL: port_cpu_relax(), whose condition only the code itself knows */
	unsigned bytes;
	uint64_t mask, value;
	uint64_t seen; /* *word when the condition was last looked at */
};

#define SCOPE_DEPTH_MAX 16

/* See what_if.h. */
struct what_if_cpu {
	uint32_t factor;     /* of time, in parts of a million */
	uint32_t carry;      /* millionths of a cycle that are still to be added */
	uint64_t settled_at; /* the clock is true up to here */
	uint32_t depth[VSMP_SPEEDUPS_MAX];
};

struct cpu {
	/* What every access reads. */
	uint64_t clock;
	uint64_t accesses;
	uint64_t run_ahead_limit; /* beyond this clock a plain hit, too, gives way */
	uint16_t id, core, socket, blade;
	uint32_t hit_cycles, atomic_hit_cycles, fault_cycles; /* longer where a sibling shares the core */
	bool measuring;
	bool trace_accesses; /* in a scope, in the window, and conflicts are collected */
	bool has_speedups;   /* what_if.h is told of functions' entries and exits */
	bool in_speedup;     /* in a function that is to cost less, or more */
	enum cpu_state state;
	uint64_t stolen_cycles; /* by interrupts, not yet added to the clock */

	struct what_if_cpu what_if;
	struct fiber fiber;

	/* The request that it waits for (CPU_FETCHING), or a parked CPU's next. */
	struct place wanted;
	uint64_t request_clock;
	struct cpu *next_rider; /* others whose read rides on the same fill */
	bool leads_group;       /* scheduled on behalf of its riders, all of them spinning */

	/* Spinning. */
	bool spinning;
	struct spin spin;
	struct place recent[WATCH_MAX]; /* what was read since the last turn of a loop */
	unsigned recent_count;          /* WATCH_MAX + 1: too many */
	struct watch watches[WATCH_MAX];

	/* port_wait(): the word, and the others that sleep, in the order in which they fell asleep. */
	const void *sleep_word;
	uint32_t sleep_expected;
	struct cpu *next_sleeper;

	/* RCU. */
	unsigned rcu_nesting;
	bool rcu_blocks_grace; /* the grace period under way waits for this CPU's read section */
	struct port_rcu_head *rcu_callbacks, **rcu_callbacks_tail;
	bool rcu_in_callback; /* of any CPU's list */
	uint64_t rcu_callbacks_run;

	/* The MMU: inside an access section; and as a flusher, whose sections it waits for, how many they
	 * are, and the next in the machine's list. */
	bool in_access;
	uint64_t flush_waits_for[VSMP_CPUS_MAX / 64];
	unsigned flush_pending;
	struct cpu *next_flusher;

	/* What it is doing, for the reports. */
	const char *scopes[SCOPE_DEPTH_MAX];
	unsigned scope_depth;
	struct line *last_transfer; /* since the last lock was acquired */
	uint64_t window_begin, window_end;
	bool window_ended;
	bool at_barrier;
	uint64_t operations;   /* inside the window */
	uint64_t transfers;    /* inside the window */
	const char *waits_for; /* for a deadlock's report */
};

/* Costs in whole cycles, from the machine's parameters. */
struct costs {
	uint32_t cycles[VSMP_PARAMETER_COUNT];
	uint32_t fault_cycles;                         /* the exception and the path */
	double clear_core_cycles, clear_socket_cycles; /* of one page */
	uint64_t asked; /* by bits of enum vsmp_parameter: those that anything may have come to depend on */
};

_Static_assert(VSMP_PARAMETER_COUNT <= 64, "a bit for each parameter");

struct machine {
	struct vsmp_machine shape;
	struct costs costs;
	unsigned cpu_count, core_count;
	struct cpu *cpus;
	struct random random;
	uint16_t home_socket; /* of globals and boot memory */
	bool profile, locks, lines, conflicts;

	unsigned running_count; /* CPUs whose body has not returned */
	unsigned windows_ended;
	unsigned barrier_count; /* CPUs that wait at the barrier */
	uint64_t start_spread_cycles;
	uint64_t operations_before; /* of earlier runs */
	unsigned long rescues;      /* see schedule.c */
	struct fiber caller;        /* of vsmp_run() */
	void (*body)(unsigned cpu, void *argument);
	void *argument;
	char *deadlock_report;
	bool deadlocked;

	uint64_t *clear_free_at; /* per socket: when its memory is free for the next page */
	struct cpu *first_sleeper;
	struct cpu *first_flusher; /* those that wait for access sections to end */
};

/* The one machine; NULL when there is none. */
extern struct machine *machine;

/* The CPU whose accesses count now; NULL outside a run, and in vsmp_setup(). */
extern struct cpu *current;

/* The CPU whose accesses the cost model counts: `current`, but NULL while the machine explores. */
extern struct cpu *accessor;

/* The number of the CPU that runs, also in vsmp_setup(). */
extern unsigned current_id;

/* Whether accesses are told to the observers, after a change of what that depends on. */
static inline void cpu_update_tracing(struct cpu *cpu)
{
	cpu->trace_accesses = machine->conflicts && cpu->measuring && cpu->scope_depth;
}

static inline void costs_ask(struct costs *costs, enum vsmp_parameter parameter)
{
	costs->asked |= UINT64_C(1) << parameter;
}

static inline uint32_t cost(enum vsmp_parameter parameter)
{
	costs_ask(&machine->costs, parameter);
	return machine->costs.cycles[parameter];
}

#endif
