/* SPDX-License-Identifier: MIT */
/*
 * What the CPUs of an experiment do, written once against engine/engine.h. Each is one file in
 * lab/workloads/ and one row in lab/workload.c.
 */
#ifndef LAB_WORKLOAD_H
#define LAB_WORKLOAD_H

#include "engine/engine.h"

#define WORKLOAD_OPTIONS_MAX 8u
#define WORKLOAD_CHOICES_MAX 12u
#define WORKLOAD_FIGURES_MAX 16u

/* A way in which a workload can be run: "layout". */
struct workload_option {
	const char *name;
	const char *choices[WORKLOAD_CHOICES_MAX]; /* end with NULL; the first is the default */
};

/* What a workload finds out beside the time of an operation. */
struct workload_figure {
	const char *name; /* "anonymous fault" */
	const char *unit; /* "ns" */
};

/* The number of the choice that was made of each option, in the order of the workload's. */
struct workload_settings {
	uint8_t choice[WORKLOAD_OPTIONS_MAX];
};

struct workload_size {
	unsigned cpus;
	uint64_t published; /* operations of each CPU in the published measurement: how large its memory is;
			       0 where that is not known */
	uint64_t measured;  /* operations of each CPU in the measured window, 1 or more */
	uint64_t warm_up;   /* and before it */
	uint64_t seed;      /* for a workload that draws numbers */
	struct workload_settings settings;
	bool simulated; /* on a virtual machine: rounds may be shorter, in proportion */
	bool small;     /* for exploration: a round is of some pages only */
	/* Leave out the check and the tearing down: the process ends, and other runs of the same code were
	 * checked. */
	bool unchecked;
};

struct workload_outcome {
	struct engine_timing timing;
	unsigned workers;                     /* CPUs that count operations; 0: all */
	struct engine_statistics statistics;  /* at the end of the run, where the workload asks for them */
	double figures[WORKLOAD_FIGURES_MAX]; /* in the order of the workload's; NAN: not in this run */
};

struct workload {
	const char *name;
	const char *operation; /* what one operation is, for tables: "insertion"; an s makes it plural */
	bool structure_only;   /* never looks into pages; on a simulated machine none does, but */
	bool contents;         /* one that has files on a disk needs pages to have contents there, too */
	bool pressed;          /* memory_bytes is all the RAM there is, see engine_config */
	bool populate;         /* its faults take RAM that nothing has used before, see engine_config */
	const struct workload_option *options;
	unsigned option_count; /* at most WORKLOAD_OPTIONS_MAX */
	const struct workload_figure *figures;
	unsigned figure_count; /* at most WORKLOAD_FIGURES_MAX */

	/* How much RAM its anonymous memory needs, and its PFN mappings name; NULL: none. */
	uint64_t (*memory_bytes)(const struct workload_size *size);
	uint64_t (*exported_bytes)(const struct workload_size *size);

	/* How long a gather of a virtual machine is, and a CPU's list of free frames, see struct
	 * engine_config; NULL: as they are. */
	unsigned (*gather_batches)(const struct workload_size *size);
	unsigned (*pcp_batches)(const struct workload_size *size);

	/* Returns NULL, or why `engine` cannot do it. */
	const char *(*refusal)(const struct engine *engine);

	/*
	 * Sets up, measures and tears down on an open engine. Returns 0, or a negative errno with a message:
	 * what an operation returned, -EDEADLK, or -EINVAL when an invariant of the system does not hold.
	 */
	int (*run)(const struct engine *engine, const struct workload_size *size,
		   struct workload_outcome *outcome, struct message *why);
};

/* The parts of a run. All are given the same argument. */
struct workload_phases {
	void (*set_up)(void *argument);             /* once, before */
	void (*body)(unsigned cpu, void *argument); /* on every CPU, measured */
	void (*tear_down)(void *argument);          /* once, after: checks, and frees; not when unchecked */
	int (*error)(void *argument); /* after each part: 0, or a negative errno with the message set */
};

/* Runs the parts one after the other on an open engine, up to the first error. Returns 0 or that error. */
int workload_run_phases(const struct engine *engine, const struct workload_size *size,
			const struct workload_phases *phases, void *argument, struct engine_timing *timing,
			struct message *why);

/* Says that `cpu` failed with `error` while `doing` ("mapping its memory"), and returns the error. */
int workload_cpu_failed(unsigned cpu, int error, const char *doing, struct message *why);

/*
 * Checks that no touch of a run found its page there, which would make faults look cheap: there were as many
 * faults between `before` and `after` as `touches`, or more. Returns 0, or -EIO with a message.
 */
int workload_check_faults(const struct engine_statistics *before, const struct engine_statistics *after,
			  uint64_t touches, struct message *why);

/* Returns the workload called `name`, or NULL with a message that lists the names. */
const struct workload *workload_find(const char *name, struct message *why);

/* Makes one choice. Returns 0, or -ENOENT with a message that lists what there is. */
int workload_choose(const struct workload *workload, struct workload_settings *settings, const char *option,
		    const char *choice, struct message *why);

/* Returns the name of the choice that `settings` has for the option of number `option`. */
const char *workload_choice(const struct workload *workload, const struct workload_settings *settings,
			    unsigned option);

extern const struct workload workload_anon_fault;
extern const struct workload workload_group_release;
extern const struct workload workload_over_commit;
extern const struct workload workload_pfn_insert;
extern const struct workload workload_reclaim_copy;
extern const struct workload workload_shared_fault;
extern const struct workload workload_whole;

#endif
