/* SPDX-License-Identifier: MIT */
/*
 * What if one function cost less? Plain data; vsmp/what_if.h is what makes it so.
 */
#ifndef VSMP_SPEEDUP_H
#define VSMP_SPEEDUP_H

#define VSMP_SPEEDUPS_MAX        8u
#define VSMP_SPEEDUP_PERCENT_MAX 99
#define VSMP_SPEEDUP_PERCENT_MIN -900

struct vsmp_speedup {
	char symbol[128]; /* of a function, as the profile names it */
	double percent;   /* by which it costs less; below 0 it costs more */
};

#endif
