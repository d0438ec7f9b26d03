/* SPDX-License-Identifier: MIT */
/*
 * Names for the memory that events touch: "vma.flags", "page[12].refcount", "vma_node#2.slot[3]". Objects of
 * one type are told apart by numbers, in the order in which they are named; the only one of its type has
 * none.
 */
#ifndef VSMP_EXPLORE_WORD_H
#define VSMP_EXPLORE_WORD_H

#include <stddef.h>

#include "vsmp/explore/record.h"

#define WORD_BYTES 160

/* Forgets all numbers. */
void word_begin(void);

/* Gives the object that the event touches its number: for all events that will be named, in their order,
 * before the first is. */
void word_number(const struct record_event *event);

/* Writes the name of what the event touches. */
void word_name(const struct record_event *event, char name[WORD_BYTES]);

/* Writes a value of the event: small numbers in decimal, others in hexadecimal, "&vma" for addresses. */
void word_value(const struct record_event *event, uint64_t value, char text[WORD_BYTES]);

#endif
