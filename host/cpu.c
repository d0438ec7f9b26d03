/* SPDX-License-Identifier: MIT */
#include "host/cpu.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "host/rcu.h"
#include "port/cpu.h"
#include "port/panic.h"
#include "port/rcu.h"
#include "port/wait.h"

_Thread_local unsigned host_cpu_self = HOST_CPU_NONE;
_Thread_local unsigned host_relax_turns;
unsigned host_cpus;

enum gate { GATE_SHUT, GATE_RUN, GATE_CANCEL };

/* One run: what every thread of it shares. */
struct run {
	void (*body)(unsigned cpu, void *argument);
	void *argument;
	_Atomic uint32_t gate; /* enum gate; threads sleep on it until all exist */
};

struct cpu_thread {
	struct run *run;
	unsigned cpu;
	pthread_t thread;
};

void host_yield(void)
{
	sched_yield();
}

int host_open(unsigned cpus)
{
	int error;

	if (cpus < 1 || cpus > PORT_CPUS_MAX)
		return -EINVAL;
	if (host_cpus)
		return -EBUSY;
	host_cpus = cpus;
	host_cpu_self = 0;
	error = host_rcu_open();
	if (error) {
		host_cpu_self = HOST_CPU_NONE;
		host_cpus = 0;
	}
	return error;
}

void host_close(void)
{
	if (!host_cpus)
		return;
	invariant(port_cpu() == 0);
	host_rcu_close();
	host_cpu_self = HOST_CPU_NONE;
	host_cpus = 0;
}

static void *run_cpu(void *argument)
{
	struct cpu_thread *self = argument;
	struct run *run = self->run;
	uint32_t gate;

	while ((gate = atomic_load_explicit(&run->gate, memory_order_acquire)) == GATE_SHUT)
		port_wait(&run->gate, GATE_SHUT);
	if (gate == GATE_CANCEL)
		return NULL;
	host_cpu_self = self->cpu;
	host_rcu_thread_enter();
	run->body(self->cpu, run->argument);
	host_rcu_thread_leave();
	return NULL;
}

/* The number of the `index`th processor of `allowed`, counted around. */
static int processor(const cpu_set_t *allowed, unsigned index)
{
	int count = CPU_COUNT(allowed);
	int left = (int)(index % (unsigned)count);

	for (int number = 0; number < CPU_SETSIZE; number++) {
		if (CPU_ISSET(number, allowed) && left-- == 0)
			return number;
	}
	return -1;
}

/* Starts the thread of `self`, pinned if the system says which processors there are. Returns 0 or an errno.
 */
static int start(struct cpu_thread *self, const cpu_set_t *allowed)
{
	pthread_attr_t attributes;
	int error;

	error = pthread_attr_init(&attributes);
	if (error)
		return error;
	if (CPU_COUNT(allowed)) {
		cpu_set_t one;

		CPU_ZERO(&one);
		CPU_SET(processor(allowed, self->cpu), &one);
		error = pthread_attr_setaffinity_np(&attributes, sizeof(one), &one);
	}
	if (!error)
		error = pthread_create(&self->thread, &attributes, run_cpu, self);
	pthread_attr_destroy(&attributes);
	return error;
}

int host_run(void (*body)(unsigned cpu, void *argument), void *argument)
{
	struct run run = {.body = body, .argument = argument};
	struct cpu_thread *threads;
	cpu_set_t allowed;
	unsigned started;
	int error = 0;

	invariant(host_cpus && port_cpu() == 0 && !port_rcu_read_held());
	threads = calloc(host_cpus, sizeof(*threads));
	if (!threads)
		return -EAGAIN;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		CPU_ZERO(&allowed);

	for (started = 0; started < host_cpus; started++) {
		threads[started].run = &run;
		threads[started].cpu = started;
		error = start(&threads[started], &allowed);
		if (error)
			break;
	}
	atomic_store_explicit(&run.gate, error ? GATE_CANCEL : GATE_RUN, memory_order_release);
	port_wake(&run.gate, started);
	while (started)
		pthread_join(threads[--started].thread, NULL);
	free(threads);
	return error ? -EAGAIN : 0;
}
