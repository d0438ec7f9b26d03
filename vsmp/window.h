/* SPDX-License-Identifier: MIT */
#ifndef VSMP_WINDOW_H
#define VSMP_WINDOW_H

#include "vsmp/core.h"

/* The body of `cpu` has returned: nobody waits for it any more, at the barrier or for its window to end.
 * Called by the schedule. */
void window_cpu_returns(struct cpu *cpu);

#endif
