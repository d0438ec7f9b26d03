/* SPDX-License-Identifier: MIT */
/*
 * A circular doubly linked list. The links stand inside the members; the list's head is a link of its own.
 * Nothing here is atomic: whoever changes a list keeps all others away.
 */
#ifndef BASE_LIST_H
#define BASE_LIST_H

#include <stdbool.h>

#include "base/compiler.h"

struct list {
	struct list *next, *prev;
};

/* Makes an empty list of `head`. */
static inline void list_init(struct list *head)
{
	head->next = head;
	head->prev = head;
}

static inline bool list_empty(const struct list *head)
{
	return head->next == head;
}

/* Adds `link`, which is in no list, behind `at`: a head, or a member. */
static inline void list_add(struct list *at, struct list *link)
{
	link->next = at->next;
	link->prev = at;
	at->next->prev = link;
	at->next = link;
}

/* Moves all members of `from`, which is a head and has some, behind `at`, in their order; empties `from`. */
static inline void list_splice(struct list *at, struct list *from)
{
	struct list *first = from->next, *last = from->prev;

	last->next = at->next;
	at->next->prev = last;
	first->prev = at;
	at->next = first;
	list_init(from);
}

/* Takes `link` out of its list. */
static inline void list_remove(struct list *link)
{
	link->prev->next = link->next;
	link->next->prev = link->prev;
}

#endif
