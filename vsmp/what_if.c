/* SPDX-License-Identifier: MIT */
#include "vsmp/what_if.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "vsmp/observe/pairmap.h"
#include "vsmp/observe/symbols.h"
#include "vsmp/vsmp.h"

static struct {
	struct vsmp_speedup speedups[VSMP_SPEEDUPS_MAX];
	uint32_t factors[VSMP_SPEEDUPS_MAX];
	unsigned count;
	unsigned entered;
	struct pairmap number_of; /* (function, 0) to its speedup's number + 1, or to NONE */
} what_if;

#define NONE (VSMP_SPEEDUPS_MAX + 1)

int what_if_open(const struct vsmp_speedup *speedups, unsigned count, struct message *why)
{
	if (count && symbols_open())
		return message_set(why, -ENOMEM, "no memory for the names of functions");
	for (unsigned i = 0; i < count; i++) {
		if (!symbols_has_function(speedups[i].symbol))
			return message_set(why, -ENOENT,
					   "there is no function \"%s\"; --profile lists those that run",
					   message_quote(speedups[i].symbol).text);
		what_if.speedups[i] = speedups[i];
		what_if.factors[i] = (uint32_t)lround(WHAT_IF_ONE * (1 - speedups[i].percent / 100));
	}
	what_if.count = count;
	return 0;
}

bool vsmp_has_function(const char *symbol)
{
	return !symbols_open() && symbols_has_function(symbol);
}

void what_if_close(void)
{
	pairmap_free(&what_if.number_of);
	memset(&what_if, 0, sizeof(what_if));
}

unsigned what_if_entered(void)
{
	return what_if.entered;
}

static uint64_t find_number(const void *function)
{
	char name[SYMBOLS_NAME_BYTES];

	symbols_function_name(function, name);
	for (unsigned i = 0; i < what_if.count; i++)
		if (!strcmp(name, what_if.speedups[i].symbol))
			return i + 1;
	return NONE;
}

/* A function is looked up once. Where there is no memory to remember it, each time. */
static unsigned number_of(const void *function)
{
	uint64_t number = pairmap_get(&what_if.number_of, (uintptr_t)function, 0);

	if (!number) {
		uint64_t *place = pairmap_at(&what_if.number_of, (uintptr_t)function, 0);

		number = find_number(function);
		if (place)
			*place = number;
	}
	return (unsigned)number;
}

static void update(struct cpu *cpu)
{
	uint64_t factor = WHAT_IF_ONE;

	cpu->in_speedup = false;
	for (unsigned i = 0; i < what_if.count; i++)
		if (cpu->what_if.depth[i]) {
			cpu->in_speedup = true;
			factor = factor * what_if.factors[i] / WHAT_IF_ONE;
		}
	cpu->what_if.factor = (uint32_t)factor;
	what_if_settled(cpu);
}

void what_if_enter(struct cpu *cpu, const void *function)
{
	unsigned number = number_of(function);

	if (number == NONE)
		return;
	what_if.entered |= 1u << (number - 1);
	if (!cpu->what_if.depth[number - 1]++)
		update(cpu);
}

void what_if_exit(struct cpu *cpu, const void *function)
{
	unsigned number = number_of(function);

	/* A function that was entered before the CPU's stack was reset has left no trace. */
	if (number != NONE && cpu->what_if.depth[number - 1] && !--cpu->what_if.depth[number - 1])
		update(cpu);
}

void what_if_settle_now(struct cpu *cpu)
{
	uint64_t own = cpu->clock - cpu->what_if.settled_at;
	uint64_t scaled = own * cpu->what_if.factor + cpu->what_if.carry;

	cpu->clock = cpu->what_if.settled_at + scaled / WHAT_IF_ONE;
	cpu->what_if.carry = (uint32_t)(scaled % WHAT_IF_ONE);
	what_if_settled(cpu);
}
