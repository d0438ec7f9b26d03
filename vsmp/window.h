/* SPDX-License-Identifier: MIT */
#ifndef VSMP_WINDOW_H
#define VSMP_WINDOW_H

/* A body has returned: those who wait at the barrier no longer wait for it. Called by the schedule. */
void window_cpu_returns(void);

#endif
