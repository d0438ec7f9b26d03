/* SPDX-License-Identifier: MIT */
#include "lab/sweep.h"

#include <errno.h>
#include <stdlib.h>

/* Two for each figure, the two corners, and three with the other home. */
#define POINTS_MAX (2 * MACHINE_FIGURES + 5)

static struct machine_point *add(const struct machine *machine, struct sweep_point *points, long *count,
				 unsigned figure)
{
	struct sweep_point *point = &points[(*count)++];

	point->figure = figure;
	machine_point_of_file(machine, &point->at);
	return &point->at;
}

static void move_all(const struct machine *machine, struct machine_point *point, bool longer)
{
	for (unsigned i = 0; i < MACHINE_FIGURES; i++) {
		const struct figure *figure = &machine->figure[i];

		if (figure->provenance == PROVENANCE_ASSUMED)
			point->value[i] = figure->more_is_better == longer ? figure->low : figure->high;
	}
}

long sweep_points(const struct machine *machine, bool corners_only, struct sweep_point **points)
{
	struct sweep_point *made = calloc(POINTS_MAX, sizeof(*made));
	struct machine_point *point;
	bool assumed = false;
	long count = 0;

	if (!made)
		return -ENOMEM;
	for (unsigned i = 0; i < MACHINE_FIGURES; i++) {
		const struct figure *figure = &machine->figure[i];

		if (figure->provenance != PROVENANCE_ASSUMED)
			continue;
		assumed = true;
		if (corners_only)
			continue;
		if (figure->low < figure->value)
			add(machine, made, &count, i)->value[i] = figure->low;
		if (figure->high > figure->value)
			add(machine, made, &count, i)->value[i] = figure->high;
	}
	if (assumed) {
		move_all(machine, add(machine, made, &count, MACHINE_FIGURES), true);
		move_all(machine, add(machine, made, &count, MACHINE_FIGURES), false);
	}
	if (machine->home_assumed) {
		enum machine_home other = sweep_other_home(machine->home);

		add(machine, made, &count, MACHINE_FIGURES)->home = other;
		for (int longer = 1; assumed && longer >= 0; longer--) {
			point = add(machine, made, &count, MACHINE_FIGURES);
			point->home = other;
			move_all(machine, point, longer);
		}
	}
	*points = made;
	return count;
}

void sweep_extreme(const struct machine *machine, const struct sweep_point *points, size_t count,
		   const double *quantity, double own, bool raise, struct machine_point *extreme)
{
	machine_point_of_file(machine, extreme);
	for (unsigned i = 0; i < MACHINE_FIGURES; i++) {
		/* An end that is the file's own value was not run by itself. */
		const struct figure *figure = &machine->figure[i];
		double at_low = own, at_high = own;

		for (size_t j = 0; j < count; j++) {
			if (points[j].figure != i)
				continue;
			if (points[j].at.value[i] < figure->value)
				at_low = quantity[j];
			else
				at_high = quantity[j];
		}
		if (at_low != at_high)
			extreme->value[i] = (at_high > at_low) == raise ? figure->high : figure->low;
	}
}
