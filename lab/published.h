/* SPDX-License-Identifier: MIT */
/*
 * What others measured, for reports to set beside what we got. Nothing that runs an experiment includes this.
 */
#ifndef LAB_PUBLISHED_H
#define LAB_PUBLISHED_H

#include <stdint.h>

#include "lab/document.h"
#include "lab/experiment.h"

enum published_quantity {
	PUBLISHED_SECONDS /* for the operations that were published */
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
};

struct published_list {
	struct published *published;
	uint32_t published_count;
};

/*
 * Reads the published figures of an experiment, whose variants and CPU counts they must name, from the
 * document that experiment_load() left open. Returns 0; -EINVAL with a located message.
 */
int published_load(struct published_list **list, struct document *document,
		   const struct experiment *experiment, struct message *why);
void published_free(struct published_list *list);

/* Returns the figure of that quantity, or NULL when none was published. `list` may be NULL. */
const struct published *published_find(const struct published_list *list, const char *variant, unsigned cpus,
				       enum published_quantity quantity);

/* "seconds"; "predicted" or "fitted". */
const char *published_quantity_name(enum published_quantity quantity);
const char *published_kind_name(enum published_kind kind);

#endif
