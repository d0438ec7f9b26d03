/* SPDX-License-Identifier: MIT */
#include "tests/diff/operation.h"

/* Of a thousand operations. */
static const unsigned weight[DIFF_KINDS] = {
    [DIFF_MAP] = 38,           [DIFF_MAP_HINT] = 34,
    [DIFF_MAP_FIXED] = 85,     [DIFF_MAP_NOREPLACE] = 33,
    [DIFF_UNMAP] = 36,         [DIFF_PROTECT] = 50,
    [DIFF_REMAP] = 34,         [DIFF_REMAP_MAYMOVE] = 34,
    [DIFF_REMAP_FIXED] = 36,   [DIFF_REMAP_DONTUNMAP] = 36,
    [DIFF_NORMAL] = 33,        [DIFF_WILLNEED] = 33,
    [DIFF_DONTNEED] = 33,      [DIFF_FREE] = 33,
    [DIFF_HUGEPAGE] = 33,      [DIFF_NOHUGEPAGE] = 33,
    [DIFF_POPULATE_READ] = 33, [DIFF_POPULATE_WRITE] = 33,
    [DIFF_LOCK] = 36,          [DIFF_UNLOCK] = 33,
    [DIFF_MINCORE] = 33,       [DIFF_LIMIT] = 33,
    [DIFF_FORK] = 36,          [DIFF_EXIT] = 36,
    [DIFF_READ] = 35,          [DIFF_WRITE] = 44,
    [DIFF_SWAP] = 34,
};

static const uint8_t some_pages[] = {1, 1, 1, 2, 2, 3, 4, 5, 8, 13, 21, 34};

#define HUGE ((uint64_t)1 << 60) /* beyond the end of every space, also of larger ones */

static bool one_in(struct random *random, unsigned many)
{
	return random_below(random, many) == 0;
}

static uint64_t below(struct random *random, uint64_t bound)
{
	return random_below(random, bound);
}

/* A range of pages in the window: half of them one that is mapped, or a part of it. */
static void pick_range(struct random *random, const struct model_space *space,
		       struct diff_operation *operation)
{
	uint64_t start = below(random, DIFF_PAGES);
	uint64_t pages = some_pages[below(random, sizeof(some_pages))];

	if (space->count && one_in(random, 2)) {
		const struct model_range *range = &space->range[below(random, space->count)];
		uint64_t size = (range->end - range->start) / MODEL_PAGE, skip = 0;

		if (one_in(random, 2))
			skip = below(random, size);
		start = (range->start - DIFF_START) / MODEL_PAGE + skip;
		if (one_in(random, 2))
			pages = size - skip;
	}
	if (pages > DIFF_PAGES - start)
		pages = DIFF_PAGES - start;
	operation->address = DIFF_START + start * MODEL_PAGE;
	operation->length = pages * MODEL_PAGE;
	if (one_in(random, 8))
		operation->length -= below(random, MODEL_PAGE);
}

static int pick_protection(struct random *random, const struct diff_terms *terms)
{
	static const int8_t some[] = {SF_PROT_READ | SF_PROT_WRITE,
				      SF_PROT_READ | SF_PROT_WRITE,
				      SF_PROT_READ | SF_PROT_WRITE,
				      SF_PROT_READ | SF_PROT_WRITE,
				      SF_PROT_READ,
				      SF_PROT_READ,
				      SF_PROT_NONE,
				      SF_PROT_WRITE,
				      SF_PROT_READ | SF_PROT_EXEC,
				      SF_PROT_READ | SF_PROT_WRITE | SF_PROT_EXEC,
				      SF_PROT_EXEC};
	int protection = some[below(random, sizeof(some))];

	return protection == SF_PROT_EXEC && !terms->execute_only ? SF_PROT_READ | SF_PROT_EXEC : protection;
}

static void pick_map(struct random *random, const struct diff_terms *terms, const struct model_space *space,
		     struct diff_operation *operation)
{
	bool fixed = operation->kind == DIFF_MAP_FIXED || operation->kind == DIFF_MAP_NOREPLACE;

	pick_range(random, space, operation);
	operation->protection = pick_protection(random, terms);
	operation->flags = SF_MAP_ANONYMOUS | (one_in(random, 3) ? SF_MAP_SHARED : SF_MAP_PRIVATE);
	if (one_in(random, 12))
		operation->flags |= SF_MAP_LOCKED;
	if (one_in(random, 12))
		operation->flags |= SF_MAP_NORESERVE;
	if (one_in(random, 8))
		operation->flags |= SF_MAP_POPULATE;
	if (operation->kind == DIFF_MAP_FIXED)
		operation->flags |= SF_MAP_FIXED;
	if (operation->kind == DIFF_MAP_NOREPLACE)
		operation->flags |= SF_MAP_FIXED_NOREPLACE;
	if (operation->kind == DIFF_MAP)
		operation->address = 0;
	if (operation->kind == DIFF_MAP_HINT && one_in(random, 4))
		operation->address += below(random, MODEL_PAGE);

	switch (below(random, 64)) {
	case 0:
		operation->length = 0;
		break;
	case 1:
		operation->flags ^= SF_MAP_SHARED | (one_in(random, 2) ? SF_MAP_PRIVATE : 0);
		break;
	case 2:
		operation->address = fixed && one_in(random, 2) ? 0 : HUGE;
		break;
	case 3:
		operation->address = operation->kind == DIFF_MAP ? 0 : operation->address + 8;
		break;
	case 4:
		if (!fixed)
			operation->length = one_in(random, 2) ? HUGE : UINT64_MAX - below(random, MODEL_PAGE);
		break;
	case 5:
		if (!fixed)
			operation->address = below(random, 3 * MODEL_PAGE);
		break;
	}
}

bool diff_meets_mistake(const struct model_space *space, const struct diff_operation *operation)
{
	bool remaps = operation->kind >= DIFF_REMAP && operation->kind <= DIFF_REMAP_DONTUNMAP;

	for (unsigned i = 0; remaps && (operation->flags & SF_REMAP_DONTUNMAP) && i < space->count; i++) {
		const struct model_range *range = &space->range[i];

		if ((range->flags & MODEL_LOCKED) && range->end > operation->address &&
		    range->start < operation->address + operation->length)
			return true;
	}
	return false;
}

static void pick_remap(struct random *random, const struct model_space *space,
		       struct diff_operation *operation)
{
	struct diff_operation new;

	pick_range(random, space, operation);
	pick_range(random, space, &new);
	operation->new_length = new.length;
	if (operation->kind >= DIFF_REMAP_MAYMOVE)
		operation->flags |= SF_REMAP_MAYMOVE;
	if (one_in(random, 16))
		operation->length = 0;
	if (operation->kind == DIFF_REMAP_FIXED) {
		operation->flags |= SF_REMAP_FIXED;
		if (!one_in(random, 3))
			operation->new_length = operation->length;
		if (one_in(random, 8))
			operation->flags |= SF_REMAP_DONTUNMAP;
	}
	if (operation->kind == DIFF_REMAP_DONTUNMAP) {
		operation->flags |= SF_REMAP_DONTUNMAP;
		operation->new_length = operation->length;
	}
	if (operation->kind >= DIFF_REMAP_FIXED) {
		uint64_t pages = (operation->new_length + MODEL_PAGE - 1) / MODEL_PAGE;

		operation->new_address = DIFF_START + below(random, DIFF_PAGES + 1 - pages) * MODEL_PAGE;
		if (operation->kind == DIFF_REMAP_DONTUNMAP && one_in(random, 2))
			operation->new_address = 0;
	}
	if (diff_meets_mistake(space, operation)) {
		operation->flags &= ~SF_REMAP_DONTUNMAP;
		if (operation->kind == DIFF_REMAP_DONTUNMAP) {
			operation->kind = DIFF_UNLOCK;
			return;
		}
	}
	switch (below(random, 64)) {
	case 0:
		operation->new_length = 0;
		break;
	case 1:
		operation->address += 8;
		break;
	case 2:
		operation->flags |= 8;
		break;
	case 3:
		operation->new_length = HUGE;
		break;
	case 4:
		if (operation->kind >= DIFF_REMAP_FIXED)
			operation->new_address = operation->new_address + 8;
		break;
	case 5:
		if (operation->kind >= DIFF_REMAP_FIXED)
			operation->flags &= ~SF_REMAP_MAYMOVE;
		break;
	case 6:
		if (operation->kind >= DIFF_REMAP_FIXED)
			operation->new_address = HUGE;
		break;
	}
}

/* What protect, advise, lock and the like have in common: a range, and now and then a bad one. */
static void pick_change(struct random *random, const struct diff_terms *terms,
			const struct model_space *space, struct diff_operation *operation)
{
	pick_range(random, space, operation);
	operation->protection = pick_protection(random, terms);
	switch (below(random, 48)) {
	case 0:
		operation->address += 8;
		break;
	case 1:
		operation->length = 0;
		break;
	case 2:
		if (operation->kind != DIFF_LOCK && operation->kind != DIFF_UNLOCK)
			operation->length = UINT64_MAX - below(random, MODEL_PAGE - 1);
		break;
	case 3:
		operation->protection |= 0x40;
		break;
	}
	/* Not past the window's end: what is there belongs to the process that the kernel runs. */
	if (operation->length <= DIFF_PAGES * MODEL_PAGE && operation->address + operation->length > DIFF_END)
		operation->length = DIFF_END - operation->address;
}

static void pick_limit(struct random *random, const struct diff_terms *terms,
		       struct diff_operation *operation)
{
	static const uint8_t some[] = {0, 1, 4, 8, 16, 24, 32, 48, 64, 96};
	uint64_t pages = some[below(random, sizeof(some))];

	operation->target = one_in(random, 2) ? SF_LIMIT_LOCKED : SF_LIMIT_ADDRESS_SPACE;
	operation->value = pages * MODEL_PAGE + (pages ? below(random, MODEL_PAGE) : 0);
	if (!one_in(random, 3))
		operation->value = operation->target == SF_LIMIT_LOCKED ? terms->locked_max : UINT64_MAX;
}

static void pick_access(struct random *random, const struct model_space *space,
			struct diff_operation *operation)
{
	uint64_t offset = below(random, 2) ? 8 * below(random, 4) : below(random, MODEL_PAGE);

	pick_range(random, space, operation);
	operation->length = sizeof(uint64_t);
	operation->value = below(random, 3);
	operation->expected = below(random, 3);
	if (operation->kind == DIFF_SWAP) {
		operation->address += offset & ~(uint64_t)7;
		return;
	}
	operation->address += offset;
	if (one_in(random, 3)) {
		operation->value = random_next(random);
		operation->length = 1 + below(random, DIFF_BYTES_MAX);
	}
	if (operation->length > DIFF_END - operation->address)
		operation->length = DIFF_END - operation->address;
}

static unsigned pick_kind(struct random *random)
{
	uint64_t at = below(random, 1000);
	unsigned kind = 0;

	while (at >= weight[kind])
		at -= weight[kind++];
	return kind;
}

/* Returns a space that exists, mostly the same as before. */
static unsigned pick_space(struct random *random, struct model_space *const spaces[DIFF_SPACES],
			   unsigned current)
{
	if (!spaces[current] || one_in(random, 8)) {
		do
			current = (unsigned)below(random, DIFF_SPACES);
		while (!spaces[current]);
	}
	return current;
}

void diff_generate(struct random *random, const struct diff_terms *terms,
		   struct model_space *const spaces[DIFF_SPACES], unsigned current,
		   struct diff_operation *operation)
{
	const struct model_space *space;
	unsigned alive = 0;

	for (unsigned i = 0; i < DIFF_SPACES; i++)
		alive += spaces[i] != NULL;
	*operation = (struct diff_operation){.kind = (uint8_t)pick_kind(random)};
	operation->space = (uint8_t)pick_space(random, spaces, current);
	space = spaces[operation->space];
	/* The tree is kept between one space and all. A process with very many mappings is slow to fork. */
	if ((operation->kind == DIFF_EXIT || operation->kind == DIFF_FORK) && terms->ranges_max != UINT64_MAX)
		operation->kind = DIFF_PROTECT;
	else if (operation->kind == DIFF_EXIT && alive == 1)
		operation->kind = DIFF_FORK;
	else if (operation->kind == DIFF_FORK && alive == DIFF_SPACES)
		operation->kind = DIFF_EXIT;

	switch (operation->kind) {
	case DIFF_MAP:
	case DIFF_MAP_HINT:
	case DIFF_MAP_FIXED:
	case DIFF_MAP_NOREPLACE:
		pick_map(random, terms, space, operation);
		break;
	case DIFF_REMAP:
	case DIFF_REMAP_MAYMOVE:
	case DIFF_REMAP_FIXED:
	case DIFF_REMAP_DONTUNMAP:
		pick_remap(random, space, operation);
		break;
	case DIFF_LIMIT:
		pick_limit(random, terms, operation);
		break;
	case DIFF_FORK:
		while (spaces[operation->target])
			operation->target++;
		break;
	case DIFF_EXIT:
		break;
	case DIFF_READ:
	case DIFF_WRITE:
	case DIFF_SWAP:
		pick_access(random, space, operation);
		break;
	default:
		pick_change(random, terms, space, operation);
		break;
	}
}
