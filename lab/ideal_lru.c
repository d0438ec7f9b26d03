/* SPDX-License-Identifier: MIT */
#include "lab/ideal_lru.h"

#include <stdlib.h>

/* A list of the pages that are there, the one touched last first; number `pages` is its head. */
struct entry {
	uint32_t next, prev;
	bool present, dirty;
};

struct ideal_lru {
	uint32_t pages, room, present;
	struct entry entry[];
};

struct ideal_lru *ideal_lru_create(uint32_t pages, uint32_t room)
{
	struct ideal_lru *lru = calloc(1, sizeof(*lru) + ((size_t)pages + 1) * sizeof(struct entry));

	if (!lru)
		return NULL;
	lru->pages = pages;
	lru->room = room;
	lru->entry[pages].next = lru->entry[pages].prev = pages;
	return lru;
}

void ideal_lru_destroy(struct ideal_lru *lru)
{
	free(lru);
}

static void take_out(struct ideal_lru *lru, uint32_t page)
{
	struct entry *entry = &lru->entry[page];

	lru->entry[entry->prev].next = entry->next;
	lru->entry[entry->next].prev = entry->prev;
}

static void put_first(struct ideal_lru *lru, uint32_t page)
{
	struct entry *head = &lru->entry[lru->pages], *entry = &lru->entry[page];

	entry->next = head->next;
	entry->prev = lru->pages;
	lru->entry[head->next].prev = page;
	head->next = page;
}

/* The last one goes. Returns whether it has to be written. */
static bool evict(struct ideal_lru *lru)
{
	uint32_t page = lru->entry[lru->pages].prev;
	struct entry *entry = &lru->entry[page];
	bool dirty = entry->dirty;

	take_out(lru, page);
	entry->present = entry->dirty = false;
	lru->present--;
	return dirty;
}

bool ideal_lru_touch(struct ideal_lru *lru, uint32_t page, bool write, bool *written)
{
	struct entry *entry = &lru->entry[page];
	bool hit = entry->present;

	*written = false;
	if (hit)
		take_out(lru, page);
	else if (lru->present == lru->room)
		*written = evict(lru);
	put_first(lru, page);
	lru->present += !hit;
	entry->present = true;
	entry->dirty = entry->dirty || write;
	return hit;
}
