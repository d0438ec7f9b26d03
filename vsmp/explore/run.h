/* SPDX-License-Identifier: MIT */
/*
 * What vsmp.c asks of exploration.
 */
#ifndef VSMP_EXPLORE_RUN_H
#define VSMP_EXPLORE_RUN_H

#include "vsmp/explore/internal.h"

/* The tables of a machine that explores. Returns 0, or -ENOMEM with a message. */
int explore_parts_open(struct message *why);
void explore_parts_close(void);

/* The bodies are about to run; they have returned, or failed. */
void explore_begin(void);
void explore_end(void);

/* A function is about to run on CPU 0 alone; it has returned, or failed. */
void explore_begin_alone(void);
void explore_end_alone(void);

/* True when what ran last has failed; `why` then says how. */
bool explore_has_failed(struct message *why);

#endif
