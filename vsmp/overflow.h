/* SPDX-License-Identifier: MIT */
#ifndef VSMP_OVERFLOW_H
#define VSMP_OVERFLOW_H

/*
 * While a machine exists, a simulated CPU that runs over its stack is named before the program ends. Other
 * segmentation faults go to whoever handled them before. Returns 0 or a negative errno.
 */
int overflow_open(void);
void overflow_close(void);

#endif
