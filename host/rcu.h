/* SPDX-License-Identifier: MIT */
/*
 * What host/cpu.c tells host/rcu.c: which threads may be readers.
 */
#ifndef HOST_RCU_H
#define HOST_RCU_H

/*
 * Makes the calling thread, CPU 0, a reader and starts the thread that waits for grace periods. Returns 0, or
 * -EAGAIN when that cannot be started.
 */
int host_rcu_open(void);

/* Runs every callback that waits, stops that thread. Called as host_rcu_open(), outside every section. */
void host_rcu_close(void);

/* Stands around a CPU's thread; its number is set before. */
void host_rcu_thread_enter(void);
void host_rcu_thread_leave(void);

#endif
