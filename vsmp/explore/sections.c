/* SPDX-License-Identifier: MIT */
/*
 * What happens before what by RCU and by TLB flushes. Both wait for sections of other CPUs that were open
 * when the wait began, and both promise no more than their contracts in port/ say: what was done in sections
 * that had begun when the wait began happens before its end, and what came before the wait happens before
 * what is done in sections that begin later. A section that begins during the wait, and happens to be over
 * before it ends, is not ordered before its end.
 */
#include "vsmp/explore/shadow.h"

#include <errno.h>
#include <string.h>

#include "port/panic.h"
#include "port/rcu.h"
#include "vsmp/line.h"

/* One wait. */
struct wait {
	uint32_t clock[CLOCKS_CPUS_MAX]; /* what happened before its end, as far as it is known */
	uint64_t open;                   /* CPUs whose section it still waits for */
	struct wait *next;               /* of those with such CPUs */
	void *head;                      /* of a callback; NULL: a CPU waits */
	struct wait *next_call;          /* in the same bucket, or free */
};

/* Sections of one kind. */
struct sections {
	uint64_t open; /* CPUs that are in one */
	/* By CPU: the clock at the end of its last section; and what its next one comes after. */
	uint32_t ended[CLOCKS_CPUS_MAX][CLOCKS_CPUS_MAX];
	uint32_t begun[CLOCKS_CPUS_MAX][CLOCKS_CPUS_MAX];
	struct wait *waits;                  /* that have CPUs to wait for */
	struct wait of_cpu[CLOCKS_CPUS_MAX]; /* a CPU waits once at a time */
};

static struct sections rcu, accesses;

/* The callbacks that have been handed over and have not run. */
#define CALL_BUCKETS 64
#define CALLS_MAX    (1u << 20)
#define CALLS_BYTES  (CALLS_MAX * sizeof(struct wait))
static struct wait *call_buckets[CALL_BUCKETS];
static struct wait *calls;
static uint32_t calls_used;
static struct wait *calls_free;

/* What callbacks have done that have returned. */
static uint32_t callbacks_done[CLOCKS_CPUS_MAX];

static unsigned locks_held[CLOCKS_CPUS_MAX];

int sections_open(void)
{
	calls = shadow_reserve(CALLS_BYTES);
	return calls ? 0 : -ENOMEM;
}

void sections_close(void)
{
	shadow_release(calls, CALLS_BYTES);
	calls = NULL;
}

static void reset(struct sections *sections)
{
	sections->open = 0;
	sections->waits = NULL;
	for (unsigned cpu = 0; cpu < clocks_count; cpu++) {
		memset(sections->ended[cpu], 0, clocks_count * sizeof(uint32_t));
		memset(sections->begun[cpu], 0, clocks_count * sizeof(uint32_t));
	}
}

void sections_reset(void)
{
	reset(&rcu);
	reset(&accesses);
	memset(call_buckets, 0, sizeof(call_buckets));
	memset(callbacks_done, 0, clocks_count * sizeof(uint32_t));
	memset(locks_held, 0, clocks_count * sizeof(*locks_held));
	calls_used = 0;
	calls_free = NULL;
}

static void enter(struct sections *sections)
{
	unsigned self = clocks_self();

	if (explore_alone)
		return;
	sections->open |= (uint64_t)1 << self;
	clocks_join_into(clocks_now[self], sections->begun[self]);
}

static void leave(struct sections *sections)
{
	unsigned self = clocks_self();
	uint64_t bit = (uint64_t)1 << self;
	struct wait **link = &sections->waits;

	if (explore_alone)
		return;
	sections->open &= ~bit;
	memcpy(sections->ended[self], clocks_now[self], clocks_count * sizeof(uint32_t));
	while (*link) {
		struct wait *wait = *link;

		if (wait->open & bit) {
			clocks_join_into(wait->clock, clocks_now[self]);
			wait->open &= ~bit;
		}
		if (wait->open)
			link = &wait->next;
		else
			*link = wait->next;
	}
	clocks_tick(self);
}

/* The current CPU's wait begins, for sections of `cpus`. */
static void begin(struct sections *sections, struct wait *wait, uint64_t cpus)
{
	unsigned self = clocks_self();

	memset(wait->clock, 0, clocks_count * sizeof(uint32_t));
	for (unsigned cpu = 0; cpu < clocks_count; cpu++) {
		if (!(cpus >> cpu & 1))
			continue;
		clocks_join_into(wait->clock, sections->ended[cpu]);
		clocks_join_into(sections->begun[cpu], clocks_now[self]);
	}
	wait->open = sections->open & cpus;
	if (wait->open) {
		wait->next = sections->waits;
		sections->waits = wait;
	}
}

static void end(const struct wait *wait)
{
	/* The machine has waited for them. */
	invariant(!wait->open);
	clocks_join_into(clocks_now[clocks_self()], wait->clock);
}

/* --- RCU ------------------------------------------------------------------------------------------------ */

void clocks_rcu_lock(void)
{
	enter(&rcu);
}

void clocks_rcu_unlock(void)
{
	leave(&rcu);
}

void clocks_grace_begin(void)
{
	unsigned self = clocks_self();

	if (explore_alone)
		return;
	begin(&rcu, &rcu.of_cpu[self], ~(uint64_t)0);
	clocks_tick(self);
}

void clocks_grace_end(void)
{
	if (!explore_alone)
		end(&rcu.of_cpu[clocks_self()]);
}

static struct wait **bucket_of(const void *head)
{
	return &call_buckets[(uintptr_t)head / CACHE_LINE_BYTES % CALL_BUCKETS];
}

void clocks_call(void *head)
{
	struct wait **bucket = bucket_of(head), *call = calls_free;
	unsigned self = clocks_self();

	if (explore_alone)
		return;
	if (call) {
		calls_free = call->next_call;
	} else {
		invariant(calls_used < CALLS_MAX);
		call = &calls[calls_used++];
	}
	begin(&rcu, call, ~(uint64_t)0);
	clocks_join_into(call->clock, clocks_now[self]);
	call->head = head;
	call->next_call = *bucket;
	*bucket = call;
	clocks_tick(self);
}

/* One that setup handed over is not known: it comes after everything anyway. */
void clocks_callback(void *head)
{
	struct wait **link = bucket_of(head), *call;

	if (explore_alone)
		return;
	while (*link && (*link)->head != head)
		link = &(*link)->next_call;
	call = *link;
	if (!call)
		return;
	end(call);
	*link = call->next_call;
	call->next_call = calls_free;
	calls_free = call;
}

void clocks_callback_end(void)
{
	unsigned self = clocks_self();

	if (explore_alone)
		return;
	clocks_join_into(callbacks_done, clocks_now[self]);
	clocks_tick(self);
}

void clocks_callbacks_done(void)
{
	if (!explore_alone)
		clocks_join_into(clocks_now[clocks_self()], callbacks_done);
}

/* --- TLB flushes ---------------------------------------------------------------------------------------- */

void clocks_access_begin(void)
{
	enter(&accesses);
}

void clocks_access_end(void)
{
	leave(&accesses);
}

void clocks_flush_begin(const uint64_t *cpus, unsigned words)
{
	unsigned self = clocks_self();

	if (explore_alone)
		return;
	begin(&accesses, &accesses.of_cpu[self], words ? cpus[0] : 0);
	clocks_tick(self);
}

void clocks_flush(void)
{
	if (!explore_alone)
		end(&accesses.of_cpu[clocks_self()]);
}

/* --- Readers -------------------------------------------------------------------------------------------- */

void clocks_lock_acquired(void)
{
	locks_held[clocks_self()]++;
}

void clocks_lock_released(void)
{
	locks_held[clocks_self()]--;
}

void vsmp_rcu_reading(int or_locked)
{
	unsigned self = clocks_self();

	if (!exploring || explore_alone || machine->cpus[self].rcu_nesting || (or_locked && locks_held[self]))
		return;
	explore_fail(EXPLORE_RCU_READER, NULL,
		     or_locked ? "follows an RCU pointer outside a read section, and holds no lock"
			       : "follows an RCU pointer outside a read section");
}
