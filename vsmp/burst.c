/* SPDX-License-Identifier: MIT */
/*
 * The burst microbenchmark, replayed: the published curves were measured so, one operation a core a period,
 * not in a closed loop. The line lies in the arena like any other; the CPUs' code is here, uninstrumented.
 */
#include <errno.h>

#include "port/memory.h"
#include "port/panic.h"
#include "vsmp/access.h"
#include "vsmp/core.h"
#include "vsmp/vsmp.h"

#define PERIOD_CYCLES  400000u
#define WARM_UP_ROUNDS 20u

struct burst {
	uintptr_t line;
	bool reads;
	unsigned rounds;
	uint64_t begin, period; /* of the first round, and of each, in cycles */
	uint64_t cycles, operations;
};

static uint64_t skew_of[VSMP_SOCKETS_MAX];

/* The sockets' clocks lie apart by an amount that drifts: each round has its own. */
static uint64_t skew(unsigned round, unsigned socket)
{
	static unsigned drawn_for;

	if (drawn_for != round + 1) {
		for (unsigned i = 0; i < machine->shape.sockets; i++)
			skew_of[i] = random_below(&machine->random, cost(VSMP_SKEW) + 1);
		drawn_for = round + 1;
	}
	return skew_of[socket];
}

static void wait_until(struct cpu *cpu, uint64_t clock)
{
	invariant(clock >= cpu->clock);
	cpu->clock = clock;
	schedule_turn(cpu);
}

/* Of one operation on the line, with margin: the sum of what can keep it busy. */
static uint64_t longest_occupancy(void)
{
	return (uint64_t)cost(VSMP_REMOTE_DIRTY_OCCUPANCY) + cost(VSMP_REMOTE_WRITE_OCCUPANCY) +
	       cost(VSMP_BLADE_DIRTY_OCCUPANCY) + cost(VSMP_LOCAL_WRITE_OCCUPANCY) +
	       cost(VSMP_LOCAL_READ_OCCUPANCY);
}

static void burst_body(unsigned id, void *argument)
{
	struct burst *burst = argument;
	struct cpu *cpu = current;

	for (unsigned round = 0; round < WARM_UP_ROUNDS + burst->rounds; round++) {
		uint64_t begin = burst->begin + round * burst->period;
		bool read = burst->reads && id;

		if (id)
			begin += burst->period / 2 + skew(round, cpu->socket);
		wait_until(cpu, begin);
		access_memory(burst->line, sizeof(uint64_t), read ? ACCESS_READ : ACCESS_WRITE, !read);
		if (round >= WARM_UP_ROUNDS && (!burst->reads || id)) {
			burst->cycles += cpu->clock - begin;
			burst->operations++;
		}
	}
}

int vsmp_burst(int reads, unsigned rounds, double *mean_cycles)
{
	struct burst burst = {.reads = reads, .rounds = rounds};
	void *line;
	int error;

	if (machine->cpu_count < (reads ? 2u : 1u) || !rounds)
		return -EINVAL;
	line = vsmp_memory_alloc(CACHE_LINE_BYTES, machine->cpus[0].socket, NULL);
	if (!line)
		return -ENOMEM;
	burst.line = (uintptr_t)line;
	/* Half a period must see all operations of a round done, one after the other. */
	burst.period = 4ull * machine->cpu_count * longest_occupancy();
	if (burst.period < PERIOD_CYCLES)
		burst.period = PERIOD_CYCLES;
	for (unsigned id = 0; id < machine->cpu_count; id++)
		if (machine->cpus[id].clock >= burst.begin)
			burst.begin = machine->cpus[id].clock + burst.period;
	error = vsmp_run(burst_body, &burst, 0, NULL);
	vsmp_memory_free(line, CACHE_LINE_BYTES);
	if (!error)
		*mean_cycles = (double)burst.cycles / (double)burst.operations;
	return error;
}
