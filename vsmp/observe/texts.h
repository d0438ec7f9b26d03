/* SPDX-License-Identifier: MIT */
/*
 * Names, each kept once and known by a small number. They stay until the process ends: there are only as many
 * as the program has functions, types, fields and locks.
 */
#ifndef VSMP_OBSERVE_TEXTS_H
#define VSMP_OBSERVE_TEXTS_H

#include <stdint.h>

/* Writes the number of `text` (copied) to *id. Returns 0 or -ENOMEM. */
int texts_add(const char *text, uint32_t *id);

/* The text of a number that texts_add() gave. */
const char *texts_get(uint32_t id);

#endif
