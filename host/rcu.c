/* SPDX-License-Identifier: MIT */
/*
 * RCU on the real machine. liburcu's "memb" flavour tells when a grace period is over. Callbacks wait in a
 * queue of the CPU that handed them over, and one thread of our own waits for grace periods, so that
 * port_rcu_call() neither allocates nor waits and port_rcu_poll() only looks at a number.
 *
 * Exclusion matrix (which pairs may run at once on one CPU's queue):
 *
 *            call  poll  barrier (of any CPU)
 *   call      -     -     yes
 *   poll      -     -     yes
 *   barrier  yes   yes    yes
 *
 * "-": both are the queue's own CPU. The queue's lock protects its fields; `running` lets one CPU at a time
 * take callbacks out, so that they are finished in the order in which they were queued.
 */
#include "host/rcu.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <urcu/urcu-memb.h>

#include "base/compiler.h"
#include "port/cpu.h"
#include "port/panic.h"
#include "port/rcu.h"
#include "port/wait.h"

/* The tag of the first callback of an empty queue: no grace period ever has that number. */
#define NOTHING_DUE ULONG_MAX

struct callback_queue {
	CACHE_LINE_ALIGNED atomic_flag lock;
	int running;                    /* a CPU is taking callbacks out (by lock) */
	struct port_rcu_head *first;    /* by lock */
	struct port_rcu_head **last;    /* where the next one is hung up (by lock) */
	_Atomic unsigned long due;      /* grace period of `first`; written by lock, read without */
	unsigned long queued;           /* how many there ever were (by lock) */
	_Atomic unsigned long sections; /* how many read sections this CPU has ended */
	_Atomic unsigned long done;     /* how many of `queued` have run; written by who is running */
};

static struct callback_queue queues[PORT_CPUS_MAX];

/*
 * Grace periods are numbered from 1. `begun` is raised before one begins, `completed` after it has ended. A
 * callback that was queued while `begun` was n waits for number n + 1, the first that begins after it.
 */
static CACHE_LINE_ALIGNED _Atomic unsigned long begun;
static _Atomic unsigned long completed;
static _Atomic uint32_t
    wanted; /* someone waits for a grace period that has not begun; the thread sleeps on it */
static _Atomic uint32_t stopping;
static pthread_t grace_thread;

_Thread_local unsigned host_rcu_depth;

void host_rcu_read_lock(void)
{
	urcu_memb_read_lock();
}

/*
 * The count is the memory model's word for what liburcu's barriers do: who has waited for a grace period
 * loads it with acquire order and so comes after all that the section did.
 */
void host_rcu_read_unlock(void)
{
	struct callback_queue *queue = &queues[port_cpu()];
	unsigned long sections = atomic_load_explicit(&queue->sections, memory_order_relaxed);

	atomic_store_explicit(&queue->sections, sections + 1, memory_order_release);
	urcu_memb_read_unlock();
}

static void wait_for_readers(void)
{
	urcu_memb_synchronize_rcu();
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++)
		atomic_load_explicit(&queues[cpu].sections, memory_order_acquire);
}

/*
 * One grace period, by its number. Several may run at once and end in any order: whoever waits for number n
 * is served by every later one as well, so `completed` is the highest that has ended.
 */
static void grace_period(void)
{
	/* Sequentially consistent with host_rcu_call(): see there. */
	unsigned long number = atomic_fetch_add(&begun, 1) + 1;
	unsigned long ended = atomic_load_explicit(&completed, memory_order_relaxed);

	wait_for_readers();
	while (ended < number && !atomic_compare_exchange_weak_explicit(
				     &completed, &ended, number, memory_order_acq_rel, memory_order_relaxed))
		;
}

void host_rcu_synchronize(void)
{
	invariant(!port_rcu_read_held());
	grace_period();
}

static void *grace_periods(void *unused)
{
	(void)unused;
	while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
		if (!atomic_exchange_explicit(&wanted, 0, memory_order_acq_rel)) {
			port_wait(&wanted, 0);
			continue;
		}
		grace_period();
	}
	return NULL;
}

static void want_grace_period(void)
{
	/* Already 1: that request is still to be taken, and `begun` has not been raised for it. */
	if (!atomic_load_explicit(&wanted, memory_order_relaxed) &&
	    !atomic_exchange_explicit(&wanted, 1, memory_order_acq_rel))
		port_wake(&wanted, 1);
}

static void queue_lock(struct callback_queue *queue)
{
	/* Sequentially consistent: host_rcu_call() needs it. */
	while (atomic_flag_test_and_set(&queue->lock))
		port_cpu_relax();
}

static void queue_unlock(struct callback_queue *queue)
{
	atomic_flag_clear_explicit(&queue->lock, memory_order_release);
}

void host_rcu_call(struct port_rcu_head *head, port_rcu_callback *callback)
{
	struct callback_queue *queue = &queues[port_cpu()];

	head->next = NULL;
	head->callback = callback;
	queue_lock(queue);
	/*
	 * What the caller unlinked comes before the lock's read-modify-write, that before this load, and this
	 * load before the increment which begins the grace period of that number: so a reader that starts in
	 * it no longer finds the object. All three are sequentially consistent.
	 */
	head->grace_period = atomic_load(&begun) + 1;
	if (!queue->first)
		atomic_store_explicit(&queue->due, head->grace_period, memory_order_relaxed);
	*queue->last = head;
	queue->last = &head->next;
	queue->queued++;
	queue_unlock(queue);
	want_grace_period();
}

/* Takes the first callback out if its grace period is over. */
static struct port_rcu_head *take_due(struct callback_queue *queue, unsigned long over)
{
	struct port_rcu_head *head = queue->first;

	if (!head || head->grace_period > over)
		return NULL;
	queue->first = head->next;
	if (!queue->first)
		queue->last = &queue->first;
	atomic_store_explicit(&queue->due, queue->first ? queue->first->grace_period : NOTHING_DUE,
			      memory_order_relaxed);
	return head;
}

static void run_due(struct callback_queue *queue)
{
	unsigned long over = atomic_load_explicit(&completed, memory_order_acquire);
	struct port_rcu_head *head;

	if (atomic_load_explicit(&queue->due, memory_order_relaxed) > over)
		return;
	queue_lock(queue);
	if (!queue->running) {
		queue->running = 1;
		while ((head = take_due(queue, over))) {
			queue_unlock(queue);
			head->callback(head);
			atomic_fetch_add_explicit(&queue->done, 1, memory_order_release);
			queue_lock(queue);
		}
		queue->running = 0;
	}
	queue_unlock(queue);
}

void host_rcu_poll(void)
{
	run_due(&queues[port_cpu()]);
}

int host_rcu_pending(void)
{
	return atomic_load_explicit(&queues[port_cpu()].due, memory_order_relaxed) != NOTHING_DUE;
}

void host_rcu_barrier(void)
{
	invariant(!port_rcu_read_held());
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		struct callback_queue *queue = &queues[cpu];
		unsigned long target;

		queue_lock(queue);
		target = queue->queued;
		queue_unlock(queue);
		while (atomic_load_explicit(&queue->done, memory_order_acquire) < target) {
			run_due(queue);
			port_cpu_relax();
		}
	}
}

int host_rcu_open(void)
{
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		queues[cpu].first = NULL;
		queues[cpu].last = &queues[cpu].first;
		atomic_store_explicit(&queues[cpu].due, NOTHING_DUE, memory_order_relaxed);
	}
	atomic_store_explicit(&stopping, 0, memory_order_relaxed);
	if (pthread_create(&grace_thread, NULL, grace_periods, NULL))
		return -EAGAIN;
	urcu_memb_register_thread();
	return 0;
}

/* True when a callback of any CPU has not run. */
static int any_queued(void)
{
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		if (atomic_load_explicit(&queues[cpu].due, memory_order_relaxed) != NOTHING_DUE)
			return 1;
	}
	return 0;
}

void host_rcu_close(void)
{
	/* Callbacks may hand over further ones. */
	do
		host_rcu_barrier();
	while (any_queued());
	atomic_store_explicit(&stopping, 1, memory_order_release);
	want_grace_period();
	/* The request may have been there already: the thread is awake then, or this wakes it. */
	port_wake(&wanted, 1);
	pthread_join(grace_thread, NULL);
	urcu_memb_unregister_thread();
}

void host_rcu_thread_enter(void)
{
	urcu_memb_register_thread();
}

void host_rcu_thread_leave(void)
{
	invariant(!port_rcu_read_held());
	urcu_memb_unregister_thread();
}
