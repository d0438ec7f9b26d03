/* SPDX-License-Identifier: MIT */
/*
 * Contract: the CPUs of the machine that the code runs on.
 *
 * Each home (vsmp/, host/) supplies the inline part by its own include path: <port_home/...>.
 */
#ifndef PORT_CPU_H
#define PORT_CPU_H

#define PORT_CPUS_MAX  1024u
#define PORT_NODES_MAX 256u

/*
 * Returns the number of the CPU that the caller runs on, 0 to port_cpu_count() - 1. A caller stays on its CPU
 * for as long as an operation lasts. Takes no lock; may be called from anywhere, a signal handler included.
 */
static inline unsigned port_cpu(void);

/* Returns how many CPUs take part, 1 to PORT_CPUS_MAX; the same for the machine's whole life. */
static inline unsigned port_cpu_count(void);

/* Returns how many memory nodes the machine has, 1 to PORT_NODES_MAX. */
static inline unsigned port_node_count(void);

/* Returns the memory node nearest to `cpu` (0 to port_cpu_count() - 1). */
static inline unsigned port_cpu_node(unsigned cpu);

#define PORT_NODE_DISTANCE_MAX 255u

/*
 * Returns how far memory node `b` is from node `a` (0 to port_node_count() - 1), 0 to PORT_NODE_DISTANCE_MAX:
 * 0 if they are the same, else 1 or more, the same both ways. Only the order of distances means something.
 */
static inline unsigned port_node_distance(unsigned a, unsigned b);

/*
 * Tells the machine that the caller is in a loop that waits for another CPU's write and has just read what it
 * waits for, by atomic loads or read-modify-writes. The virtual machine lets the loop turn again when a line
 * that it read is written to, so a loop that counts its turns may turn more slowly there. Must stand in every
 * such loop that does not use port/spin.h. The real machine yields now and then.
 */
static inline void port_cpu_relax(void);

#include <port_home/cpu.h>

#endif
