/* SPDX-License-Identifier: MIT */
/*
 * The real machine's part of port/cpu.h: a CPU is a thread that host_run() started, or the thread that called
 * host_open(), which is CPU 0 while no run is going on. Memory nodes are left to the kernel: there is one,
 * and first touch places a page.
 */
#ifndef HOST_HOME_PORT_HOME_CPU_H
#define HOST_HOME_PORT_HOME_CPU_H

/* A waiting loop pauses this many turns, about a microsecond, and then gives its processor away. */
#define HOST_TURNS_BEFORE_YIELD 64u

/* A thread that is no CPU has a number which no table holds. */
#define HOST_CPU_NONE (~0u)

extern _Thread_local unsigned host_cpu_self;
extern _Thread_local unsigned host_relax_turns;
extern unsigned host_cpus;

/* Lets another thread have the processor. */
void host_yield(void);

static inline unsigned port_cpu(void)
{
	return host_cpu_self;
}

static inline unsigned port_cpu_count(void)
{
	return host_cpus;
}

static inline unsigned port_node_count(void)
{
	return 1;
}

static inline unsigned port_cpu_node(unsigned cpu)
{
	(void)cpu;
	return 0;
}

static inline unsigned port_node_distance(unsigned a, unsigned b)
{
	return a != b;
}

/* Tells the processor that this is a spinning loop. */
static inline void host_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static inline void port_cpu_relax(void)
{
	if (++host_relax_turns % HOST_TURNS_BEFORE_YIELD)
		host_pause();
	else
		host_yield();
}

#endif
