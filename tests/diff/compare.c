/* SPDX-License-Identifier: MIT */
#include "tests/diff/compare.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/diff/model_side.h"

/* All spaces' bytes are compared after so many operations, and at the end. */
#define BYTES_EVERY 64u

static const char *const side_names[DIFF_SIDES] = {"model", "Linux", "library"};

static struct diff_sequence sequence, reduced, trial;
static struct diff_record model_record, library_record;

struct difference {
	bool found;
	enum diff_side other; /* than the model */
	unsigned at;
	const struct diff_record *record[DIFF_SIDES];
	const char *broken; /* an invariant of the library */
};

static const char *const outcome_names[DIFF_OUTCOMES] = {
    "done",   "EPERM",  "ENOMEM",      "EFAULT", "EEXIST", "EINVAL", "EAGAIN",   "MAPERR",
    "ACCERR", "ADRERR", "not swapped", "EACCES", "EBUSY",  "EFBIG",  "EOVERFLOW"};

const char *diff_outcome_name(unsigned outcome)
{
	return outcome_names[outcome];
}

static unsigned outcome_of(const struct diff_operation *operation, const struct diff_result *result)
{
	if (result->signal == SIGBUS)
		return 9;
	if (result->signal == SIGSEGV)
		return result->code == SEGV_MAPERR ? 7 : 8;
	switch (result->error) {
	case -EPERM:
		return 1;
	case -ENOMEM:
		return 2;
	case -EFAULT:
		return 3;
	case -EEXIST:
		return 4;
	case -EINVAL:
		return 5;
	case -EAGAIN:
		return 6;
	case -EACCES:
		return 11;
	case -EBUSY:
		return 12;
	case -EFBIG:
		return 13;
	case -EOVERFLOW:
		return 14;
	case 0:
		return operation->kind == DIFF_SWAP ? 10 : 0;
	default:
		return 0;
	}
}

static void count_outcomes(struct diff_counts *counts)
{
	for (unsigned i = 0; i < sequence.count; i++) {
		const struct diff_operation *operation = &sequence.operation[i];

		if (operation->kind >= DIFF_KINDS || model_record.result[i].error == DIFF_PASSED_OVER)
			continue;
		counts->total++;
		counts->outcome[operation->kind][outcome_of(operation, &model_record.result[i])]++;
	}
}

static void append(struct diff_sequence *to, const struct diff_operation *operation)
{
	to->operation[to->count++] = *operation;
}

static void append_look(struct diff_sequence *to, unsigned kind, unsigned space)
{
	struct diff_operation look = {
	    .kind = (uint8_t)kind, .space = (uint8_t)space, .check = DIFF_CHECK_BYTES};

	append(to, &look);
}

/* Whoever is alive looks. */
static void append_look_objects(struct diff_sequence *to, unsigned space)
{
	struct diff_operation look = {.kind = DIFF_LOOK_OBJECT, .space = (uint8_t)space};

	for (; look.object < DIFF_OBJECTS; look.object++)
		append(to, &look);
}

static void generate(struct diff_bench *bench, uint64_t seed, unsigned index, unsigned operations)
{
	struct random random;
	struct model_side model;
	unsigned current = 0;

	random_seed(&random, seed * 0x100000001b3ull + index);
	random_next(&random);
	model_side_open(&model, &bench->terms);
	model.paged_out = bench->pressure;
	sequence.count = 0;
	for (unsigned i = 0; i < operations; i++) {
		struct diff_operation operation;
		struct diff_result result;

		diff_generate(&random, &bench->terms, model.spaces, model.objects, current, &operation);
		current = operation.space;
		if (bench->pressure && operation.kind == DIFF_FREE)
			operation.kind = DIFF_COLD;
		operation.check = operation.kind == DIFF_EXIT ? DIFF_CHECK_NONE : DIFF_CHECK_LAYOUT;
		model_side_run(&model, &operation, &result, &model_record.look[0]);
		append(&sequence, &operation);
		if (operation.kind == DIFF_FORK)
			append_look(&sequence, DIFF_LOOK, operation.target);
		for (unsigned space = 0; i % BYTES_EVERY == 0 && space < DIFF_SPACES; space++) {
			if (model.spaces[space])
				append_look(&sequence, DIFF_LOOK, space);
		}
	}
	for (unsigned space = 0; space < DIFF_SPACES; space++) {
		append_look_objects(&sequence, space);
		append_look(&sequence, DIFF_OPEN, space);
	}
	model_side_close(&model);
}

/* Returns whether the sequence is one to compare. */
static bool run_model(const struct diff_bench *bench, const struct diff_sequence *what)
{
	struct model_side model;
	bool mistake = false;

	model_side_open(&model, &bench->terms);
	model.paged_out = bench->pressure;
	for (unsigned i = 0; i < what->count; i++) {
		const struct model_space *space = model.spaces[what->operation[i].space];

		mistake |= space && (diff_meets_mistake(space, &what->operation[i]) ||
				     diff_writes_behind_file(space, &what->operation[i]));
		model_side_run(&model, &what->operation[i], &model_record.result[i], &model_record.look[i]);
	}
	model_side_close(&model);
	return !mistake;
}

static bool equal(const struct diff_operation *operation, const struct diff_record *a,
		  const struct diff_record *b, unsigned i)
{
	struct diff_result one = a->result[i], other = b->result[i];

	/* `a` is the model's. */
	one.value &= ~one.ignored;
	other.value &= ~one.ignored;
	other.ignored = one.ignored;
	if (memcmp(&one, &other, sizeof(one)))
		return false;
	if (!operation->check || a->result[i].error == DIFF_PASSED_OVER)
		return true;
	return !memcmp(&a->look[i], &b->look[i], sizeof(a->look[i]));
}

/* Runs a sequence on every side, and finds the first difference. Returns 0, or -EIO when Linux broke. */
static int run_all(struct diff_bench *bench, const struct diff_sequence *what, struct difference *difference)
{
	const char *reason = NULL;
	bool comparable;

	*difference = (struct difference){.record[DIFF_SIDE_MODEL] = &model_record};
	if (bench->linux)
		linux_start(bench->linux, what);
	comparable = run_model(bench, what);
	if (bench->library) {
		difference->record[DIFF_SIDE_LIBRARY] = &library_record;
		difference->broken =
		    library_run(bench->library, what, bench->failures, bench->pressure, &library_record);
	}
	if (bench->linux) {
		difference->record[DIFF_SIDE_LINUX] = linux_finish(bench->linux, &reason);
		if (!difference->record[DIFF_SIDE_LINUX]) {
			printf("%s\n", reason);
			return -EIO;
		}
	}
	for (unsigned i = 0; comparable && i < what->count && !difference->found; i++) {
		for (enum diff_side side = DIFF_SIDE_LINUX; side < DIFF_SIDES && !difference->found; side++) {
			if (!difference->record[side] ||
			    equal(&what->operation[i], &model_record, difference->record[side], i))
				continue;
			difference->found = true;
			difference->other = side;
			difference->at = i;
		}
	}
	if (comparable && !difference->found && difference->broken) {
		difference->found = true;
		difference->other = DIFF_SIDE_LIBRARY;
		difference->at = what->count - 1;
	}
	return 0;
}

static void print_look(const char *name, const struct diff_look *look)
{
	uint64_t at = 0;

	printf("    %-8s", name);
	for (; at < DIFF_PAGES; at++) {
		uint64_t state = look->page[at].state;

		if (state & DIFF_STARTS)
			printf(" p%llu:%c%c%c%c ", (unsigned long long)at, state & SF_PROT_READ ? 'r' : '-',
			       state & SF_PROT_WRITE ? 'w' : '-', state & SF_PROT_EXEC ? 'x' : '-',
			       state & DIFF_SHARED ? 's' : 'p');
		else if (!(state & DIFF_MAPPED) && at && (look->page[at - 1].state & DIFF_MAPPED))
			printf(" ");
		if (state & DIFF_MAPPED)
			printf("%c", state & DIFF_RESIDENT ? '*' : '.');
	}
	printf("\n");
}

static void print_difference(const struct diff_sequence *what, const struct difference *difference)
{
	const struct diff_operation *last = &what->operation[difference->at];
	char text[300];

	for (unsigned i = 0; i <= difference->at; i++) {
		diff_print_operation(&what->operation[i], text, sizeof(text));
		printf("  %3u. %s", i, text);
		diff_print_result(&what->operation[i], &model_record.result[i], text, sizeof(text));
		printf("  = %s\n", text);
	}
	for (enum diff_side side = DIFF_SIDE_MODEL; side < DIFF_SIDES; side++) {
		const struct diff_record *record = difference->record[side];

		if (!record)
			continue;
		diff_print_result(last, &record->result[difference->at], text, sizeof(text));
		printf("    %-8s %s\n", side_names[side], text);
	}
	for (enum diff_side side = DIFF_SIDE_MODEL; last->check && side < DIFF_SIDES; side++) {
		if (difference->record[side])
			print_look(side_names[side], &difference->record[side]->look[difference->at]);
	}
	for (unsigned i = 0; last->check && i < DIFF_PAGES; i++) {
		const struct diff_page *a = &model_record.look[difference->at].page[i];
		const struct diff_page *b =
		    &difference->record[difference->other]->look[difference->at].page[i];

		if (a->bytes != b->bytes) {
			printf("    page p%u has other bytes\n", i);
			break;
		}
	}
	if (difference->broken)
		printf("    the library's invariants: %s\n", difference->broken);
}

/* Leaves [from, from + count) out. */
static void leave_out(const struct diff_sequence *what, unsigned from, unsigned count)
{
	trial.count = 0;
	for (unsigned i = 0; i < what->count; i++) {
		if (i < from || i >= from + count)
			append(&trial, &what->operation[i]);
	}
}

/* Drops ever smaller parts, as long as the same side still differs. */
static void reduce(struct diff_bench *bench, struct difference *difference)
{
	enum diff_side other = difference->other;

	reduced.count = 0;
	for (unsigned i = 0; i <= difference->at; i++) {
		append(&reduced, &sequence.operation[i]);
		if (reduced.operation[i].check)
			reduced.operation[i].check = DIFF_CHECK_BYTES;
	}
	for (unsigned part = reduced.count / 2; part; part = part == 1 ? 0 : (part + 1) / 2) {
		for (unsigned from = 0; from < reduced.count;) {
			leave_out(&reduced, from, part);
			if (trial.count && !run_all(bench, &trial, difference) && difference->found &&
			    difference->other == other) {
				trial.count = difference->at + 1;
				reduced = trial;
			} else {
				from += part;
			}
		}
	}
	run_all(bench, &reduced, difference);
}

int diff_sequence_run(struct diff_bench *bench, uint64_t seed, unsigned index, unsigned operations,
		      enum diff_side *differs)
{
	struct difference difference;
	int error;

	generate(bench, seed, index, operations);
	error = run_all(bench, &sequence, &difference);
	if (error) {
		printf("seed %llu, sequence %u\n", (unsigned long long)seed, index);
		return error;
	}
	if (!difference.found) {
		count_outcomes(&bench->counts);
		return 0;
	}
	*differs = difference.other;
	printf("seed %llu, sequence %u: the %s differs from the model at operation %u:\n",
	       (unsigned long long)seed, index, side_names[difference.other], difference.at);
	reduce(bench, &difference);
	if (difference.found)
		print_difference(&reduced, &difference);
	else
		printf("  and then it does not\n");
	return 1;
}
