/* SPDX-License-Identifier: MIT */
/*
 * What single accesses cost, to the cycle: a list of steps, each made by one CPU at one time, and what each
 * has to take. The machine is the fixture's, with numbers of which no two that could be mistaken are alike.
 */
#ifndef TESTS_VSMP_STEPS_H
#define TESTS_VSMP_STEPS_H

#include "tests/vsmp/fixture.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "port/cpu.h"
#include "port/memory.h"
#include "port/mmu.h"
#include "port/page.h"

enum step_kind {
	STEP_READ,  /* an atomic load */
	STEP_PLAIN, /* a plain load */
	STEP_WRITE, /* an atomic store */
	STEP_ADD,   /* an atomic read-modify-write */
	STEP_FLUSH, /* a shootdown of CPU 1's translations */
	STEP_CLEAR, /* of the page of the CPU's number */
	STEP_COPY,  /* from the page of the CPU's number to the next CPU's */
	STEP_RELAX, /* a turn of a loop that has read nothing */
	STEP_FAULT  /* the exception and the path of a fault */
};

struct step {
	unsigned cpu;
	uint64_t at; /* cycles after the start; far apart, nothing waits for anything */
	enum step_kind kind;
	uint64_t cycles; /* expected */
	uint64_t spent;
};

struct steps {
	struct step *steps;
	size_t count;
	_Atomic uint64_t *word;
	char *pages;
	size_t bytes;
	unsigned node;
};

/* Numbers of the fixture that others would hide, and those of hops. */
static inline void steps_costs(void)
{
	double *value = fixture_machine.value;

	value[VSMP_LOCAL_READ_OCCUPANCY] = 30;
	value[VSMP_LOCAL_WRITE_OCCUPANCY] = 70;
	value[VSMP_REMOTE_READ_LATENCY_HOP] = 11;
	value[VSMP_REMOTE_WRITE_LATENCY_HOP] = 13;
	value[VSMP_REMOTE_READ_OCCUPANCY_HOP] = 17;
	value[VSMP_REMOTE_WRITE_OCCUPANCY_HOP] = 19;
	value[VSMP_INVALIDATE_SOCKET] = 5;
	value[VSMP_TRAVEL_HOP] = 7;
	/* A fault is what steps wait with, a cycle at a time. */
	value[VSMP_FAULT_EXCEPTION] = 1;
	value[VSMP_FAULT_PATH] = 0;
	fixture_machine.service = VSMP_SERVICE_FIFO;
}

static inline void steps_hops(unsigned a, unsigned b, uint8_t hops)
{
	fixture_machine.hops[a][b] = fixture_machine.hops[b][a] = hops;
}

/* Makes the machine that fixture_machine describes. Globals have their home on `home_socket`. */
static inline void steps_create(unsigned cpus, struct vsmp_placement placement, int home_socket,
				uint64_t seed)
{
	struct vsmp_config config = {.machine = &fixture_machine,
				     .placement = placement,
				     .cpus = cpus,
				     .seed = seed,
				     .home_socket = home_socket};
	struct message why = {""};

	if (vsmp_create(&config, &why))
		fail_msg("%s", why.text);
}

static inline void steps_wait(uint64_t clock)
{
	while (vsmp_now_cycles() < clock)
		port_fault_enter();
}

static inline void steps_do(unsigned cpu, const struct step *step, const struct steps *steps)
{
	uint64_t cpus[1] = {2};

	switch (step->kind) {
	case STEP_READ:
		atomic_load(steps->word);
		break;
	case STEP_PLAIN:
		(void)*(volatile uint64_t *)steps->word;
		break;
	case STEP_WRITE:
		atomic_store(steps->word, 1);
		break;
	case STEP_ADD:
		atomic_fetch_add(steps->word, 1);
		break;
	case STEP_FLUSH:
		port_mmu_flush(0, 0, PORT_PAGE_SIZE, cpus, 1);
		break;
	case STEP_CLEAR:
		port_page_clear(steps->pages + cpu * PORT_PAGE_SIZE, 0);
		break;
	case STEP_COPY:
		port_page_copy(steps->pages + (cpu + 1) * PORT_PAGE_SIZE, steps->pages + cpu * PORT_PAGE_SIZE,
			       0);
		break;
	case STEP_RELAX:
		port_cpu_relax();
		break;
	case STEP_FAULT:
		port_fault_enter();
		break;
	}
}

static inline void steps_body(unsigned cpu, void *argument)
{
	const struct steps *steps = argument;

	for (size_t i = 0; i < steps->count; i++) {
		struct step *step = &steps->steps[i];

		if (step->cpu != cpu)
			continue;
		steps_wait(step->at);
		step->spent = vsmp_now_cycles();
		steps_do(cpu, step, steps);
		step->spent = vsmp_now_cycles() - step->spent;
	}
}

static inline void steps_allocate(void *argument)
{
	struct steps *steps = argument;

	steps->word = port_memory_alloc(steps->bytes, steps->node, NULL);
	steps->pages = (char *)steps->word;
}

/*
 * Makes the steps, in the machine that steps_create() made and which then ends. They are on one word of
 * `bytes` new bytes whose home is `node`; with `bytes` 0 on `word`. Each step's time is checked.
 */
static inline void steps_run(const struct step *list, size_t count, void *word, size_t bytes, unsigned node)
{
	struct steps steps = {.count = count, .word = word, .bytes = bytes, .node = node};

	/* The host's heap is not simulated. */
	steps.steps = malloc(count * sizeof(*list));
	assert_non_null(steps.steps);
	memcpy(steps.steps, list, count * sizeof(*list));
	if (bytes)
		assert_int_equal(vsmp_setup(steps_allocate, &steps, NULL), 0);
	assert_non_null(steps.word);
	assert_int_equal(vsmp_run(steps_body, &steps, 0, NULL), 0);
	vsmp_destroy();
	for (size_t i = 0; i < count; i++)
		if (steps.steps[i].spent != list[i].cycles)
			fail_msg("step %zu, of CPU %u at %llu: took %llu cycles, not %llu", i, list[i].cpu,
				 (unsigned long long)list[i].at, (unsigned long long)steps.steps[i].spent,
				 (unsigned long long)list[i].cycles);
	free(steps.steps);
}

/* The steps of `list`, each CPU in its seat by `fill`, on a line whose home is `node`. */
#define STEPS(cpus, node, ...)                                                      \
	do {                                                                        \
		const struct step list_[] = {__VA_ARGS__};                          \
                                                                                    \
		steps_create(cpus, (struct vsmp_placement){VSMP_FILL, 0}, -1, 1);   \
		steps_run(list_, sizeof(list_) / sizeof(list_[0]), NULL, 64, node); \
	} while (0)

#endif
