/* SPDX-License-Identifier: MIT */
#include "lab/what_if.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/names.h"

/* Splits "NAME=NUMBER". Returns 0 or -EINVAL. */
static int split(const char *text, char *name, size_t size, double *number)
{
	const char *equals = strrchr(text, '=');
	char *end;

	if (!equals || equals == text || (size_t)(equals - text) >= size || !equals[1])
		return -EINVAL;
	memcpy(name, text, (size_t)(equals - text));
	name[equals - text] = '\0';
	*number = strtod(equals + 1, &end);
	return *end || !isfinite(*number) ? -EINVAL : 0;
}

int what_if_add_speedup(struct what_if *what_if, const char *text, struct message *why)
{
	struct vsmp_speedup *speedup = &what_if->speedups[what_if->speedup_count];

	if (what_if->speedup_count == VSMP_SPEEDUPS_MAX)
		return message_set(why, -EINVAL, "--speedup: at most %u functions at once",
				   VSMP_SPEEDUPS_MAX);
	if (split(text, speedup->symbol, sizeof(speedup->symbol), &speedup->percent))
		return message_set(why, -EINVAL,
				   "--speedup: \"%s\" must be SYMBOL=PERCENT, such as spin_lock=10",
				   message_quote(text).text);
	if (speedup->percent < VSMP_SPEEDUP_PERCENT_MIN || speedup->percent > VSMP_SPEEDUP_PERCENT_MAX)
		return message_set(why, -EINVAL,
				   "--speedup: %g %% cannot be; it must be %d to %d, below 0 for a slowdown",
				   speedup->percent, VSMP_SPEEDUP_PERCENT_MIN, VSMP_SPEEDUP_PERCENT_MAX);
	for (unsigned i = 0; i < what_if->speedup_count; i++)
		if (!strcmp(what_if->speedups[i].symbol, speedup->symbol))
			return message_set(why, -EINVAL, "--speedup: %s is there twice", speedup->symbol);
	what_if->speedup_count++;
	return 0;
}

int what_if_add_set(struct what_if *what_if, const char *text, struct message *why)
{
	struct what_if_set *set = &what_if->sets[what_if->set_count];
	const char *names[MACHINE_FIGURES];
	char name[64], suggestion[MESSAGE_BYTES / 2];
	double value;

	if (split(text, name, sizeof(name), &value))
		return message_set(why, -EINVAL,
				   "--machine-set: \"%s\" must be KEY=VALUE, such as memory=150",
				   message_quote(text).text);
	for (unsigned i = 0; i < MACHINE_FIGURES; i++) {
		names[i] = machine_figure_name(i);
		if (strcmp(names[i], name))
			continue;
		for (unsigned j = 0; j < what_if->set_count; j++)
			if (what_if->sets[j].figure == i)
				return message_set(why, -EINVAL, "--machine-set: %s is there twice", name);
		*set = (struct what_if_set){.figure = i, .value = value};
		what_if->set_count++;
		return 0;
	}
	names_suggest(suggestion, sizeof(suggestion), name, names, MACHINE_FIGURES);
	return message_set(why, -EINVAL, "--machine-set: a machine has no figure \"%s\"; %s",
			   message_quote(name).text, suggestion);
}

/* The range that a machine file is held to, in the unit in which it gives the figure. */
static void range_of(const struct machine *machine, unsigned figure, double *least, double *most)
{
	double scale = machine->figure[figure].nanoseconds ? machine->figure[MACHINE_GIGAHERTZ].value : 1;

	if (figure == MACHINE_GIGAHERTZ) {
		*least = MACHINE_GIGAHERTZ_MIN;
		*most = MACHINE_GIGAHERTZ_MAX;
		return;
	}
	*least = vsmp_parameter_info[figure].minimum / scale;
	*most = vsmp_parameter_info[figure].maximum / scale;
}

int what_if_apply(struct what_if *what_if, struct machine *machine, struct message *why)
{
	struct machine_point point;

	for (unsigned i = 0; i < what_if->set_count; i++) {
		struct what_if_set *set = &what_if->sets[i];
		struct figure *figure = &machine->figure[set->figure];
		const char *name = machine_figure_name(set->figure);
		double least, most;

		if (figure->provenance == PROVENANCE_NONE)
			return message_set(why, -EINVAL, "--machine-set: machine %s has no %s",
					   machine->shape.name, name);
		range_of(machine, set->figure, &least, &most);
		if (set->value < least || set->value > most)
			return message_set(why, -EINVAL, "--machine-set: %s is %g %s; it must be %g to %g",
					   name, set->value, machine_figure_unit(machine, set->figure), least,
					   most);
		set->was = figure->value;
		figure->value = figure->low = figure->high = set->value;
	}
	machine_point_of_file(machine, &point);
	machine_resolve(machine, &point, &machine->shape);
	return vsmp_machine_check(&machine->shape, why);
}
