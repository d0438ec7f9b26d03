/* SPDX-License-Identifier: MIT */
#include "lab/sweep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Two for each figure, the two corners, and three with the other home. */
#define POINTS_MAX (2 * MACHINE_FIGURES + 5)

static struct sweep_point *add(const struct machine *machine, struct sweep_point *points, long *count,
			       const char *what, const char *end)
{
	struct sweep_point *point = &points[(*count)++];

	snprintf(point->what, sizeof(point->what), "%s%s", what, end);
	machine_point_of_file(machine, &point->at);
	return point;
}

static void move_all(const struct machine *machine, struct machine_point *point, bool worse)
{
	for (unsigned i = 0; i < MACHINE_FIGURES; i++) {
		const struct figure *figure = &machine->figure[i];

		if (figure->provenance == PROVENANCE_ASSUMED)
			point->value[i] = figure->more_is_better == worse ? figure->low : figure->high;
	}
}

long sweep_points(const struct machine *machine, struct sweep_point **points)
{
	struct sweep_point *made = calloc(POINTS_MAX, sizeof(*made));
	bool assumed = false;
	long count = 0;

	if (!made)
		return -ENOMEM;
	for (unsigned i = 0; i < MACHINE_FIGURES; i++) {
		const struct figure *figure = &machine->figure[i];
		const char *name = machine_figure_name(i);

		if (figure->provenance != PROVENANCE_ASSUMED)
			continue;
		assumed = true;
		if (figure->low < figure->value)
			add(machine, made, &count, name, " low")->at.value[i] = figure->low;
		if (figure->high > figure->value)
			add(machine, made, &count, name, " high")->at.value[i] = figure->high;
	}
	if (assumed) {
		move_all(machine, &add(machine, made, &count, "all worse", "")->at, true);
		move_all(machine, &add(machine, made, &count, "all better", "")->at, false);
	}
	if (machine->home_assumed) {
		enum machine_home other =
		    machine->home == MACHINE_HOME_BOOT ? MACHINE_HOME_IDLE : MACHINE_HOME_BOOT;
		const char *name = other == MACHINE_HOME_IDLE ? "home idle" : "home boot";
		struct sweep_point *point;

		add(machine, made, &count, name, "")->at.home = other;
		for (int worse = 1; assumed && worse >= 0; worse--) {
			point = add(machine, made, &count, name, worse ? ", all worse" : ", all better");
			point->at.home = other;
			move_all(machine, &point->at, worse);
		}
	}
	*points = made;
	return count;
}
