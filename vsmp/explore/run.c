/* SPDX-License-Identifier: MIT */
#include "vsmp/explore/run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "port/panic.h"
#include "vsmp/explore/choose.h"
#include "vsmp/explore/undo.h"
#include "vsmp/memory.h"
#include "vsmp/observe/observe.h"

/* Steps of the schedule that is measured; a check that needs more has no end. */
#define MEASURE_STEPS_MAX 1000000u

/* The same for an experiment of which nothing is known yet. */
#define EXPERIMENT_STEPS_MAX 100000000u

/* More steps than so many times those of the schedule without preemption, and a few more, are a livelock. */
#define LIVELOCK_TIMES 64u
#define LIVELOCK_STEPS 10000u

static struct {
	struct explore_config config;
	unsigned bodies;
	struct choose_plan plan;
	uint64_t steps;
	struct explore_outcome outcome; /* of the schedule that runs, or ran last */
	bool parts;                     /* explore_parts_open() has been called */
} run;

/* What explore_schedule_begin() begins whatever the seed; NULL: nothing. */
static struct {
	const struct explore_segment *segments;
	size_t count;
} forced;

/* --- Failures ------------------------------------------------------------------------------------------- */

const char *explore_kind_name(enum explore_kind kind)
{
	static const char *const names[] = {
	    [EXPLORE_NOTHING] = "no failure",
	    [EXPLORE_DATA_RACE] = "data race",
	    [EXPLORE_DEADLOCK] = "deadlock",
	    [EXPLORE_LOST_WAKEUP] = "lost wake-up",
	    [EXPLORE_LIVELOCK] = "livelock",
	    [EXPLORE_USE_AFTER_FREE] = "use after free",
	    [EXPLORE_WILD_ACCESS] = "wild access",
	    [EXPLORE_ASSERTION] = "assertion",
	    [EXPLORE_MODEL] = "differs from the model",
	    [EXPLORE_CONDITION] = "condition",
	    [EXPLORE_LEAK] = "leak",
	    [EXPLORE_RCU_READER] = "RCU reader",
	    [EXPLORE_REPLAY] = "replay",
	};

	return names[kind];
}

static void note_failure(enum explore_kind kind, const struct explore_place *other, const char *text)
{
	run.outcome.kind = kind;
	record_failure(kind, other, text);
}

_Noreturn void explore_fail(enum explore_kind kind, const struct explore_place *other, const char *text)
{
	note_failure(kind, other, text);
	machine->deadlocked = true;
	fiber_switch(&machine->cpus[current_id].fiber, &machine->caller);
	__builtin_unreachable();
}

bool explore_has_failed(struct message *why)
{
	if (run.outcome.kind == EXPLORE_NOTHING)
		return false;
	message_set(why, -EFAULT, "%s: %s", explore_kind_name(run.outcome.kind), record.failure.text);
	return true;
}

/* --- One schedule --------------------------------------------------------------------------------------- */

void explore_begin(void)
{
	run.outcome = (struct explore_outcome){.kind = EXPLORE_NOTHING};
	record_begin();
	clocks_reset();
	race_reset();
	choose_begin(&run.plan);
}

void explore_end(void)
{
	run.outcome.steps = choose_steps();
	run.outcome.fingerprint = choose_fingerprint();
}

void explore_begin_alone(void)
{
	explore_alone = true;
	/* Setup runs once, and everything that it does may be asked for later. */
	explore_quiet = undo_now && !record_level;
}

void explore_end_alone(void)
{
	explore_alone = explore_quiet = false;
}

static void body(unsigned cpu, void *argument)
{
	const struct check *check = argument;

	check->body[cpu % run.bodies]();
}

static void check_readers(void)
{
	char text[64];

	for (unsigned id = 0; id < machine->cpu_count; id++) {
		if (!machine->cpus[id].rcu_nesting)
			continue;
		snprintf(text, sizeof(text), "CPU %u has returned inside a read section", id);
		note_failure(EXPLORE_RCU_READER, NULL, text);
		return;
	}
}

/* Runs a function of the check on CPU 0, alone. Returns false when it failed. */
static bool run_alone(void (*function)(void *argument), void *argument)
{
	vsmp_setup(function, argument, NULL);
	return run.outcome.kind == EXPLORE_NOTHING;
}

struct judgement {
	struct message why;
	bool holds;
};

static void call_holds(void *argument)
{
	struct judgement *judgement = argument;

	judgement->holds = run.config.check->holds(&judgement->why);
}

static void call_teardown(void *unused)
{
	(void)unused;
	run.config.check->teardown();
}

static void judge(void)
{
	struct judgement judgement = {.why = {""}};

	if (!run_alone(call_holds, &judgement))
		return;
	if (judgement.holds == run.config.invert)
		note_failure(EXPLORE_CONDITION, NULL,
			     run.config.invert ? "the condition holds, and was to be inverted"
					       : judgement.why.text);
}

static void look_for_leak(void)
{
	struct observe_place first;
	size_t count = memory_used(&first);
	char text[160];

	if (!count)
		return;
	snprintf(text, sizeof(text), "%zu allocation%s left, the first of %zu bytes%s%s", count,
		 count > 1 ? "s are" : " is", first.object_bytes, first.type_name ? " for " : "",
		 first.type_name ? first.type_name : "");
	note_failure(EXPLORE_LEAK, NULL, text);
}

static struct explore_outcome run_schedule(void)
{
	vsmp_run(body, (void *)run.config.check, 0, NULL);
	if (run.outcome.kind == EXPLORE_NOTHING)
		check_readers();
	if (run.outcome.kind == EXPLORE_NOTHING)
		judge();
	if (run.outcome.kind == EXPLORE_NOTHING && run_alone(call_teardown, NULL))
		look_for_leak();
	undo_all();
	lifetime_reset();
	return run.outcome;
}

/* --- The check ------------------------------------------------------------------------------------------ */

unsigned explore_default_cpus(const struct check *check)
{
	unsigned count = 0;

	while (count < CHECK_CPUS_MAX && check->body[count])
		count++;
	return count;
}

const struct explore_config *explore_configuration(void)
{
	return &run.config;
}

int explore_parts_open(struct message *why)
{
	if (machine->cpu_count > CHECK_CPUS_MAX)
		return message_set(why, -EINVAL, "a machine that explores has at most %u CPUs, not %u",
				   CHECK_CPUS_MAX, machine->cpu_count);
	run.parts = true;
	run.outcome = (struct explore_outcome){.kind = EXPLORE_NOTHING};
	if (undo_open() || clocks_open(machine->cpu_count) || race_open() || lifetime_open())
		return message_set(why, -ENOMEM, "no address space for the tables of exploration");
	memset(&machine->costs, 0, sizeof(machine->costs));
	return 0;
}

void explore_parts_close(void)
{
	if (!run.parts)
		return;
	run.parts = false;
	lifetime_close();
	race_close();
	clocks_close();
	undo_close();
}

/* A machine of a socket for each memory node; exploration asks for nothing else of it. */
static int create_machine(unsigned cpus, unsigned nodes, struct message *why)
{
	static struct vsmp_machine shape;
	struct vsmp_config config = {
	    .machine = &shape, .cpus = cpus, .placement.kind = VSMP_SPREAD, .home_socket = -1};

	shape = (struct vsmp_machine){.name = "explore",
				      .gigahertz = 1,
				      .sockets = nodes,
				      .cores_per_socket = cpus,
				      .threads_per_core = 1};
	for (unsigned a = 0; a < nodes; a++) {
		shape.socket_order[a] = (uint16_t)a;
		for (unsigned b = 0; b < nodes; b++)
			shape.hops[a][b] = a != b;
	}
	for (int i = 0; i < VSMP_PARAMETER_COUNT; i++)
		shape.value[i] = vsmp_parameter_info[i].minimum;
	return vsmp_create(&config, why);
}

struct setup {
	struct message why;
	int error;
};

static void call_setup(void *argument)
{
	struct setup *setup = argument;

	setup->error = run.config.check->setup(&setup->why);
}

static int set_up(struct message *why)
{
	struct setup setup = {.why = {""}};

	record_begin();
	if (!run_alone(call_setup, &setup))
		return message_set(why, -EFAULT, "setup of %s: %s: %s", run.config.check->name,
				   explore_kind_name(run.outcome.kind), record.failure.text);
	if (setup.error)
		return message_set(why, setup.error, "setup of %s: %s", run.config.check->name,
				   setup.why.text);
	undo_baseline();
	lifetime_baseline();
	return 0;
}

static int check_config(const struct explore_config *config, unsigned cpus, struct message *why)
{
	unsigned least = explore_default_cpus(config->check);
	unsigned most = config->check->cpus_max ? config->check->cpus_max : least;

	if (machine)
		return message_set(why, -EBUSY, "a virtual machine exists already");
	if (most == least && cpus != least)
		return message_set(why, -EINVAL, "this check runs on %u CPUs, not %u: no two can do the same",
				   least, cpus);
	if (cpus < least || cpus > most)
		return message_set(why, -EINVAL, "this check runs on %u to %u CPUs, not %u", least, most,
				   cpus);
	if (config->strategy == EXPLORE_PCT && (config->depth < 1 || config->depth > EXPLORE_DEPTH_MAX))
		return message_set(why, -EINVAL, "the depth is 1 to %u, not %u", EXPLORE_DEPTH_MAX,
				   config->depth);
	return 0;
}

static enum choose_mode plan_mode(enum explore_strategy strategy)
{
	return strategy == EXPLORE_PCT ? CHOOSE_PCT : CHOOSE_RANDOM;
}

/* Returns at least 1. */
static uint64_t measure(void)
{
	struct explore_outcome outcome;

	run.plan = (struct choose_plan){.mode = CHOOSE_FIRST, .steps_max = MEASURE_STEPS_MAX};
	outcome = run_schedule();
	/* One that has no end tells nothing: the few more must do. */
	return outcome.kind == EXPLORE_LIVELOCK || !outcome.steps ? 1 : outcome.steps;
}

int explore_open(const struct explore_config *config, struct message *why)
{
	unsigned cpus = config->cpus ? config->cpus : explore_default_cpus(config->check);
	int error = check_config(config, cpus, why);

	if (error)
		return error;
	exploring = true;
	run.config = *config;
	run.bodies = explore_default_cpus(config->check);
	error = create_machine(cpus, config->check->nodes ? config->check->nodes : 1, why);
	if (!error)
		error = set_up(why);
	if (error) {
		explore_close();
		return error;
	}
	run.steps = measure();
	run.plan = (struct choose_plan){.mode = plan_mode(config->strategy),
					.depth = config->depth,
					.steps = run.steps,
					.steps_max = LIVELOCK_TIMES * run.steps + LIVELOCK_STEPS};
	return 0;
}

void explore_close(void)
{
	vsmp_destroy();
	exploring = false;
}

uint64_t explore_steps(void)
{
	return run.steps;
}

double explore_bound(unsigned cpus, uint64_t steps, unsigned depth)
{
	return 1 / (cpus * pow((double)(steps ? steps : 1), depth - 1.0));
}

struct explore_outcome explore_run(uint64_t seed)
{
	run.plan.seed = seed;
	return run_schedule();
}

struct explore_outcome explore_run_forced(const struct explore_segment *segments, size_t count)
{
	struct choose_plan chosen = run.plan;
	struct explore_outcome outcome;

	run.plan.mode = CHOOSE_FORCED;
	run.plan.segments = segments;
	run.plan.segment_count = count;
	outcome = run_schedule();
	run.plan = chosen;
	return outcome;
}

/* --- Experiments ---------------------------------------------------------------------------------------- */

void explore_schedule_force(const struct explore_segment *segments, size_t count)
{
	forced.segments = segments;
	forced.count = count;
}

void explore_schedule_begin(enum explore_strategy strategy, unsigned depth, uint64_t steps, uint64_t seed)
{
	invariant(!machine && depth <= EXPLORE_DEPTH_MAX);
	exploring = true;
	run.outcome = (struct explore_outcome){.kind = EXPLORE_NOTHING};
	run.plan = (struct choose_plan){.mode = plan_mode(strategy),
					.seed = seed,
					.depth = depth,
					.steps = steps ? steps : 1,
					.steps_max = steps > 1 ? LIVELOCK_TIMES * steps + LIVELOCK_STEPS
							       : EXPERIMENT_STEPS_MAX};
	if (!forced.segments)
		return;
	run.plan.mode = CHOOSE_FORCED;
	run.plan.segments = forced.segments;
	run.plan.segment_count = forced.count;
}

struct explore_outcome explore_schedule_end(const char *wrong)
{
	if (wrong && run.outcome.kind == EXPLORE_NOTHING)
		note_failure(EXPLORE_CONDITION, NULL, wrong);
	exploring = false;
	return run.outcome;
}
