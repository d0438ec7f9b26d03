/* SPDX-License-Identifier: MIT */
#include "tests/diff/library_side.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/memory.h"
#include "mm/system/system.h"
#include "tests/diff/library_objects.h"

/* Several times what all spaces together can hold. */
#define RAM_BYTES ((uint64_t)16 << 20)

/* What lies around the window, as in the processes of the Linux side: see fence(). */
#define FILLER_RANGES 4u

struct library_side {
	struct diff_terms terms;
	struct sf_system *system;
	struct sf_group *group; /* of all spaces */
	struct sf_space *spaces[DIFF_SPACES];
	struct library_objects objects;
	const char *broken;
	struct random random; /* what fails next */
};

static volatile unsigned current;
static uint64_t mended, swap_written, swap_read;

unsigned library_current(void)
{
	return current;
}

static uint64_t filler_pages(const struct library_side *side)
{
	return (MODEL_ADDRESS_END - side->terms.minimum_address) / MODEL_PAGE - DIFF_PAGES;
}

static void set_limits(const struct library_side *side, struct sf_space *space, unsigned limit,
		       uint64_t value)
{
	if (value != UINT64_MAX && limit == SF_LIMIT_ADDRESS_SPACE)
		value += filler_pages(side) * MODEL_PAGE;
	if (value != UINT64_MAX && limit == SF_LIMIT_MAP_COUNT)
		value += FILLER_RANGES;
	sf_set_limit(space, limit, value);
}

struct library_side *library_open(const struct diff_terms *terms, const char *policy, unsigned swap,
				  const char **reason)
{
	static struct library_side side;
	struct sf_options options = {.memory_bytes = RAM_BYTES,
				     .cpus = 1,
				     .policy = policy,
				     .map_base = DIFF_END,
				     .map_min = terms->minimum_address};

	memset(&side, 0, sizeof(side));
	side.terms = *terms;
	if (sf_system_create(&options, &side.system, reason))
		return NULL;
	if (sf_thread_enter(side.system)) {
		*reason = "sf_thread_enter() finds no slot";
		sf_system_destroy(side.system);
		return NULL;
	}
	if (sf_group_create(sf_group_root(side.system), &side.group) ||
	    !library_objects_open(&side.objects) ||
	    library_objects_add_swap(&side.objects, side.system, swap)) {
		*reason = "no group, no memfd for the library's files, or no swap";
		library_close(&side);
		return NULL;
	}
	return &side;
}

void library_swapped(uint64_t *written, uint64_t *read)
{
	*written = swap_written;
	*read = swap_read;
}

void library_close(struct library_side *side)
{
	struct sf_swap_statistics swap;

	sf_swap_statistics(side->system, &swap);
	swap_written += swap.written;
	swap_read += swap.read;
	library_objects_close(&side->objects);
	if (side->group)
		sf_group_destroy(side->group);
	sf_thread_exit(side->system);
	sf_system_destroy(side->system);
}

/* Maps all that is outside of the window; next to it, a page that merges with nothing. */
static bool fence(struct library_side *side, struct sf_space *space)
{
	const int flags = SF_MAP_ANONYMOUS | SF_MAP_NORESERVE | SF_MAP_FIXED_NOREPLACE;
	uint64_t low = side->terms.minimum_address, mapped;

	return !sf_map(space, low, DIFF_START - MODEL_PAGE - low, SF_PROT_NONE, flags | SF_MAP_PRIVATE,
		       &mapped) &&
	       !sf_map(space, DIFF_START - MODEL_PAGE, MODEL_PAGE, SF_PROT_NONE, flags | SF_MAP_SHARED,
		       &mapped) &&
	       !sf_map(space, DIFF_END, MODEL_PAGE, SF_PROT_NONE, flags | SF_MAP_SHARED, &mapped) &&
	       !sf_map(space, DIFF_END + MODEL_PAGE, MODEL_ADDRESS_END - DIFF_END - MODEL_PAGE, SF_PROT_NONE,
		       flags | SF_MAP_PRIVATE, &mapped);
}

static void note_refusal(struct diff_result *result, const struct sf_signal *signal)
{
	result->error = signal->signal ? -EFAULT : -ENOMEM;
	result->signal = signal->signal;
	result->code = signal->code;
	result->fault = signal->address;
}

static void run_copy(struct sf_space *space, const struct diff_operation *operation,
		     struct diff_result *result)
{
	static unsigned char bytes[DIFF_BYTES_MAX];
	struct sf_signal signal = {0};
	size_t copied;

	if (operation->kind == DIFF_WRITE) {
		diff_fill(operation, bytes);
		copied = sf_write(space, operation->address, bytes, operation->length, &signal);
		result->value = copied;
	} else {
		copied = sf_read(space, operation->address, bytes, operation->length, &signal);
		result->value = diff_digest(bytes, copied);
	}
	if (copied < operation->length)
		note_refusal(result, &signal);
}

static void run_swap(struct sf_space *space, const struct diff_operation *operation,
		     struct diff_result *result)
{
	struct sf_signal signal = {0};
	uint64_t expected = operation->expected;

	result->error = sf_compare_swap_64(space, operation->address, &expected, operation->value, &signal);
	if (result->error < 0)
		note_refusal(result, &signal);
	else
		result->value = expected;
}

static int run_exit(struct library_side *side, unsigned space)
{
	unsigned alive = 0;

	for (unsigned i = 0; i < DIFF_SPACES; i++)
		alive += side->spaces[i] != NULL;
	if (alive == 1)
		return DIFF_PASSED_OVER;
	sf_space_destroy(side->spaces[space]);
	side->spaces[space] = NULL;
	return 0;
}

static void run_open(struct sf_space *space)
{
	for (uint64_t at = DIFF_START; at < DIFF_END; at += MODEL_PAGE)
		sf_protect(space, at, MODEL_PAGE, SF_PROT_READ);
}

static void run_mincore(struct sf_space *space, const struct diff_operation *operation,
			struct diff_result *result)
{
	unsigned char resident[DIFF_PAGES] = {0};

	result->error = sf_mincore(space, operation->address, operation->length, resident);
	for (unsigned i = 0; i < DIFF_PAGES && !result->error; i++)
		result->value |= (uint64_t)(resident[i] & 1) << i;
}

static void run(struct library_side *side, const struct diff_operation *operation, struct diff_result *result)
{
	static const int advice[DIFF_KINDS] = {
	    [DIFF_NORMAL] = SF_ADVICE_NORMAL,
	    [DIFF_WILLNEED] = SF_ADVICE_WILLNEED,
	    [DIFF_DONTNEED] = SF_ADVICE_DONTNEED,
	    [DIFF_FREE] = SF_ADVICE_FREE,
	    [DIFF_REMOVE] = SF_ADVICE_REMOVE,
	    [DIFF_COLD] = SF_ADVICE_COLD,
	    [DIFF_PAGEOUT] = SF_ADVICE_PAGEOUT,
	    [DIFF_HUGEPAGE] = SF_ADVICE_HUGEPAGE,
	    [DIFF_NOHUGEPAGE] = SF_ADVICE_NOHUGEPAGE,
	    [DIFF_POPULATE_READ] = SF_ADVICE_POPULATE_READ,
	    [DIFF_POPULATE_WRITE] = SF_ADVICE_POPULATE_WRITE,
	};
	struct sf_space *space = side->spaces[operation->space];
	uint64_t address = operation->address, length = operation->length;

	switch (operation->kind) {
	case DIFF_MAP:
	case DIFF_MAP_HINT:
	case DIFF_MAP_FIXED:
	case DIFF_MAP_NOREPLACE:
		result->error =
		    sf_map(space, address, length, operation->protection, operation->flags, &result->value);
		break;
	case DIFF_MAP_OBJECT:
		result->error =
		    sf_map_object(space, address, length, operation->protection, operation->flags,
				  side->objects.object[operation->object], operation->offset, &result->value);
		break;
	case DIFF_UNMAP:
		result->error = sf_unmap(space, address, length);
		break;
	case DIFF_PROTECT:
		result->error = sf_protect(space, address, length, operation->protection);
		break;
	case DIFF_REMAP:
	case DIFF_REMAP_MAYMOVE:
	case DIFF_REMAP_FIXED:
	case DIFF_REMAP_DONTUNMAP:
		result->error = sf_remap(space, address, length, operation->new_length, operation->flags,
					 operation->new_address, &result->value);
		break;
	case DIFF_LOCK:
		result->error = sf_lock(space, address, length);
		break;
	case DIFF_UNLOCK:
		result->error = sf_unlock(space, address, length);
		break;
	case DIFF_MINCORE:
		run_mincore(space, operation, result);
		break;
	case DIFF_SYNC:
		result->error = sf_sync(space, address, length, operation->flags);
		break;
	case DIFF_OBJECT_RESIZE:
	case DIFF_OBJECT_PUNCH:
	case DIFF_OBJECT_READ:
	case DIFF_OBJECT_WRITE:
	case DIFF_OBJECT_SYNC:
	case DIFF_LOOK_OBJECT:
		library_object_run(&side->objects, operation, result);
		break;
	case DIFF_LIMIT:
		set_limits(side, space, operation->target, operation->value);
		break;
	case DIFF_FORK:
		result->error = side->spaces[operation->target]
				    ? DIFF_PASSED_OVER
				    : sf_space_fork(space, &side->spaces[operation->target]);
		break;
	case DIFF_EXIT:
		result->error = run_exit(side, operation->space);
		break;
	case DIFF_READ:
	case DIFF_WRITE:
		run_copy(space, operation, result);
		break;
	case DIFF_SWAP:
		run_swap(space, operation, result);
		break;
	case DIFF_OPEN:
		run_open(space);
		break;
	case DIFF_LOOK:
		break;
	default:
		result->error = sf_advise(space, address, length, advice[operation->kind]);
		break;
	}
	if (result->error)
		result->value = operation->kind >= DIFF_READ ? result->value : 0;
}

static void look(struct library_side *side, struct sf_space *space, bool with_bytes, struct diff_look *look)
{
	struct sf_mapping mapping;

	memset(look, 0, sizeof(*look));
	for (uint64_t from = DIFF_START; !sf_next_mapping(space, from, &mapping); from = mapping.end) {
		if (mapping.start >= DIFF_END)
			break;
		for (uint64_t at = mapping.start; at < mapping.end; at += MODEL_PAGE) {
			struct diff_page *page = &look->page[(at - DIFF_START) / MODEL_PAGE];
			unsigned char resident = 0, bytes[MODEL_PAGE];

			if (sf_mincore(space, at, MODEL_PAGE, &resident))
				side->broken = "mincore of a mapped page fails";
			page->state =
			    DIFF_MAPPED | (uint64_t)mapping.protection | (mapping.shared ? DIFF_SHARED : 0) |
			    (at == mapping.start ? DIFF_STARTS : 0) | diff_offset_state(mapping.offset);
			if (!diff_is_file(page->state))
				page->state |=
				    (resident & 1) || system_in_swap(space, at) ? DIFF_RESIDENT : 0;
			if (!with_bytes || !mapping.protection ||
			    !((page->state & DIFF_RESIDENT) || diff_is_file(page->state)))
				continue;
			if (sf_read(space, at, bytes, sizeof(bytes), NULL) == sizeof(bytes))
				page->bytes = diff_digest(bytes, sizeof(bytes));
			else if (page->state & DIFF_RESIDENT)
				side->broken = "a resident page cannot be read";
		}
	}
}

static void check(struct library_side *side)
{
	const char *reason = NULL;

	if (sf_system_check(side->system, &reason) && !side->broken)
		side->broken = reason;
}

/*
 * Makes allocations and transfers fail during a first try. What has failed is tried again: then everything
 * must be as if it had never failed. A fixed remap of several ranges may have moved some already.
 */
static void run_with_failures(struct library_side *side, const struct diff_operation *operation,
			      struct diff_result *result)
{
	bool copies = operation->kind == DIFF_OBJECT_READ || operation->kind == DIFF_OBJECT_WRITE, failed;

	if (operation->kind == DIFF_REMAP_FIXED || operation->kind >= DIFF_KINDS) {
		run(side, operation, result);
		return;
	}
	host_memory_fail_after(random_below(&side->random, 4));
	/* What maps, remaps or protects may populate, which passes over what cannot be read. */
	if (operation->kind > DIFF_REMAP_DONTUNMAP)
		side->objects.good = random_below(&side->random, 3);
	run(side, operation, result);
	failed = result->error < 0;
	host_memory_fail_never();
	side->objects.good = LIBRARY_OBJECTS_GOOD;
	/* A copy may be short. */
	if (!failed && !copies)
		return;
	check(side);
	memset(result, 0, sizeof(*result));
	run(side, operation, result);
	mended += failed && result->error >= 0;
}

/* Pages some of one space out, wherever it lets that be done; or lets a group do with less for a moment. */
static void press(struct library_side *side)
{
	struct sf_space *space = side->spaces[random_below(&side->random, DIFF_SPACES)];
	uint64_t from = random_below(&side->random, DIFF_PAGES), to = random_below(&side->random, DIFF_PAGES);
	struct sf_group_statistics statistics;

	if (space && random_below(&side->random, 2)) {
		for (uint64_t page = from; page <= to; page++)
			sf_advise(space, DIFF_START + page * MODEL_PAGE, MODEL_PAGE, SF_ADVICE_PAGEOUT);
		return;
	}
	sf_group_statistics(side->group, &statistics);
	sf_group_set_limit(side->group, statistics.usage * (1 + random_below(&side->random, 8)) / 8);
	sf_group_set_limit(side->group, SF_GROUP_UNLIMITED);
}

uint64_t library_mended(void)
{
	return mended;
}

const char *library_run(struct library_side *side, const struct diff_sequence *sequence, uint64_t failures,
			uint64_t pressure, struct diff_record *record)
{
	const char *lost;

	side->broken = NULL;
	random_seed(&side->random, failures + pressure);
	current = 0;
	memset(record->result, 0, sequence->count * sizeof(record->result[0]));
	if (sf_space_create_in(side->group, &side->spaces[0]))
		return "no first space";
	if (library_objects_make(&side->objects, side->system))
		return "the objects cannot be made";
	if (!fence(side, side->spaces[0]))
		side->broken = "cannot map what lies around the window";
	set_limits(side, side->spaces[0], SF_LIMIT_ADDRESS_SPACE, UINT64_MAX);
	set_limits(side, side->spaces[0], SF_LIMIT_LOCKED, side->terms.locked_max);
	set_limits(side, side->spaces[0], SF_LIMIT_MAP_COUNT, side->terms.ranges_max);
	for (unsigned i = 0; i < sequence->count; i++) {
		const struct diff_operation *operation = &sequence->operation[i];

		current = i;
		if (side->spaces[operation->space] && failures)
			run_with_failures(side, operation, &record->result[i]);
		else if (side->spaces[operation->space])
			run(side, operation, &record->result[i]);
		else
			record->result[i].error = DIFF_PASSED_OVER;
		if (pressure)
			press(side);
		if (operation->check && side->spaces[operation->space])
			look(side, side->spaces[operation->space], operation->check == DIFF_CHECK_BYTES,
			     &record->look[i]);
	}
	check(side);
	for (unsigned i = 0; i < DIFF_SPACES; i++) {
		if (side->spaces[i])
			sf_space_destroy(side->spaces[i]);
		side->spaces[i] = NULL;
	}
	lost = library_objects_drop(&side->objects, failures);
	if (lost && !side->broken)
		side->broken = lost;
	check(side);
	if (!library_objects_gone(&side->objects) && !side->broken)
		side->broken = "a file's backing has not been released";
	return side->broken;
}
