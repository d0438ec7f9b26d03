/* SPDX-License-Identifier: MIT */
/*
 * What others measured, for reports to set beside what we got. Nothing that runs an experiment includes this.
 */
#ifndef LAB_PUBLISHED_H
#define LAB_PUBLISHED_H

#include <stdbool.h>
#include <stdint.h>

#include "lab/comparison.h"
#include "lab/document.h"
#include "lab/experiment.h"

enum published_quantity {
	PUBLISHED_SECONDS,      /* for the operations that were published */
	PUBLISHED_RATE,         /* operations a second of all CPUs */
	PUBLISHED_PROFILE_SHARE /* percent of all CPU time in one function and in what is part of it */
};

/* What our figure for it is. */
enum published_kind {
	PUBLISHED_PREDICTED,
	PUBLISHED_FITTED /* it was used to fit the machine's one fitted figure */
};

struct published {
	char *variant;
	uint32_t cpus;
	enum published_quantity quantity;
	double value;
	char *unit;
	enum published_kind kind;
	char *source;
	/*
	 * Of a profile share. `symbol` is the function as it was called where it was measured, `ours` what it
	 * is here, as lab/share.h takes it. With `caller` the share is of the symbol's own time, as much of
	 * it as was spent for that caller; `of` is then what the symbol alone is here.
	 */
	char *symbol, *caller;
	char **ours, **of;
	uint32_t ours_count, of_count;
	uint64_t ticks; /* of the timer, where it was printed in these; 0: it was not */
};

/* What was said of two variants: how `variant` is against the other one. */
struct published_verdict {
	char *variant, *against;
	uint32_t cpus;
	enum verdict verdict;
	char *source;
};

struct published_list {
	struct published *published;
	uint32_t published_count;
	struct published_verdict *verdicts;
	uint32_t verdicts_count;
};

/*
 * Reads the published figures and verdicts of an experiment, whose variants they must name, from the document
 * that experiment_load() left open. Returns 0; -EINVAL with a located message.
 */
int published_load(struct published_list **list, struct document *document,
		   const struct experiment *experiment, struct message *why);
void published_free(struct published_list *list);

/* Returns the first figure of that quantity of a case, or NULL when none was published. `list` may be NULL.
 */
const struct published *published_find(const struct published_list *list, enum published_quantity quantity,
				       const char *variant, unsigned cpus);

/* Returns whether a figure is of that variant on so many CPUs. */
bool published_is_of(const struct published *published, const char *variant, unsigned cpus);

/* Returns whether any figure is of that quantity, so whether runs must find it out. `list` may be NULL. */
bool published_has(const struct published_list *list, enum published_quantity quantity);

/* By a figure that was published in ticks too and is no caller's: how many ticks there were in all. */
double published_all_ticks(const struct published *published);

/* Returns whether any figure was published in ticks too. */
bool published_has_ticks(const struct published_list *list);

/* "seconds"; "predicted" or "fitted". */
const char *published_quantity_name(enum published_quantity quantity);
const char *published_kind_name(enum published_kind kind);

#endif
