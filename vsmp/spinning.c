/* SPDX-License-Identifier: MIT */
#include "vsmp/spinning.h"

#include "port/panic.h"
#include "vsmp/access.h"
#include "vsmp/coherence.h"
#include "vsmp/explore/internal.h"
#include "vsmp/line.h"
#include "vsmp/schedule.h"

/*
 * True if the CPU may wait on its core's copy of the line: whoever writes next takes it away. While a store
 * is still to be made, by a sibling that owns the line or by an owner that shares it already, there is
 * nothing to take away and nobody would wake us.
 */
static bool holds(const struct cpu *cpu, const struct line *line, uint64_t now)
{
	return line->ready < now && (line->owner == cpu->core + 1u || line_shared_by(line, cpu->core));
}

static struct cpu *cpu_of(uint32_t number)
{
	return &machine->cpus[(number - 1) / WATCH_MAX];
}

static struct watch *watch_of(uint32_t number)
{
	return number ? &cpu_of(number)->watches[(number - 1) % WATCH_MAX] : NULL;
}

static uint32_t number_of(const struct cpu *cpu, const struct watch *watch)
{
	return (uint32_t)(cpu->id * WATCH_MAX + (unsigned)(watch - cpu->watches) + 1);
}

static void watch_place(struct cpu *cpu, struct place place)
{
	struct watch *watch = cpu->watches;
	struct line *line = place.line;
	uint32_t next = line->watchers;

	while (watch->place.line)
		watch++;
	*watch = (struct watch){.place = place, .next = next};
	if (next)
		watch_of(next)->previous = number_of(cpu, watch);
	line->watchers = number_of(cpu, watch);
}

static void stop_watching(struct cpu *cpu)
{
	for (unsigned i = 0; i < WATCH_MAX; i++) {
		struct watch *watch = &cpu->watches[i];

		if (!watch->place.line)
			continue;
		if (watch->previous)
			watch_of(watch->previous)->next = watch->next;
		else
			watch->place.line->watchers = watch->next;
		if (watch->next)
			watch_of(watch->next)->previous = watch->previous;
		watch->place.line = NULL;
	}
}

void spinning_wake(uint32_t number, uint64_t now)
{
	struct cpu *cpu = cpu_of(number);

	cpu->wanted = watch_of(number)->place;
	stop_watching(cpu);
	if (now < cpu->clock)
		now = cpu->clock;
	cpu->clock = now;
	coherence_ask(cpu, now);
}

bool spinning_condition(struct cpu *cpu)
{
	struct spin *spin = &cpu->spin;

	if (!spin->word)
		return true;
	switch (spin->bytes) {
	case 2:
		spin->seen = __atomic_load_n((const uint16_t *)spin->word, __ATOMIC_RELAXED);
		break;
	case 4:
		spin->seen = __atomic_load_n((const uint32_t *)spin->word, __ATOMIC_RELAXED);
		break;
	default:
		spin->seen = __atomic_load_n((const uint64_t *)spin->word, __ATOMIC_RELAXED);
		break;
	}
	return (spin->seen & spin->mask) == spin->value;
}

void spinning_look(struct cpu *leader)
{
	uint64_t now = leader->clock; /* riders look now too, though their clocks are ahead */
	struct cpu *next;

	leader->leads_group = false;
	for (struct cpu *cpu = leader; cpu; cpu = next) {
		struct line *line = cpu->wanted.line;

		next = cpu->next_rider;
		cpu->next_rider = NULL;
		cpu->accesses++;
		access_trace(cpu, line, cpu->wanted.offset, cpu->wanted.bytes, ACCESS_READ, true);
		if (spinning_condition(cpu)) {
			cpu->spinning = false;
			schedule_cpu(cpu);
		} else if (holds(cpu, line, now)) {
			cpu->state = CPU_PARKED;
			watch_place(cpu, cpu->wanted);
		} else {
			coherence_ask(cpu, cpu->clock);
		}
	}
}

/* A CPU that is parked by port_cpu_relax() takes another turn of its loop. */
static void turn_again(struct cpu *cpu)
{
	stop_watching(cpu);
	cpu->spinning = false;
	cpu->clock += cost(VSMP_RELAX);
	schedule_cpu(cpu);
}

bool spinning_rescue(void)
{
	bool any = false;

	for (unsigned id = 0; id < machine->cpu_count; id++) {
		struct cpu *cpu = &machine->cpus[id];

		if (cpu->state != CPU_PARKED || cpu->spin.word)
			continue;
		turn_again(cpu);
		any = true;
	}
	return any;
}

static bool watches_in(const struct cpu *cpu, const struct line *first, const struct line *end)
{
	for (unsigned i = 0; i < WATCH_MAX; i++)
		if (cpu->watches[i].place.line >= first && cpu->watches[i].place.line < end)
			return true;
	return false;
}

static bool any_is_watched(const struct line *line, const struct line *end)
{
	while (line < end && !line->watchers)
		line++;
	return line < end;
}

void spinning_forget(const struct line *first, const struct line *end)
{
	/* What is freed most often is short, and nobody's. */
	if (end - first < machine->cpu_count && !any_is_watched(first, end))
		return;
	for (unsigned id = 0; id < machine->cpu_count; id++) {
		struct cpu *cpu = &machine->cpus[id];

		if (cpu->state != CPU_PARKED || !watches_in(cpu, first, end))
			continue;
		invariant(!cpu->spin.word);
		/* It learns of it when it happens. */
		if (current && cpu->clock < current->clock)
			cpu->clock = current->clock;
		turn_again(cpu);
	}
}

/* Parks the current CPU on the lines that it watches already, until one is written to and read again. */
static void park(struct cpu *cpu, const char *waits_for)
{
	cpu->state = CPU_PARKED;
	cpu->spinning = true;
	cpu->waits_for = waits_for;
	schedule_others();
	cpu->waits_for = NULL;
}

uint64_t spinning_until(const void *word, unsigned bytes, uint64_t mask, uint64_t value)
{
	struct cpu *cpu = current;
	struct cpu outside = {.spin = {.word = word, .bytes = bytes, .mask = mask, .value = value}};
	struct line *line = line_of((uintptr_t)word);

	if (unlikely(exploring))
		return explore_spin_until(word, bytes, mask, value, __builtin_return_address(0));
	if (!cpu) {
		/* Outside a run there is no other CPU that could make the condition true. */
		invariant(spinning_condition(&outside));
		return outside.spin.seen;
	}
	if (!line) {
		/* Not simulated, a stack for one: nothing tells of a write to it, so the loop is really run.
		 */
		while (!spinning_condition(&outside)) {
			cpu->clock += cost(VSMP_RELAX);
			schedule_turn(cpu);
		}
		return outside.spin.seen;
	}
	access_memory((uintptr_t)word, bytes, ACCESS_READ, false);
	cpu->spin = (struct spin){.word = word, .bytes = bytes, .mask = mask, .value = value};
	while (!spinning_condition(cpu)) {
		if (holds(cpu, line, cpu->clock)) {
			watch_place(
			    cpu, (struct place){line, (uintptr_t)word % CACHE_LINE_BYTES, (uint16_t)bytes});
			park(cpu, "for a word to change (spinning)");
			break;
		}
		cpu->clock += cost(VSMP_RELAX);
		access_memory((uintptr_t)word, bytes, ACCESS_READ, false);
	}
	cpu->recent_count = 0;
	return cpu->spin.seen;
}

/* Turns of one loop outside a run, where nobody else can end it. */
#define LONELY_TURNS_MAX 1000000

void spinning_relax(void)
{
	static unsigned lonely_turns;
	struct cpu *cpu = current;
	bool can_park;

	if (unlikely(exploring)) {
		explore_relax();
		return;
	}
	if (!cpu) {
		invariant(++lonely_turns < LONELY_TURNS_MAX);
		return;
	}
	lonely_turns = 0;
	cpu->clock += cost(VSMP_RELAX);
	can_park = cpu->recent_count > 0 && cpu->recent_count <= WATCH_MAX;
	for (unsigned i = 0; can_park && i < cpu->recent_count; i++)
		can_park = holds(cpu, cpu->recent[i].line, cpu->clock);
	if (can_park) {
		for (unsigned i = 0; i < cpu->recent_count; i++)
			watch_place(cpu, cpu->recent[i]);
		cpu->spin.word = NULL;
		park(cpu, "for a line to be written to (cpu_relax)");
	} else {
		schedule_turn(cpu);
	}
	cpu->recent_count = 0;
}
