/* SPDX-License-Identifier: MIT */
/*
 * CPUs as slots that any thread may take for a while: how a program's own threads come into the machine.
 */
#ifndef HOST_SLOTS_H
#define HOST_SLOTS_H

#include <stdbool.h>

/*
 * Opens the machine as host_open() does, with all CPUs as slots; the calling thread has taken one. Returns as
 * host_open(). While it is open so, there is no host_run().
 */
int host_slots_open(unsigned cpus);

/* Closes it. The calling thread has taken a slot, once, and no other thread has any. */
void host_slots_close(void);

/*
 * Takes a slot: from here on the calling thread is a CPU. A thread that has one takes it once more. Returns
 * 0, or -EAGAIN when all are taken, or no machine is open so.
 */
int host_slot_take(void);

/* Gives it back, as often as it was taken. The thread is outside every read section and lock. */
void host_slot_give(void);

/* Whether the calling thread has one. */
bool host_slot_held(void);

#endif
