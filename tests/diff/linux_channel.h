/* SPDX-License-Identifier: MIT */
/* What the test and the processes of the Linux side share: see linux.h. */
#ifndef TESTS_DIFF_LINUX_CHANNEL_H
#define TESTS_DIFF_LINUX_CHANNEL_H

#include <stdatomic.h>
#include <sys/types.h>

#include "tests/diff/operation.h"

/* A word that one waits for to be other than zero; who sees it takes it (makes it zero). */
struct linux_turn {
	_Atomic uint32_t word;
};

enum linux_request {
	LINUX_START = 1, /* to the first process: fork the process of space 0 */
	LINUX_QUIT,
};

enum linux_event {
	LINUX_READY = 1, /* the address space is filled, or why it is not is in `reason` */
	LINUX_DONE,      /* the sequence is at its end */
	LINUX_EXITING,   /* the process of space `exiting` ends; when it is gone, go on with `next` */
};

/* To the process of a space: the operation to go on with, plus one. */
#define LINUX_TURN_QUIT UINT32_MAX

struct linux_channel {
	struct linux_turn first; /* enum linux_request, to the first process */
	struct linux_turn test;  /* enum linux_event, to the test */
	struct linux_turn turn[DIFF_SPACES];
	_Atomic bool alive[DIFF_SPACES];
	_Atomic pid_t pid[DIFF_SPACES];
	uint32_t exiting, next;
	char reason[200]; /* empty: all is well */
	struct diff_terms terms;
	unsigned ranges_left;
	uint64_t other_pages; /* pages that a process has mapped outside of the window */
	struct diff_sequence sequence;
	struct diff_record record;
};

void linux_turn_give(struct linux_turn *turn, uint32_t value);
/* Returns 0 after a second without. */
uint32_t linux_turn_wait(struct linux_turn *turn);

/* linux_fill.c: fills the address space and gives the rights up. Returns false with `reason` filled. */
bool linux_fill(struct linux_channel *channel);
void linux_complain(struct linux_channel *channel, const char *what, int error);

/* Reads all of a small file of /proc; returns the bytes, or 0. */
size_t linux_read_file(int file, char *buffer, size_t size);
/* Reads the next line of /proc/PID/maps; returns where the line after it is, or NULL. */
struct linux_mapping {
	uint64_t start, end;
	int protection;
	bool shared;
	uint64_t offset;
};
const char *linux_next_mapping(const char *text, struct linux_mapping *mapping);

/*
 * linux_objects.c: the objects, which all processes have open. The first process opens them, before its
 * address space is filled: returns false with `reason` filled. Each sequence begins with a reset.
 */
bool linux_objects_open(struct linux_channel *channel);
void linux_objects_reset(struct linux_channel *channel);
int linux_object_file(unsigned object);
/* Carries out a DIFF_OBJECT_ operation, or DIFF_LOOK_OBJECT. */
void linux_object_run(const struct diff_operation *operation, struct diff_result *result);

/* linux_process.c: what the process of a space does until it ends. */
void linux_process(struct linux_channel *channel, unsigned space) __attribute__((noreturn));

#endif
