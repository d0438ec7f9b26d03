/* SPDX-License-Identifier: MIT */
#include "vsmp/vsmp.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "port/page.h"
#include "port/panic.h"
#include "vsmp/coherence.h"
#include "vsmp/core.h"
#include "vsmp/explore/record.h"
#include "vsmp/explore/run.h"
#include "vsmp/line.h"
#include "vsmp/memory.h"
#include "vsmp/observe/observe.h"
#include "vsmp/overflow.h"
#include "vsmp/rcu.h"
#include "vsmp/schedule.h"
#include "vsmp/what_if.h"

#define STACK_BYTES (256u << 10)

static void compute_costs(struct machine *new)
{
	const struct vsmp_machine *shape = &new->shape;

	for (int i = 0; i < VSMP_PARAMETER_COUNT; i++)
		if (vsmp_parameter_info[i].unit == VSMP_CYCLES)
			new->costs.cycles[i] = (uint32_t)lround(shape->value[i]);
	new->costs.clear_core_cycles = PORT_PAGE_SIZE * shape->gigahertz / shape->value[VSMP_CLEAR_CORE];
	new->costs.clear_socket_cycles = PORT_PAGE_SIZE * shape->gigahertz / shape->value[VSMP_CLEAR_SOCKET];
	costs_ask(&new->costs, VSMP_FAULT_EXCEPTION);
	costs_ask(&new->costs, VSMP_FAULT_PATH);
	new->costs.fault_cycles =
	    new->costs.cycles[VSMP_FAULT_EXCEPTION] + new->costs.cycles[VSMP_FAULT_PATH];
}

/* A core whose siblings take part in the run does each one's work more slowly. */
static void seat_cpus(struct machine *new, const struct vsmp_seat *seats, bool has_speedups)
{
	unsigned threads_of[VSMP_CPUS_MAX] = {0};

	costs_ask(&new->costs, VSMP_HIT);
	costs_ask(&new->costs, VSMP_ATOMIC_HIT);
	for (unsigned id = 0; id < new->cpu_count; id++)
		threads_of[seats[id].core]++;
	for (unsigned id = 0; id < new->cpu_count; id++) {
		struct cpu *cpu = &new->cpus[id];
		bool shares = threads_of[seats[id].core] > 1;
		double share = shares ? new->shape.value[VSMP_SMT_SHARE] : 1;

		if (shares)
			costs_ask(&new->costs, VSMP_SMT_SHARE);
		cpu->id = (uint16_t)id;
		cpu->core = seats[id].core;
		cpu->socket = seats[id].socket;
		cpu->blade = new->shape.sockets_per_blade ? cpu->socket / new->shape.sockets_per_blade : 0;
		cpu->hit_cycles = (uint32_t)lround(new->costs.cycles[VSMP_HIT] * share);
		cpu->atomic_hit_cycles = (uint32_t)lround(new->costs.cycles[VSMP_ATOMIC_HIT] * share);
		cpu->fault_cycles = (uint32_t)lround(new->costs.fault_cycles *share);
		cpu->rcu_callbacks_tail = &cpu->rcu_callbacks;
		cpu->has_speedups = has_speedups;
	}
}

static void free_machine(struct machine *old)
{
	if (!old)
		return;
	for (unsigned id = 0; old->cpus && id < old->cpu_count; id++)
		fiber_destroy(&old->cpus[id].fiber);
	free(old->cpus);
	free(old->clear_free_at);
	free(old->deadlock_report);
	free(old);
}

static struct machine *new_machine(const struct vsmp_config *config)
{
	struct machine *new = calloc(1, sizeof(*new));

	if (!new)
		return NULL;
	new->shape = *config->machine;
	new->cpu_count = config->cpus;
	new->core_count = new->shape.sockets *new->shape.cores_per_socket;
	new->cpus = calloc(new->cpu_count, sizeof(*new->cpus));
	new->clear_free_at = calloc(new->shape.sockets, sizeof(*new->clear_free_at));
	if (!new->cpus || !new->clear_free_at) {
		free_machine(new);
		return NULL;
	}
	random_seed(&new->random, config->seed);
	new->profile = config->profile;
	new->locks = config->locks;
	new->lines = config->lines;
	new->conflicts = config->conflicts;
	compute_costs(new);
	return new;
}

static int open_parts(const struct vsmp_config *config, struct message *why)
{
	int error;

	if (overflow_open())
		return message_set(why, -ENOMEM, "no memory for a signal stack");
	for (unsigned id = 0; id < machine->cpu_count; id++)
		if (fiber_create(&machine->cpus[id].fiber, STACK_BYTES))
			return message_set(why, -ENOMEM, "no memory for the stacks of %u CPUs", config->cpus);
	if (lines_open() || memory_open())
		return message_set(
		    why, -ENOMEM,
		    "cannot reserve the address space of the simulated memory (%llu GiB): does a "
		    "limit on virtual memory or strict overcommit forbid it?",
		    ARENA_BYTES >> 30);
	error = what_if_open(config->speedups, config->speedup_count, why);
	if (error)
		return error;
	/* Who explores tells paths, though it makes no profile. */
	if (coherence_open() || observe_open(config->cpus, config->profile || exploring, config->locks,
					     config->lines, config->conflicts))
		return message_set(why, -ENOMEM, "no memory for the machine's tables");
	return exploring ? explore_parts_open(why) : 0;
}

int vsmp_create(const struct vsmp_config *config, struct message *why)
{
	static struct vsmp_seat seats[VSMP_CPUS_MAX];
	int error;

	if (machine)
		return message_set(why, -EBUSY, "a virtual machine exists already");
	error = vsmp_machine_check(config->machine, why);
	if (!error)
		error = vsmp_place(config->machine, &config->placement, config->cpus, seats, why);
	if (error)
		return error;
	if (config->home_socket >= (int)config->machine->sockets)
		return message_set(why, -EINVAL, "machine %s has sockets 0 to %u, not %d",
				   config->machine->name, config->machine->sockets - 1, config->home_socket);
	machine = new_machine(config);
	if (!machine)
		return message_set(why, -ENOMEM, "no memory for %u CPUs", config->cpus);
	seat_cpus(machine, seats, config->speedup_count > 0);
	machine->home_socket =
	    config->home_socket < 0 ? machine->cpus[0].socket : (uint16_t)config->home_socket;
	error = open_parts(config, why);
	if (error) {
		vsmp_destroy();
		return error;
	}
	current = accessor = NULL;
	current_id = 0;
	schedule_reset();
	rcu_reset();
	return 0;
}

void vsmp_prepare(void)
{
	observe_prepare();
}

void vsmp_destroy(void)
{
	if (!machine)
		return;
	overflow_close();
	explore_parts_close();
	what_if_close();
	observe_close();
	coherence_close();
	memory_close();
	lines_close();
	free_machine(machine);
	machine = NULL;
	current = NULL;
}

/* --- Running bodies ----------------------------------------------------------------------------------- */

static void cpu_main(void *argument)
{
	struct cpu *cpu = argument;

	machine->body(cpu->id, machine->argument);
	schedule_turn(cpu);
	schedule_exit();
}

struct setup {
	void (*body)(void *argument);
	void *argument;
};

static void setup_main(void *argument)
{
	struct setup *setup = argument;

	setup->body(setup->argument);
	fiber_switch(&machine->cpus[0].fiber, &machine->caller);
}

int vsmp_setup(void (*body)(void *argument), void *argument, struct message *why)
{
	struct setup setup = {.body = body, .argument = argument};

	if (machine->deadlocked)
		return message_set(why, -EDEADLK, "the machine stands still after a deadlock");
	current = NULL;
	current_id = 0;
	observe_reset_stack(0);
	fiber_reset(&machine->cpus[0].fiber, setup_main, &setup);
	if (exploring)
		explore_begin_alone();
	fiber_switch(&machine->caller, &machine->cpus[0].fiber);
	if (exploring)
		explore_end_alone();
	if (exploring && explore_has_failed(why))
		return -EFAULT;
	return 0;
}

/* Every CPU that has not returned, where it stands and what it waits for. */
static void report_deadlock(struct message *why)
{
	size_t bytes;
	FILE *out = open_memstream(&machine->deadlock_report, &bytes);
	unsigned waiting = 0;

	if (!out)
		return;
	for (unsigned id = 0; id < machine->cpu_count; id++) {
		struct cpu *cpu = &machine->cpus[id];

		if (cpu->state == CPU_IDLE)
			continue;
		waiting++;
		fprintf(out, "CPU %u waits %s since cycle %llu:\n", id,
			cpu->waits_for ? cpu->waits_for : "for a cache line", (unsigned long long)cpu->clock);
		observe_print_stack(id, out, "    ");
	}
	fclose(out);
	message_set(why, -EDEADLK, "deadlock: %u of %u CPUs wait, and no CPU can run", waiting,
		    machine->cpu_count);
}

/* A run begins with all clocks at the latest, and with windows of its own. */
static void begin_windows(void)
{
	uint64_t latest = 0;

	machine->windows_ended = 0;
	for (unsigned id = 0; id < machine->cpu_count; id++)
		if (machine->cpus[id].clock > latest)
			latest = machine->cpus[id].clock;
	for (unsigned id = 0; id < machine->cpu_count; id++) {
		struct cpu *cpu = &machine->cpus[id];

		cpu->clock = latest;
		cpu->stolen_cycles = 0;
		cpu->window_ended = false;
		cpu->window_begin = cpu->window_end = 0;
		machine->operations_before += cpu->operations;
		cpu->operations = 0;
	}
}

int vsmp_run(void (*body)(unsigned cpu, void *argument), void *argument, uint64_t start_spread_cycles,
	     struct message *why)
{
	int error;

	if (machine->deadlocked)
		return message_set(why, -EDEADLK, "the machine stands still after a deadlock");
	machine->body = body;
	machine->argument = argument;
	machine->start_spread_cycles = start_spread_cycles;
	machine->running_count = machine->cpu_count;
	schedule_reset();
	begin_windows();
	if (exploring)
		explore_begin();
	for (unsigned id = 0; id < machine->cpu_count; id++) {
		struct cpu *cpu = &machine->cpus[id];

		fiber_reset(&cpu->fiber, cpu_main, cpu);
		observe_reset_stack(id);
		if (start_spread_cycles)
			cpu->clock += random_below(&machine->random, start_spread_cycles);
		schedule_cpu(cpu);
	}
	error = schedule_run();
	current_id = 0;
	if (exploring)
		explore_end();
	if (error && !exploring)
		report_deadlock(why);
	else if (error && explore_has_failed(why))
		error = -EFAULT;
	return error;
}

const char *vsmp_deadlock_report(void)
{
	return machine ? machine->deadlock_report : NULL;
}

void vsmp_timing(double *cpu_seconds_per_operation, double *seconds, uint64_t *operations)
{
	double hertz = machine->shape.gigahertz * 1e9;
	unsigned counted = 0;

	*cpu_seconds_per_operation = 0;
	*seconds = 0;
	*operations = 0;
	for (unsigned id = 0; id < machine->cpu_count; id++) {
		double window = (double)vsmp_window_cycles(id) / hertz;
		uint64_t done = machine->cpus[id].operations;

		if (!machine->cpus[id].window_ended || !done)
			continue;
		counted++;
		*cpu_seconds_per_operation += window / (double)done;
		*operations += done;
		if (window > *seconds)
			*seconds = window;
	}
	if (counted)
		*cpu_seconds_per_operation /= counted;
}

int vsmp_report(struct vsmp_report *report)
{
	*report = (struct vsmp_report){.operations = machine->operations_before,
				       .speedups_entered = what_if_entered(),
				       .parameters_asked = machine->costs.asked};
	for (unsigned id = 0; id < machine->cpu_count; id++) {
		report->operations += machine->cpus[id].operations;
		report->transfers += machine->cpus[id].transfers;
		report->accesses += machine->cpus[id].accesses;
	}
	return observe_report(report);
}

void vsmp_report_free(struct vsmp_report *report)
{
	observe_report_free(report);
	*report = (struct vsmp_report){0};
}
