/* SPDX-License-Identifier: MIT */
/*
 * Who takes the next step of a schedule.
 */
#ifndef VSMP_EXPLORE_CHOOSE_H
#define VSMP_EXPLORE_CHOOSE_H

#include "vsmp/explore/record.h"

/* How the next schedule is chosen. */
enum choose_mode {
	CHOOSE_FIRST, /* nobody is preempted; the lowest number that can run goes on */
	CHOOSE_RANDOM,
	CHOOSE_PCT,
	CHOOSE_FORCED
};

struct choose_plan {
	enum choose_mode mode;
	uint64_t seed;
	unsigned depth;                         /* of PCT */
	uint64_t steps;                         /* of PCT: what the changes are drawn from, at least 1 */
	uint64_t steps_max;                     /* more of them are a livelock */
	const struct explore_segment *segments; /* of CHOOSE_FORCED; they outlive the schedule */
	size_t segment_count;
};

/* A schedule begins: nobody can run yet. */
void choose_begin(const struct choose_plan *plan);

/* How many plain accesses of simulated memory there were since the last step. */
extern uint32_t choose_plain_accesses;

/* How many steps the schedule had, and what they were. */
uint64_t choose_steps(void);
uint64_t choose_fingerprint(void);

/* The step that the current CPU takes now is this one. */
void choose_note(enum explore_event event, uintptr_t address);

/* The current CPU writes: who waits in port_cpu_relax() for that can run. */
void choose_wrote(void);

/* A coin that depends on the seed, the current CPU and how many it has thrown, and on no order. */
bool choose_coin(void);

#endif
