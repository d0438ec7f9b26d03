/* SPDX-License-Identifier: MIT */
/*
 * Every published figure beside ours, over all experiments, and what the predictions amount to.
 */
#ifndef LAB_FIGURES_H
#define LAB_FIGURES_H

#include <jansson.h>
#include <stdio.h>

#include "lab/prediction.h"
#include "lab/published.h"

struct figure_row {
	const struct published *published;
	const char *experiment;
	double ours; /* NAN: this run does not tell */
	bool is_share;
	double points; /* of a share: ours - published */
	double ratio;  /* of another: ours / published */
};

struct figures {
	struct figure_row *rows;
	size_t count;
};

/* How far predictions are off; fitted figures do not count. A time or a rate is off by a factor of 1 or more,
 * either way, a share of time by points. */
struct figures_summary {
	size_t factors, shares;
	double median_factor, worst_factor;
	double median_points, worst_points;
};

/* What a published figure is in the case of `row`; NAN where the run cannot tell. */
double figure_ours(const struct published *figure, const struct study_row *row);

/* What a figure that was published in ticks of the timer is in the case of `row`, of as many ticks in all as
 * were published for this case; NAN where the run, or what was published, cannot tell. */
double figure_ours_ticks(const struct published *figure, const struct study_row *row,
			 const struct published_list *published);

/* Adds the published figures of one experiment; they and the prediction must outlive `figures`. Ends the
 * program when memory runs out. figures_free() empties it. */
void figures_add(struct figures *figures, const struct prediction *prediction,
		 const struct published_list *published);
void figures_free(struct figures *figures);

void figures_sum_up(const struct figures *figures, struct figures_summary *summary);

/* One table of all, and one line that sums up. `width` as in lab/report.h. */
void figures_print(FILE *out, unsigned width, const struct figures *figures);

/* {"predictions", "factors":{count, median, worst}, "points":{count, median, worst}}; null where the count is
 * 0. */
json_t *figures_json(const struct figures *figures);

#endif
