/* SPDX-License-Identifier: MIT */
/*
 * Inside of vsmp/explore/: what its files ask of each other, and what the machine's hooks call while it
 * explores. Everything runs in one thread; the CPU that an event belongs to is `current`, or CPU 0 in setup,
 * holds and teardown (`current` NULL, explore_alone true), where nothing is scheduled.
 *
 *   run.c       opens, runs one schedule, closes; how a failure leaves a schedule
 *   events.c    what the hooks call: one event after the other to all who want to know of it
 *   choose.c    who takes the next step: random, PCT, forced
 *   undo.c      puts written lines, the allocator and the machine's structures back
 *   clocks.c    vector clocks: what happens before what
 *   race.c      plain accesses that nothing orders
 *   lifetime.c  memory that is not allocated, or dead
 *   record.c    all events of one schedule, with their stacks
 *   minimise.c  the same failure with fewer context switches
 *   print.c     the report
 *   report.c    explore_report(): replay, minimise, print
 *
 * vsmp/explore/record.h says what run.c, choose.c and the hooks tell the recorder, and declares
 * explore_run_forced(), which run.c supplies.
 */
#ifndef VSMP_EXPLORE_INTERNAL_H
#define VSMP_EXPLORE_INTERNAL_H

#include "vsmp/check.h"
#include "vsmp/core.h"
#include "vsmp/explore/explore.h"

/* What kind of event a hook tells of. */
enum explore_event {
	EXPLORE_READ,   /* plain */
	EXPLORE_WRITE,  /* plain */
	EXPLORE_LOAD,   /* atomic */
	EXPLORE_STORE,  /* atomic */
	EXPLORE_MODIFY, /* atomic; a compare-and-swap that failed is a LOAD */
	EXPLORE_FENCE,
	EXPLORE_CALL /* of port/: `what` says which */
};

struct explore_access {
	uintptr_t address;
	uint32_t bytes;
	enum explore_event event;
	int order;      /* __ATOMIC_*, of atomic ones and fences */
	const void *pc; /* where in the instrumented code: the return address of the hook */
};

/* --- The hooks' side: called by the machine's files when `exploring` --------------------------------- */

extern bool exploring;     /* a check or a schedule is open: accesses come here, not to the cost model */
extern bool explore_alone; /* in setup, holds or teardown */

/*
 * explore_alone, and nothing is written down: all that counts is whether memory lives, and what is written.
 * Most accesses of all are made so, by holds and teardown, which look at everything.
 */
extern bool explore_quiet;

/*
 * A plain access of simulated memory, before it is made: saves the line for the undo, checks lifetime and
 * races. No step.
 */
void explore_plain(const struct explore_access *access);

/* An atomic access is about to be made: a step, others may run first. */
void explore_turn(const struct explore_access *access);

/*
 * The same access after explore_turn() and before it is made: as explore_plain(). By now a compare-and-swap
 * knows whether it will succeed: one that will fail comes here as a LOAD.
 */
void explore_before_atomic(const struct explore_access *access);

/* The same, after it was made and before anyone else runs: moves the clocks, with the value for the record.
 */
void explore_after_atomic(const struct explore_access *access, uint64_t value);

/* A function of port/ that synchronises begins: a step. `object`: the word, the lock, or NULL. */
void explore_call(const char *what, const void *object, const void *pc);

/* The machine itself makes a plain access for the code at `pc`. */
void explore_touch(const void *memory, size_t bytes, enum explore_event event, const void *pc);

/* A fence, and a function that is entered or left. */
void explore_fence(int order, const void *pc);
void explore_enter(const void *function, const void *call_site, const void *pc);
void explore_exit(void);

/* Fails when the calling CPU is in an RCU read section: there nobody "waits for a grace period". */
void explore_no_reader(const char *does_what);

/* --- choose.c ------------------------------------------------------------------------------------------- */

/* A point where the current CPU, which can go on, may lose its turn. Counts a step. */
void explore_step(void);

/*
 * The current CPU cannot go on, or there is none yet: makes the next one current and returns it. Where nobody
 * can, the schedule fails.
 */
struct cpu *explore_next(void);

/* `cpu` can go on: it may be chosen from now on. */
void explore_ready(struct cpu *cpu);

/* port_spin_until_*() and port_cpu_relax(), called from `pc`. */
uint64_t explore_spin_until(const void *word, unsigned bytes, uint64_t mask, uint64_t value, const void *pc);
void explore_relax(void);

/* --- undo.c --------------------------------------------------------------------------------------------- */

/* Machine code is about to write simulated memory without a hook: saves the lines. */
void explore_save(const void *memory, size_t bytes);

/* --- clocks.c, race.c, lifetime.c: tables that live as long as the machine; 0 or -ENOMEM -----------------
 */

int clocks_open(unsigned cpus);
void clocks_close(void);
int race_open(void);
void race_close(void);
int lifetime_open(void);
void lifetime_close(void);

/* A schedule begins: forgets all accesses. With clocks_reset(). */
void race_reset(void);

/*
 * Before each access, in this order, with the current CPU's clock; race_*() not while explore_alone.
 * race_atomic() takes what a load acquires first, since the load itself comes after that; clocks_atomic(),
 * called after the access, takes it again and then hands over.
 */
void lifetime_check(const struct explore_access *access);

/*
 * Noted and looked at while explore_quiet: lines of the arena that are alive as a whole; what lies in them
 * need not be checked. Kept until the schedule is over. A line stands in the place of its number in `lines`,
 * modulo their count, as lifetime_alive_base and its number.
 */
#define LIFETIME_ALIVE_LINES 512u
extern uint64_t lifetime_alive_line[LIFETIME_ALIVE_LINES];
extern uint64_t lifetime_alive_base;
void race_plain(const struct explore_access *access);
void race_atomic(const struct explore_access *access);

/*
 * port_memory_alloc() gave out, and port_memory_free() takes back (a write of all of it). Also in setup,
 * holds and teardown. While exploring no address is given out twice, and at least a line lies between any
 * two.
 */
void lifetime_allocated(uintptr_t address, size_t bytes);

/* `wanted`: what was asked for; `bytes` rounded up. `type_name` may be NULL. */
void lifetime_freed(uintptr_t address, size_t bytes, size_t wanted, const char *type_name, const void *pc);

/* Setup is over: what lives and is dead now is so again after each lifetime_reset(). */
void lifetime_baseline(void);
void lifetime_reset(void);

/* --- clocks.c: all are told about the current CPU ------------------------------------------------------- */

void clocks_reset(void);
void clocks_atomic(const struct explore_access *access);
void clocks_wake(const struct cpu *woken); /* what the waker did comes before what the woken one does */

/* RCU. The outermost read_lock and read_unlock: */
void clocks_rcu_lock(void);
void clocks_rcu_unlock(void);
void clocks_grace_begin(
    void); /* port_rcu_synchronize() begins: sections that begin later see what came before */
void clocks_grace_end(void);      /* and returns: sees all sections that had begun before */
void clocks_call(void *head);     /* port_rcu_call(head): as clocks_grace_begin() */
void clocks_callback(void *head); /* before the callback runs: as clocks_grace_end() for that call */
void clocks_callback_end(void);   /* the callback has returned */
void clocks_callbacks_done(void); /* port_rcu_barrier() returns: sees all that callbacks did */

/* TLB flushes: port_mmu_flush() begins and returns; an access section begins and ends. */
void clocks_flush_begin(const uint64_t *cpus, unsigned words);
void clocks_flush(void);
void clocks_access_begin(void);
void clocks_access_end(void);

/* Told by port/trace.h's port_lock_acquired() and port_lock_released(): who holds no lock must be in a
 * section. */
void clocks_lock_acquired(void);
void clocks_lock_released(void);

/* All CPUs whose at_barrier is set go on together. */
void clocks_barrier(void);

/* --- Failures ------------------------------------------------------------------------------------------- */

/* Where an event of a schedule happened. */
struct explore_place {
	unsigned cpu;
	const struct call_node *stack; /* of vsmp/observe/calls.h */
	const void *pc;
};

/*
 * The schedule ends here with this failure: never returns to the code under test. `other` is the other side
 * (the earlier access of a race, the free), NULL when there is none. `text` is one line without a newline.
 */
_Noreturn void explore_fail(enum explore_kind kind, const struct explore_place *other, const char *text);

#endif
