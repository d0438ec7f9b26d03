/* SPDX-License-Identifier: MIT */
/*
 * A naive model of memory types: what each page has, in arrays, found by looking at every page. The oracle
 * for mm/memtype/.
 */
#ifndef MODEL_MEMTYPE_H
#define MODEL_MEMTYPE_H

#include <stdbool.h>
#include <stdint.h>

#include "mm/memtype/memtype.h"

#define MODEL_PAGES_MAX        512u
#define MODEL_RESERVATIONS_MAX 4096u

struct model_memtype {
	uint64_t ram_pages, pages; /* RAM first; nothing above `pages` is asked for */
	enum memtype ram_type[MODEL_PAGES_MAX];
	unsigned pins[MODEL_PAGES_MAX];
	/* Reservations that are not RAM, one entry each time. */
	struct {
		uint64_t first, end;
		enum memtype type;
	} reservation[MODEL_RESERVATIONS_MAX];
	unsigned reservations;
};

void model_memtype_init(struct model_memtype *model, uint64_t ram_pages, uint64_t pages);

/* As memtype_reserve(), memtype_free(), memtype_lookup(), memtype_pin(), memtype_unpin(). */
int model_memtype_reserve(struct model_memtype *model, uint64_t start, uint64_t end, enum memtype requested,
			  enum memtype *granted);
int model_memtype_free(struct model_memtype *model, uint64_t start, uint64_t end);
enum memtype model_memtype_lookup(const struct model_memtype *model, uint64_t physical);
void model_memtype_pin(struct model_memtype *model, uint64_t start, uint64_t end, int by);

#endif
