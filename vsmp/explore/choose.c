/* SPDX-License-Identifier: MIT */
#include "vsmp/explore/choose.h"

#include <stdio.h>

#include "port/panic.h"
#include "vsmp/schedule.h"
#include "vsmp/spinning.h"

/* So many turns of a loop in port_cpu_relax() lower the priority of its CPU: two loops that write must not
 * keep each other going and a third from running. */
#define PCT_RELAX_TURNS 8

uint32_t choose_plain_accesses;

struct change {
	uint64_t step;
	int priority;
};

static struct {
	struct choose_plan plan;
	struct random random;
	uint64_t steps;
	uint64_t fingerprint;

	/* Sets of CPUs. */
	unsigned ready;    /* have a next instruction */
	unsigned spinning; /* wait for a word; not ready */
	unsigned relaxed;  /* ready, in port_cpu_relax(), and nobody else has written since */

	/* PCT. */
	int priorities[CHECK_CPUS_MAX]; /* the highest runs */
	int lowest;
	struct change changes[EXPLORE_DEPTH_MAX];
	unsigned change;
	unsigned relax_turns[CHECK_CPUS_MAX];

	/* Forced. */
	size_t segment;
	uint64_t taken; /* of its steps */

	unsigned coins[CHECK_CPUS_MAX];
} choose;

/* --- A schedule begins ---------------------------------------------------------------------------------- */

static void draw_priorities(void)
{
	unsigned cpus = machine->cpu_count, depth = choose.plan.depth;

	for (unsigned id = 0; id < cpus; id++) {
		unsigned other = (unsigned)random_below(&choose.random, id + 1);

		choose.priorities[id] = choose.priorities[other];
		choose.priorities[other] = (int)(depth + id);
	}
	choose.lowest = 0;
	choose.change = 0;
	for (unsigned i = 0; i + 1 < depth; i++) {
		struct change drawn = {1 + random_below(&choose.random, choose.plan.steps), (int)(i + 1)};
		unsigned at = i;

		for (; at && choose.changes[at - 1].step > drawn.step; at--)
			choose.changes[at] = choose.changes[at - 1];
		choose.changes[at] = drawn;
	}
}

void choose_begin(const struct choose_plan *plan)
{
	choose.plan = *plan;
	random_seed(&choose.random, plan->seed);
	/* Seeds that follow each other must not share most of their numbers. */
	random_seed(&choose.random, random_next(&choose.random));
	choose.steps = 0;
	choose.fingerprint = 0;
	choose.ready = choose.spinning = choose.relaxed = 0;
	choose.segment = 0;
	choose.taken = 0;
	for (unsigned id = 0; id < machine->cpu_count; id++)
		choose.coins[id] = choose.relax_turns[id] = 0;
	if (plan->mode == CHOOSE_PCT)
		draw_priorities();
}

uint64_t choose_steps(void)
{
	return choose.steps;
}

uint64_t choose_fingerprint(void)
{
	return choose.fingerprint;
}

void choose_note(enum explore_event event, uintptr_t address)
{
	uint64_t what = (uint64_t)(address >> LINE_SHIFT) << 8 | (uint64_t)event << 4 | current_id;

	choose.fingerprint = (choose.fingerprint ^ what) * 0x9e3779b97f4a7c15ull;
	choose.fingerprint ^= choose.fingerprint >> 32;
}

bool choose_coin(void)
{
	struct random coin;
	unsigned number = choose.coins[current_id]++;

	random_seed(&coin, choose.plan.seed ^ ((uint64_t)number << 32 | (uint64_t)current_id << 56));
	return random_next(&coin) & 1;
}

/* --- Who can run ---------------------------------------------------------------------------------------- */

static unsigned bit(unsigned id)
{
	return 1u << id;
}

static unsigned first(unsigned set)
{
	return (unsigned)__builtin_ctz(set);
}

void explore_ready(struct cpu *cpu)
{
	choose.ready |= bit(cpu->id);
}

void choose_wrote(void)
{
	choose.relaxed &= bit(current_id);
}

/* Those that can take the next step; 0: nobody ever will. */
static unsigned able(void)
{
	unsigned set = choose.ready & ~choose.relaxed;

	for (unsigned rest = choose.spinning; rest; rest &= rest - 1)
		if (spinning_condition(&machine->cpus[first(rest)]))
			set |= bit(first(rest));
	if (!set) {
		/* They may have waited for something else, or turn only so many times. */
		choose.relaxed = 0;
		set = choose.ready;
	}
	return set;
}

/* --- Who runs ------------------------------------------------------------------------------------------- */

static unsigned choose_stay(unsigned set)
{
	return current && (set & bit(current->id)) ? current->id : first(set);
}

static unsigned choose_random(unsigned set)
{
	unsigned count = (unsigned)__builtin_popcount(set);

	if (count > 1)
		for (unsigned skip = (unsigned)random_below(&choose.random, count); skip; skip--)
			set &= set - 1;
	return first(set);
}

static unsigned highest(unsigned set)
{
	unsigned best = first(set);

	for (set &= set - 1; set; set &= set - 1)
		if (choose.priorities[first(set)] > choose.priorities[best])
			best = first(set);
	return best;
}

static unsigned choose_pct(unsigned set)
{
	unsigned best = highest(set);

	while (choose.change + 1 < choose.plan.depth &&
	       choose.changes[choose.change].step <= choose.steps + 1) {
		choose.priorities[best] = choose.changes[choose.change++].priority;
		best = highest(set);
	}
	return best;
}

static unsigned choose_forced(unsigned set)
{
	const struct choose_plan *plan = &choose.plan;

	while (choose.segment < plan->segment_count) {
		const struct explore_segment *segment = &plan->segments[choose.segment];

		if (choose.taken < segment->steps && (set & bit(segment->cpu))) {
			choose.taken++;
			return segment->cpu;
		}
		choose.segment++;
		choose.taken = 0;
	}
	return choose_stay(set);
}

static void run_on(struct cpu *cpu)
{
	unsigned mine = bit(cpu->id);

	choose.spinning &= ~mine;
	choose.relaxed &= ~mine;
	choose.ready |= mine;
	cpu->state = CPU_READY;
	current = cpu;
	current_id = cpu->id;
	choose_plain_accesses = 0;
	if (++choose.steps > choose.plan.steps_max) {
		char text[96];

		snprintf(text, sizeof(text), "no end after %llu steps",
			 (unsigned long long)choose.plan.steps_max);
		explore_fail(EXPLORE_LIVELOCK, NULL, text);
	}
	if (unlikely(record_level))
		record_step();
}

static struct cpu *choose_next(unsigned set)
{
	unsigned id;

	switch (choose.plan.mode) {
	case CHOOSE_FIRST:
		id = choose_stay(set);
		break;
	case CHOOSE_FORCED:
		id = choose_forced(set);
		break;
	case CHOOSE_PCT:
		/* Priorities are not fair: a loop that is not taken for one that waits must end all the same.
		 */
		if (choose.steps < choose.plan.steps_max / 2) {
			id = choose_pct(set);
			break;
		}
		/* fall through */
	default:
		id = choose_random(set);
		break;
	}
	run_on(&machine->cpus[id]);
	return current;
}

void explore_step(void)
{
	struct cpu *self = current;
	struct cpu *next = choose_next(able());

	if (next != self)
		fiber_switch(&self->fiber, &next->fiber);
}

/* Nobody can run: who sleeps on a word that has changed since was forgotten by whoever changed it. */
static _Noreturn void stuck(void)
{
	unsigned waiting = 0;
	char text[128];

	for (unsigned id = 0; id < machine->cpu_count; id++) {
		const struct cpu *cpu = &machine->cpus[id];
		const uint32_t *word = cpu->sleep_word;

		waiting += cpu->state != CPU_IDLE;
		if (!word || __atomic_load_n(word, __ATOMIC_RELAXED) == cpu->sleep_expected)
			continue;
		snprintf(text, sizeof(text),
			 "CPU %u sleeps until %u changes, which is %u, and nobody can run", id,
			 cpu->sleep_expected, __atomic_load_n(word, __ATOMIC_RELAXED));
		explore_fail(EXPLORE_LOST_WAKEUP, NULL, text);
	}
	snprintf(text, sizeof(text), "%u of %u CPUs wait, and no CPU can run", waiting, machine->cpu_count);
	explore_fail(EXPLORE_DEADLOCK, NULL, text);
}

struct cpu *explore_next(void)
{
	unsigned set;

	if (current && current->state != CPU_READY)
		choose.ready &= ~bit(current->id);
	set = able();
	if (!set)
		stuck();
	return choose_next(set);
}

/* --- Spinning ------------------------------------------------------------------------------------------- */

uint64_t explore_spin_until(const void *word, unsigned bytes, uint64_t mask, uint64_t value, const void *pc)
{
	struct cpu *cpu = &machine->cpus[current_id];
	struct explore_access access = {(uintptr_t)word, bytes, EXPLORE_LOAD, __ATOMIC_ACQUIRE, pc};

	explore_turn(&access);
	cpu->spin = (struct spin){.word = word, .bytes = bytes, .mask = mask, .value = value};
	/* A word that is not there would never change. */
	explore_before_atomic(&access);
	if (!spinning_condition(cpu)) {
		if (explore_alone)
			explore_fail(EXPLORE_DEADLOCK, NULL,
				     "spins for a word to change, when no other CPU runs");
		choose.spinning |= bit(cpu->id);
		cpu->state = CPU_PARKED;
		cpu->waits_for = "for a word to change (spinning)";
		schedule_others();
		cpu->waits_for = NULL;
		explore_before_atomic(&access);
	}
	explore_after_atomic(&access, cpu->spin.seen);
	return cpu->spin.seen;
}

void explore_relax(void)
{
	if (explore_alone) {
		if (++choose.steps > choose.plan.steps_max)
			explore_fail(EXPLORE_LIVELOCK, NULL,
				     "turns in a loop for ever, when no other CPU runs");
		return;
	}
	if (choose.plan.mode == CHOOSE_PCT && ++choose.relax_turns[current_id] % PCT_RELAX_TURNS == 0)
		choose.priorities[current_id] = --choose.lowest;
	choose.relaxed |= bit(current_id);
	explore_step();
}
