/* SPDX-License-Identifier: MIT */
/*
 * An engine without a machine, whose time is a formula: what the lab makes of times can then be told exactly.
 * One operation takes (remote_read_latency x CPUs + memory - 10 + home penalty + seed) ns, twice that without
 * a lock; memory is 10 in the fixture.
 */
#ifndef TESTS_LAB_FAKE_ENGINE_H
#define TESTS_LAB_FAKE_ENGINE_H

#include <errno.h>

#include "tests/lab/fixture.h"

#define FAKE_HOME_PENALTY_NS 1000.0

static struct engine_config fake_config;
static uint64_t fake_operations;
static unsigned fake_cpu;   /* whose body runs */
static bool fake_measuring; /* a body is in its window */

/* What the body of the workload did; its error comes from the space of this number. */
static struct {
	unsigned spaces, maps, failing_space;
	uint64_t dropped;
	int failing_error;
} fake;

static inline unsigned fake_cpus(void)
{
	return 64;
}

static inline int fake_open(const struct engine_config *config, struct message *why)
{
	(void)why;
	fake_config = *config;
	return 0;
}

static inline void fake_close(void)
{
}

static inline int fake_setup(void (*body)(void *argument), void *argument, struct message *why)
{
	(void)why;
	body(argument);
	return 0;
}

static inline double fake_nanoseconds(void)
{
	double latency = fake_config.machine ? fake_config.machine->value[VSMP_REMOTE_READ_LATENCY] : 10;
	double ns = latency * fake_config.cpus + (double)fake_config.seed;

	if (fake_config.machine)
		ns += fake_config.machine->value[VSMP_MEMORY] - 10;
	if (fake_config.home_socket >= 0)
		ns += FAKE_HOME_PENALTY_NS;
	return fake_config.policy.memtype == POLICY_MEMTYPE_SPIN ? ns : 2 * ns;
}

static inline int fake_run(void (*body)(unsigned cpu, void *argument), void *argument,
			   struct engine_timing *timing, struct message *why)
{
	(void)why;
	fake_operations = 0;
	for (fake_cpu = 0; fake_cpu < fake_config.cpus; fake_cpu++)
		body(fake_cpu, argument);
	timing->operations = fake_operations;
	timing->cpu_seconds_per_operation = 1e-9 * fake_nanoseconds();
	timing->seconds = timing->cpu_seconds_per_operation * (double)fake_operations / fake_config.cpus;
	return 0;
}

/* The lock has as many parts of the time as a remote read takes cycles, all else has 90. */
static inline int fake_report(struct vsmp_report *report)
{
	report->operations = fake_operations;
	report->transfers = 3 * fake_operations;
	report->dropped = fake.dropped;
	report->parameters_asked = UINT64_C(1) << VSMP_REMOTE_READ_LATENCY | UINT64_C(1) << VSMP_MEMORY;
	if (!fake_config.profile)
		return 0;
	report->stack_count = 2;
	report->stacks = calloc(2, sizeof(*report->stacks));
	assert_non_null(report->stacks);
	report->stacks[0].path = strdup("fault;spin_lock;wait");
	report->stacks[0].self_cycles = (uint64_t)fake_config.machine->value[VSMP_REMOTE_READ_LATENCY];
	report->stacks[1].path = strdup("fault;clear");
	report->stacks[1].self_cycles = 90;
	return 0;
}

static inline void fake_begin(void)
{
	fake_measuring = true;
}

static inline void fake_end(void)
{
	fake_measuring = false;
}

static inline bool fake_active(void)
{
	return false;
}

static inline void fake_count(uint64_t count)
{
	if (fake_measuring)
		fake_operations += count;
}

static inline int fake_space_create(unsigned space)
{
	fake.spaces++;
	return space == fake.failing_space ? fake.failing_error : 0;
}

static inline void fake_space_destroy(unsigned space)
{
	(void)space;
	fake.spaces--;
}

static inline int fake_map_pfn(unsigned space, uintptr_t address, size_t length, uint64_t frame)
{
	fake.maps++;
	return address % 4096 || length % 4096 || (frame + length / 4096) * 4096 > fake_config.exported_bytes
		   ? -EINVAL
		   : (int)(space - space);
}

static inline int fake_unmap(unsigned space, uintptr_t address, size_t length)
{
	(void)space;
	return address % 4096 || length % 4096 ? -EINVAL : 0;
}

static inline int fake_touch(unsigned space, uintptr_t address, bool write)
{
	(void)space;
	return address % 4096 || !write ? -EFAULT : 0;
}

static inline int fake_check(struct message *why)
{
	(void)why;
	return 0;
}

static const struct engine fake_engine = {
    .name = "fake",
    .cpus = fake_cpus,
    .open = fake_open,
    .close = fake_close,
    .setup = fake_setup,
    .run = fake_run,
    .report = fake_report,
    .measure_begin = fake_begin,
    .measure_end = fake_end,
    .measure_active = fake_active,
    .count_operations = fake_count,
    .space_create = fake_space_create,
    .space_destroy = fake_space_destroy,
    .map_pfn = fake_map_pfn,
    .unmap = fake_unmap,
    .touch = fake_touch,
    .check = fake_check,
};

#endif
