/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_CPU_H
#define PORT_HOME_CPU_H

/* Plain functions of vsmp/cpu.c: only there are the machine's structures known. */
unsigned vsmp_cpu(void);
unsigned vsmp_cpu_count(void);
unsigned vsmp_node_count(void);
unsigned vsmp_cpu_node(unsigned cpu);
void spinning_relax(void);

static inline unsigned port_cpu(void)
{
	return vsmp_cpu();
}

static inline unsigned port_cpu_count(void)
{
	return vsmp_cpu_count();
}

static inline unsigned port_node_count(void)
{
	return vsmp_node_count();
}

static inline unsigned port_cpu_node(unsigned cpu)
{
	return vsmp_cpu_node(cpu);
}

static inline void port_cpu_relax(void)
{
	spinning_relax();
}

#endif
