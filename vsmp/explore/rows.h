/* SPDX-License-Identifier: MIT */
/*
 * What a report shows of the events of a schedule, in rows.
 *
 * An access is shown when it and one of another CPU depend on each other: a write and the next access of the
 * same word by another CPU, and an access and the next write by another. So one sees what each CPU last knew
 * of a word, and what the other made of it. Of words that are accessed seldom all accesses are shown, and of
 * calls those that wait, wake or order. What lies between is counted.
 */
#ifndef VSMP_EXPLORE_ROWS_H
#define VSMP_EXPLORE_ROWS_H

#include "vsmp/explore/record.h"

enum row_kind {
	ROW_EVENT,
	ROW_FUNCTION, /* a function that was entered since the last row of this CPU, or is returned to */
	ROW_LEFT_OUT,
	ROW_SWITCH,
	ROW_OTHER, /* the row above it is the failure's other side */
	ROW_READ,  /* the row above it wrote what the check read last of all that the CPUs wrote */
	ROW_FAILURE
};

struct row {
	enum row_kind kind;
	unsigned cpu;
	uint64_t step;
	const struct record_event *event; /* the first of those left out */
	size_t count;                     /* how many */
	const struct record_frame *frame; /* of a function; of those left out, where the last row was */
	bool entered;
	size_t segment; /* that ended, of a switch */
};

struct rows {
	struct row *row;
	size_t count, room;
};

/* Makes rows of the events in `record`; `other` may be NULL. Returns 0 or -ENOMEM. free(rows->row) after. */
int rows_make(struct rows *rows, const struct record_event *other);

/* Whether the failure was found after all CPUs had returned. */
bool rows_failed_after(void);

/* The failing access itself; NULL when it was none that failed. */
const struct record_event *rows_failing_access(void);

#endif
