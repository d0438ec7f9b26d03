/* SPDX-License-Identifier: MIT */
/*
 * A naive model of one address space with PFN mappings: what each page of a small window is. The oracle for
 * mm/system/, mm/object/pfn.c and mm/table/.
 */
#ifndef MODEL_PFN_SPACE_H
#define MODEL_PFN_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/memtype.h"

#define MODEL_WINDOW_PAGES 2048u

struct model_pfn_space {
	struct model_memtype *memtype;
	uintptr_t base;      /* of the window */
	uint64_t own_frames; /* PFNs below cannot be mapped */
	struct model_pfn_page {
		bool mapped, writable, present, dirty;
		uint64_t pfn;
	} page[MODEL_WINDOW_PAGES];
};

void model_pfn_space_init(struct model_pfn_space *model, struct model_memtype *memtype, uintptr_t base,
			  uint64_t own_frames);

/* As the entry points of mm/system/system.h; ranges that are not bad lie in the window. */
int model_map_pfn(struct model_pfn_space *model, uintptr_t address, size_t length, uint64_t pfn,
		  bool writable);
int model_unmap(struct model_pfn_space *model, uintptr_t address, size_t length);
int model_touch(struct model_pfn_space *model, uintptr_t address, bool write);

/* The entry that the page table must have for `address`, 0 if none. */
uint64_t model_pte(const struct model_pfn_space *model, uintptr_t address);

#endif
