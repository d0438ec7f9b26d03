/* SPDX-License-Identifier: MIT */
/*
 * CPUs as slots that any thread may take for a while: how a program's own threads come into the machine.
 */
#ifndef HOST_SLOTS_H
#define HOST_SLOTS_H

#include <stdbool.h>

/*
 * Opens the machine as host_open() does, with `cpus` CPUs as slots, 1 to PORT_CPUS_MAX - 1, and a spare one;
 * the calling thread has taken a slot. Returns as host_open(). While it is open so, there is no host_run().
 */
int host_slots_open(unsigned cpus);

/* Closes it. The calling thread has taken a slot or the spare one, once, and no other thread has any. */
void host_slots_close(void);

/*
 * Takes a slot: from here on the calling thread is a CPU. A thread that has one takes it once more. Returns
 * 0, or -EAGAIN when all are taken, or no machine is open so.
 */
int host_slot_take(void);

/*
 * As host_slot_take() of a machine that is open so, but a thread without a slot gets the spare one. No other
 * thread may have that: callers take turns.
 */
void host_slot_take_spare(void);

/* Gives it back, as often as it was taken. The thread is outside every read section and lock. */
void host_slot_give(void);

/* Whether the calling thread has one. */
bool host_slot_held(void);

#endif
