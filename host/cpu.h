/* SPDX-License-Identifier: MIT */
/*
 * The real machine: CPUs are threads, each pinned to one processor. There may be more of them than
 * processors. One machine is open at a time in a process.
 */
#ifndef HOST_CPU_H
#define HOST_CPU_H

/*
 * Opens the machine with `cpus` CPUs. The calling thread is its CPU 0 whenever no host_run() is going on, so
 * it can use everything of port/ at once. Returns 0; -EINVAL unless `cpus` is 1 to PORT_CPUS_MAX; -EBUSY when
 * a machine is open; -EAGAIN when a thread cannot be started.
 */
int host_open(unsigned cpus);

/*
 * Runs all callbacks that still wait for a grace period and closes the machine. Called by the thread that
 * opened it, outside every run, read section and lock. Does nothing when none is open.
 */
void host_close(void);

/*
 * Runs body(cpu, argument) on every CPU at once, each in a new thread, and returns when all have returned.
 * Called by the thread that opened the machine. Threads are pinned in turn to the processors that the process
 * may use. Returns 0, or -EAGAIN when a thread cannot be started; then no body has run.
 */
int host_run(void (*body)(unsigned cpu, void *argument), void *argument);

#endif
