/* SPDX-License-Identifier: MIT */
/*
 * Where CPUs sit, as a person writes it: "fill", "spread:4".
 */
#ifndef LAB_PLACEMENT_H
#define LAB_PLACEMENT_H

#include "engine/engine.h"

/* Reads a placement and, after a colon, the most CPUs of a socket. Returns 0, or -EINVAL with a message. */
int placement_parse(struct vsmp_placement *placement, const char *text, struct message *why);

/* Returns "fill", "spread" or "compact". */
const char *placement_name(enum vsmp_placement_kind kind);

#endif
