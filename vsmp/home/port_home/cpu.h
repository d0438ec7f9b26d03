/* SPDX-License-Identifier: MIT */
#ifndef PORT_HOME_CPU_H
#define PORT_HOME_CPU_H

#include "vsmp/home/inline.h"

/* Plain functions of vsmp/cpu.c: only there are the machine's structures known. */
unsigned vsmp_cpu(void);
unsigned vsmp_cpu_count(void);
unsigned vsmp_node_count(void);
unsigned vsmp_cpu_node(unsigned cpu);
unsigned vsmp_node_distance(unsigned a, unsigned b);
void spinning_relax(void);

PORT_HOME_INLINE unsigned port_cpu(void)
{
	return vsmp_cpu();
}

PORT_HOME_INLINE unsigned port_cpu_count(void)
{
	return vsmp_cpu_count();
}

PORT_HOME_INLINE unsigned port_node_count(void)
{
	return vsmp_node_count();
}

PORT_HOME_INLINE unsigned port_cpu_node(unsigned cpu)
{
	return vsmp_cpu_node(cpu);
}

PORT_HOME_INLINE unsigned port_node_distance(unsigned a, unsigned b)
{
	return vsmp_node_distance(a, b);
}

PORT_HOME_INLINE void port_cpu_relax(void)
{
	spinning_relax();
}

#endif
