/* SPDX-License-Identifier: MIT */
#include "tests/diff/operation.h"

/* Of a thousand operations. */
static const unsigned weight[DIFF_KINDS] = {
    [DIFF_MAP] = 28,
    [DIFF_MAP_HINT] = 26,
    [DIFF_MAP_FIXED] = 36,
    [DIFF_MAP_NOREPLACE] = 24,
    [DIFF_MAP_OBJECT] = 46,
    [DIFF_UNMAP] = 26,
    [DIFF_PROTECT] = 33,
    [DIFF_REMAP] = 26,
    [DIFF_REMAP_MAYMOVE] = 26,
    [DIFF_REMAP_FIXED] = 26,
    [DIFF_REMAP_DONTUNMAP] = 28,
    [DIFF_NORMAL] = 24,
    [DIFF_WILLNEED] = 24,
    [DIFF_DONTNEED] = 26,
    [DIFF_FREE] = 38,
    [DIFF_REMOVE] = 24,
    [DIFF_COLD] = 15,
    [DIFF_PAGEOUT] = 24,
    [DIFF_HUGEPAGE] = 24,
    [DIFF_NOHUGEPAGE] = 24,
    [DIFF_POPULATE_READ] = 24,
    [DIFF_POPULATE_WRITE] = 24,
    [DIFF_LOCK] = 25,
    [DIFF_UNLOCK] = 24,
    [DIFF_SYNC] = 25,
    [DIFF_MINCORE] = 24,
    [DIFF_LIMIT] = 25,
    [DIFF_FORK] = 27,
    [DIFF_EXIT] = 27,
    [DIFF_READ] = 30,
    [DIFF_WRITE] = 40,
    [DIFF_SWAP] = 28,
    [DIFF_OBJECT_RESIZE] = 25,
    [DIFF_OBJECT_PUNCH] = 25,
    [DIFF_OBJECT_READ] = 25,
    [DIFF_OBJECT_WRITE] = 30,
    [DIFF_OBJECT_SYNC] = 24,
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
		     unsigned kind, struct diff_operation *operation)
{
	bool fixed = kind == DIFF_MAP_FIXED || kind == DIFF_MAP_NOREPLACE;

	pick_range(random, space, operation);
	operation->protection = pick_protection(random, terms);
	operation->flags = one_in(random, 3) ? SF_MAP_SHARED : SF_MAP_PRIVATE;
	if (one_in(random, 12))
		operation->flags |= SF_MAP_LOCKED;
	if (one_in(random, 12))
		operation->flags |= SF_MAP_NORESERVE;
	if (one_in(random, 8))
		operation->flags |= SF_MAP_POPULATE;
	if (kind == DIFF_MAP_FIXED)
		operation->flags |= SF_MAP_FIXED;
	if (kind == DIFF_MAP_NOREPLACE)
		operation->flags |= SF_MAP_FIXED_NOREPLACE;
	if (kind == DIFF_MAP)
		operation->address = 0;
	if (kind == DIFF_MAP_HINT && one_in(random, 4))
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
		operation->address = kind == DIFF_MAP ? 0 : operation->address + 8;
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

/* Half of them shared. */
static void pick_map_object(struct random *random, const struct diff_terms *terms,
			    const struct model_space *space, struct model_object *const objects[DIFF_OBJECTS],
			    struct diff_operation *operation)
{
	static const uint8_t kinds[] = {DIFF_MAP, DIFF_MAP_HINT, DIFF_MAP_FIXED, DIFF_MAP_FIXED,
					DIFF_MAP_NOREPLACE};

	pick_map(random, terms, space, kinds[below(random, sizeof(kinds))], operation);
	if (one_in(random, 4) && (operation->flags & SF_MAP_PRIVATE))
		operation->flags ^= SF_MAP_SHARED | SF_MAP_PRIVATE;
	/* With both flags Linux checks the others, too; none is an error everywhere. */
	if ((operation->flags & SF_MAP_SHARED) && (operation->flags & SF_MAP_PRIVATE))
		operation->flags &= ~(SF_MAP_SHARED | SF_MAP_PRIVATE);
	diff_pick_object_offset(random, space, objects, operation);
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

/* Whether what a range has after MADV_FREE and MADV_PAGEOUT cannot be told. */
static bool is_uncertain(const struct model_space *space, const struct diff_operation *operation)
{
	for (uint64_t i = 0; i < DIFF_PAGES; i++) {
		const struct model_page *page = &space->page[i];
		uint64_t at = DIFF_START + i * MODEL_PAGE;

		if (at + MODEL_PAGE > operation->address && at < operation->address + operation->length &&
		    (operation->kind == DIFF_FREE ? page->paged_out : page->lazy))
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
	if (operation->kind == DIFF_SYNC) {
		static const uint8_t some[] = {SF_SYNC_SYNC,
					       SF_SYNC_SYNC,
					       SF_SYNC_SYNC,
					       SF_SYNC_ASYNC,
					       SF_SYNC_INVALIDATE,
					       SF_SYNC_SYNC | SF_SYNC_INVALIDATE,
					       0,
					       SF_SYNC_SYNC | SF_SYNC_ASYNC,
					       8};

		operation->flags = some[below(random, sizeof(some))];
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

static bool may_access(const struct model_space *space, const struct diff_operation *operation)
{
	unsigned needed = operation->kind == DIFF_READ ? MODEL_PROTECTION : SF_PROT_WRITE;

	for (unsigned i = 0; i < space->count; i++) {
		const struct model_range *range = &space->range[i];

		if (operation->address >= range->start && operation->address < range->end)
			return range->flags & needed;
	}
	return false;
}

static void pick_access(struct random *random, const struct model_space *space,
			struct diff_operation *operation)
{
	uint64_t offset = below(random, 2) ? 8 * below(random, 4) : below(random, MODEL_PAGE);

	/* Mostly what may be accessed. */
	for (unsigned tries = 1 + (unsigned)below(random, 6); tries; tries--) {
		pick_range(random, space, operation);
		if (may_access(space, operation))
			break;
	}
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
		   struct model_space *const spaces[DIFF_SPACES],
		   struct model_object *const objects[DIFF_OBJECTS], unsigned current,
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
		pick_map(random, terms, space, operation->kind, operation);
		operation->flags |= SF_MAP_ANONYMOUS;
		break;
	case DIFF_MAP_OBJECT:
		pick_map_object(random, terms, space, objects, operation);
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
		if (diff_writes_behind_file(space, operation))
			operation->kind = DIFF_READ;
		break;
	case DIFF_OBJECT_RESIZE:
	case DIFF_OBJECT_PUNCH:
	case DIFF_OBJECT_READ:
	case DIFF_OBJECT_WRITE:
	case DIFF_OBJECT_SYNC:
		diff_pick_object_use(random, objects, operation);
		break;
	default:
		pick_change(random, terms, space, operation);
		if ((operation->kind == DIFF_PAGEOUT || operation->kind == DIFF_FREE) &&
		    is_uncertain(space, operation))
			operation->kind = DIFF_COLD;
		break;
	}
}
