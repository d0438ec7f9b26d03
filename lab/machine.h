/* SPDX-License-Identifier: MIT */
/*
 * A machine as its file describes it: what the virtual machine needs, and for each number where it comes
 * from. machines/README.md tells how such a file looks.
 */
#ifndef LAB_MACHINE_H
#define LAB_MACHINE_H

#include <stdbool.h>

#include "engine/engine.h"

/* Where a number comes from. */
enum provenance {
	PROVENANCE_NONE,    /* the machine has no such number */
	PROVENANCE_SOURCED, /* a publication or a measurement */
	PROVENANCE_ASSUMED, /* a guess, with the range in which the truth is plausible */
	PROVENANCE_FITTED   /* to an uncontended published figure */
};

/* One number of the file. value, low and high are in its own unit: cycles or ns, GB/s, ratio, GHz. */
struct figure {
	enum provenance provenance;
	double value;
	double low, high;    /* equal to value unless assumed */
	bool nanoseconds;    /* a time given in ns; the virtual machine counts cycles */
	bool more_is_better; /* a bandwidth or a clock: with less of it operations take longer */
	char *text;          /* the source, the reason of the assumption, or what it was fitted on */
};

/* The parameters by enum vsmp_parameter, then the clock. */
#define MACHINE_GIGAHERTZ VSMP_PARAMETER_COUNT
#define MACHINE_FIGURES   (VSMP_PARAMETER_COUNT + 1)

#define MACHINE_GIGAHERTZ_MIN 0.1
#define MACHINE_GIGAHERTZ_MAX 10.0

/* On which socket globals and boot memory have their home. */
enum machine_home {
	MACHINE_HOME_BOOT, /* CPU 0's */
	MACHINE_HOME_IDLE  /* one that no CPU of the run uses, if there is one; else CPU 0's */
};

struct machine {
	char *title;
	char *path;
	struct vsmp_machine shape; /* with `value` in cycles and `gigahertz` as the file says */
	struct figure figure[MACHINE_FIGURES];
	struct vsmp_placement placement;
	enum machine_home home;
	char *home_assumed; /* why the home is a guess; NULL when it is none */
	char *topology_text, *protocol_text;
	bool topology_assumed, protocol_assumed;
	char *calibration; /* the host of line-sharing.csv that this machine is; NULL when none */
};

/* A place to stand in the ranges of the assumed figures. */
struct machine_point {
	double value[MACHINE_FIGURES]; /* in each figure's own unit */
	enum machine_home home;
};

/* Returns what a machine file calls the figure: a parameter's name, or "gigahertz". */
const char *machine_figure_name(unsigned figure);

/* Returns the unit in which the machine's file gives the figure: "cycles", "ns", "GB/s", "ratio", "GHz". */
const char *machine_figure_unit(const struct machine *machine, unsigned figure);

/*
 * Finds and reads the machine called `name`. Returns 0; -ENOENT with a message when there is none; -EINVAL
 * with a located message; -ENOMEM. machine_free() frees it.
 */
int machine_load(struct machine **machine, const char *name, struct message *why);
void machine_free(struct machine *machine);

/* Sets `point` to what the file says. */
void machine_point_of_file(const struct machine *machine, struct machine_point *point);

/* Makes the machine to simulate at `point`. */
void machine_resolve(const struct machine *machine, const struct machine_point *point,
		     struct vsmp_machine *resolved);

/* Returns whether a run that asked for `parameters_asked` (struct vsmp_report) may depend on the figure; on
 * the clock each does. */
static inline bool machine_figure_counts(unsigned figure, uint64_t parameters_asked)
{
	return figure == MACHINE_GIGAHERTZ || (parameters_asked >> figure & 1);
}

/* Returns whether a run that asked for `parameters_asked` at `base` may be another at `point`. */
bool machine_point_differs(const struct machine_point *point, const struct machine_point *base,
			   uint64_t parameters_asked);

/* Returns how many CPUs a run so placed can have. */
unsigned machine_cpus(const struct machine *machine, const struct vsmp_placement *placement);

/* Writes the socket for engine_config.home_socket: -1 is CPU 0's. Returns 0, or -EINVAL with a message when
 * the CPUs have no seats. */
int machine_home_socket(const struct vsmp_machine *shape, const struct vsmp_placement *placement,
			enum machine_home home, unsigned cpus, int *socket, struct message *why);

#endif
