/* SPDX-License-Identifier: MIT */
#include "vsmp/rcu.h"

#include "port/panic.h"
#include "port/rcu.h"
#include "vsmp/core.h"
#include "vsmp/explore/choose.h"
#include "vsmp/observe/observe.h"
#include "vsmp/schedule.h"

/* Grace periods are numbered from 1 and follow each other. */
static struct grace {
	unsigned long completed;
	unsigned long wanted; /* somebody waits for this one */
	bool under_way;       /* number completed + 1 */
	unsigned waiting;     /* CPUs whose read section it still waits for */
	uint64_t end;         /* when it is seen to be over; set once nobody is waited for */
} grace, base;

void rcu_reset(void)
{
	grace = (struct grace){0};
}

void rcu_baseline(void)
{
	base = grace;
}

void rcu_put_back(void)
{
	grace = base;
}

static struct cpu *self(void)
{
	return &machine->cpus[current_id];
}

/* Lets all CPUs that wait in `state` go on, at `now` or their own clock if that is later. */
static void wake_all(enum cpu_state state, uint64_t now)
{
	for (unsigned id = 0; id < machine->cpu_count; id++) {
		struct cpu *cpu = &machine->cpus[id];

		if (cpu->state != state)
			continue;
		if (cpu->clock < now)
			cpu->clock = now;
		schedule_cpu(cpu);
	}
}

static void start(uint64_t now)
{
	grace.under_way = true;
	grace.waiting = 0;
	for (unsigned id = 0; id < machine->cpu_count; id++) {
		struct cpu *cpu = &machine->cpus[id];

		cpu->rcu_blocks_grace = cpu->rcu_nesting > 0;
		grace.waiting += cpu->rcu_blocks_grace;
	}
	if (!grace.waiting)
		grace.end = now + cost(VSMP_GRACE_PERIOD);
}

static void advance(uint64_t now)
{
	while (grace.under_way && !grace.waiting && now >= grace.end) {
		grace.completed++;
		grace.under_way = false;
		if (grace.wanted > grace.completed)
			start(grace.end);
	}
}

/* Returns the number of the first grace period that begins after now. */
static unsigned long request(uint64_t now)
{
	unsigned long number;

	advance(now);
	number = grace.completed + 1 + grace.under_way;
	if (number > grace.wanted)
		grace.wanted = number;
	if (!grace.under_way)
		start(now);
	return number;
}

void vsmp_rcu_read_lock(void)
{
	struct cpu *cpu = self();

	if (unlikely(exploring) && !cpu->rcu_nesting)
		explore_call("port_rcu_read_lock", NULL, __builtin_return_address(0));
	if (!cpu->rcu_nesting++ && unlikely(exploring))
		clocks_rcu_lock();
}

void vsmp_rcu_read_unlock(void)
{
	struct cpu *cpu = self();

	if (unlikely(exploring)) {
		if (!cpu->rcu_nesting)
			explore_fail(EXPLORE_RCU_READER, NULL, "ends a read section, and is in none");
		if (cpu->rcu_nesting == 1)
			clocks_rcu_unlock();
	}
	invariant(cpu->rcu_nesting > 0);
	if (--cpu->rcu_nesting || !cpu->rcu_blocks_grace)
		return;
	cpu->rcu_blocks_grace = false;
	if (--grace.waiting)
		return;
	grace.end = cpu->clock + cost(VSMP_GRACE_PERIOD);
	wake_all(CPU_IN_GRACE, grace.end);
}

int vsmp_rcu_read_held(void)
{
	return self()->rcu_nesting > 0;
}

int vsmp_rcu_pending(void)
{
	return self()->rcu_callbacks != NULL;
}

static void synchronize(const char *what, const void *pc)
{
	struct cpu *cpu = current;
	unsigned long number;

	if (unlikely(exploring)) {
		explore_no_reader("waits for a grace period");
		explore_call(what, NULL, pc);
		clocks_grace_begin();
	}
	invariant(!self()->rcu_nesting);
	if (!cpu)
		return;
	schedule_turn(cpu);
	number = request(cpu->clock);
	cpu->waits_for = "for the end of a grace period";
	observe_mark(cpu->id, cpu->clock, cpu->measuring);
	while (advance(cpu->clock), grace.completed < number) {
		if (grace.waiting) {
			cpu->state = CPU_IN_GRACE;
		} else {
			cpu->clock = grace.end;
			schedule_cpu(cpu);
		}
		schedule_others();
	}
	cpu->waits_for = NULL;
	/* As one that sleeps: its time is nobody's. */
	observe_mark(cpu->id, cpu->clock, false);
	if (unlikely(exploring))
		clocks_grace_end();
}

void vsmp_rcu_synchronize(void)
{
	synchronize("port_rcu_synchronize", __builtin_return_address(0));
}

/* The heads are written by the machine, which has no hooks. */
static void write_heads(struct cpu *cpu, struct port_rcu_head *head, const void *pc)
{
	explore_call("port_rcu_call", head, pc);
	explore_touch(head, sizeof(*head), EXPLORE_WRITE, pc);
	explore_save(cpu->rcu_callbacks_tail, sizeof(*cpu->rcu_callbacks_tail));
	clocks_call(head);
}

void vsmp_rcu_call(struct port_rcu_head *head, port_rcu_callback *callback)
{
	struct cpu *cpu = self();

	if (unlikely(exploring))
		write_heads(cpu, head, __builtin_return_address(0));
	head->next = NULL;
	head->callback = callback;
	/* Outside a run nobody else reads: what is handed over now waits for the next poll, no longer. */
	head->grace_period = current ? request(cpu->clock) : grace.completed + 1;
	*cpu->rcu_callbacks_tail = head;
	cpu->rcu_callbacks_tail = &head->next;
}

/* Runs the callbacks of `cpu` up to grace period `completed`; a callback may hand over more. */
static void run_callbacks(struct cpu *cpu, unsigned long completed)
{
	struct port_rcu_head *head;

	while ((head = cpu->rcu_callbacks) && head->grace_period <= completed) {
		cpu->rcu_callbacks = head->next;
		if (!cpu->rcu_callbacks)
			cpu->rcu_callbacks_tail = &cpu->rcu_callbacks;
		self()->rcu_in_callback = true;
		if (unlikely(exploring))
			clocks_callback(head);
		head->callback(head);
		if (unlikely(exploring))
			clocks_callback_end();
		self()->rcu_in_callback = false;
		self()->rcu_callbacks_run++;
		wake_all(CPU_IN_BARRIER, current ? current->clock : 0);
	}
}

/* The grace period whose callbacks may run now. */
static unsigned long completed_now(void)
{
	if (current)
		advance(current->clock);
	else
		grace.completed = grace.wanted > grace.completed ? grace.wanted : grace.completed + 1;
	return grace.completed;
}

/* Waits until the callback that `other` is in has returned. */
static void wait_for_callback(struct cpu *cpu, const struct cpu *other)
{
	uint64_t run = other->rcu_callbacks_run;

	cpu->waits_for = "for another CPU's RCU callback to return";
	while (other->rcu_in_callback && other->rcu_callbacks_run == run) {
		cpu->state = CPU_IN_BARRIER;
		schedule_others();
	}
	cpu->waits_for = NULL;
}

void vsmp_rcu_poll(void)
{
	struct cpu *cpu = self();

	/* The end of a grace period may be seen later than it comes. */
	if (unlikely(exploring) && cpu->rcu_callbacks && !cpu->rcu_nesting) {
		explore_call("port_rcu_poll", NULL, __builtin_return_address(0));
		if (!explore_alone && choose_coin())
			return;
	}
	if (!cpu->rcu_nesting)
		run_callbacks(cpu, completed_now());
}

void vsmp_rcu_barrier(void)
{
	unsigned long completed;

	synchronize("port_rcu_barrier", __builtin_return_address(0));
	completed = completed_now();
	for (unsigned id = 0; id < machine->cpu_count; id++)
		run_callbacks(&machine->cpus[id], completed);
	for (unsigned id = 0; current && id < machine->cpu_count; id++)
		if (id != current->id)
			wait_for_callback(current, &machine->cpus[id]);
	if (unlikely(exploring))
		clocks_callbacks_done();
}
