/* SPDX-License-Identifier: MIT */
/*
 * How a run's result comes from the process that ran it to ours: the same functions write it there and read
 * it here, in the same order, so that the two cannot differ. Both ends are the same program.
 */
#ifndef LAB_WIRE_H
#define LAB_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

struct wire {
	bool reading;
	bool failed; /* out of memory, or read past the end; what was read since is zero */
	char *data;
	size_t bytes; /* in data */
	size_t at;    /* when reading, what has been read */
	size_t room;
};

/* Writes or reads `bytes` bytes. */
void wire_bytes(struct wire *wire, void *value, size_t bytes);

/* A string, or NULL. One that was read is the caller's to free. */
void wire_string(struct wire *wire, char **text);

/* Reports, but for what a run collects only for itself. One that was read is freed by wire_report_free(). */
void wire_report(struct wire *wire, struct vsmp_report *report);
void wire_report_free(struct vsmp_report *report);

#endif
