/* SPDX-License-Identifier: MIT */
/*
 * The reverse map against all page tables, looked through entry by entry, after each step of random
 * sequences: maps, private and shared mappings of an object, writes, forks, moves, cuts, ends of spaces, and
 * pages that are put out. Every entry that maps a page must be met by a walk from it, a walk meets no space
 * that is no fork's of the maker's, and what is read is what was written.
 */
#include <string.h>

#include "mm/system/internal.h"
#include "softfault.h"
#include "tests/common/memory_backing.h"
#include "tests/common/rmap_work.h"
#include "tests/unit/mm/fault_fixture.h"

#define FRAMES       4096u
#define SLOTS        512u
#define WINDOW_PAGES 24u
#define OBJECT_PAGES 12u
#define SPACES       7u
#define STEPS        1500u

#define AT(page) (BASE + (uint64_t)(page)*PAGE)

/* What a page of the window should be. */
enum kind { HOLE, ANONYMOUS, COPY, SHARED };

struct model_page {
	enum kind kind;
	bool own;           /* COPY: has been written to */
	unsigned char byte; /* ANONYMOUS, and COPY that is its own */
	unsigned index;     /* of the object's page: COPY and SHARED */
	bool locked;
};

struct model_space {
	struct sf_space *space;
	struct model_page page[WINDOW_PAGES];
};

static struct {
	struct sf_system *system;
	struct sf_object *object;
	unsigned char object_byte[OBJECT_PAGES];
	struct model_space space[SPACES];
	struct random random;
	unsigned walks, places, candidates, put_out;
} ground;

static struct memory_backing swap_file;

static unsigned below(unsigned limit)
{
	return (unsigned)random_below(&ground.random, limit);
}

static struct model_space *any_space(void)
{
	unsigned first = below(SPACES);

	for (unsigned i = 0; i < SPACES; i++)
		if (ground.space[(first + i) % SPACES].space)
			return &ground.space[(first + i) % SPACES];
	return NULL;
}

static struct model_space *free_space(void)
{
	for (unsigned i = 0; i < SPACES; i++)
		if (!ground.space[i].space)
			return &ground.space[i];
	return NULL;
}

/* A run of pages of the window. */
static void any_run(unsigned *first, unsigned *pages)
{
	*pages = 1 + below(6);
	*first = below(WINDOW_PAGES - *pages + 1);
}

/* A page that is mapped, if there are some. */
static unsigned any_page(const struct model_space *on)
{
	unsigned first = below(WINDOW_PAGES);

	for (unsigned i = 0; i < WINDOW_PAGES; i++)
		if (on->page[(first + i) % WINDOW_PAGES].kind != HOLE)
			return (first + i) % WINDOW_PAGES;
	return first;
}

static void map_run(struct model_space *on)
{
	unsigned first, pages, index = 0;
	enum kind kind = ANONYMOUS + below(3);
	uint64_t mapped;
	int error;

	any_run(&first, &pages);
	if (kind == ANONYMOUS) {
		error = sf_map(on->space, AT(first), pages * PAGE, RW,
			       SF_MAP_PRIVATE | SF_MAP_ANONYMOUS | SF_MAP_FIXED, &mapped);
	} else {
		index = below(OBJECT_PAGES - pages + 1);
		error = sf_map_object(on->space, AT(first), pages * PAGE, RW,
				      (kind == COPY ? SF_MAP_PRIVATE : SF_MAP_SHARED) | SF_MAP_FIXED,
				      ground.object, index * PAGE, &mapped);
	}
	assert_int_equal(error, 0);
	for (unsigned i = 0; i < pages; i++)
		on->page[first + i] = (struct model_page){.kind = kind, .index = index + i};
}

static void unmap_run(struct model_space *on)
{
	unsigned first, pages;

	any_run(&first, &pages);
	assert_int_equal(sf_unmap(on->space, AT(first), pages * PAGE), 0);
	memset(&on->page[first], 0, pages * sizeof(on->page[0]));
}

static void write_page(struct model_space *on)
{
	unsigned at = any_page(on);
	struct model_page *page = &on->page[at];
	unsigned char byte = (unsigned char)(1 + below(255));

	if (page->kind == HOLE)
		return;
	put_byte(on->space, AT(at), byte);
	if (page->kind == SHARED) {
		ground.object_byte[page->index] = byte;
	} else {
		page->own = true;
		page->byte = byte;
	}
}

static unsigned char wanted(const struct model_page *page)
{
	return page->kind == SHARED || (page->kind == COPY && !page->own) ? ground.object_byte[page->index]
									  : page->byte;
}

static void read_page(struct model_space *on)
{
	unsigned at = below(WINDOW_PAGES);

	if (on->page[at].kind != HOLE)
		assert_int_equal(get_byte(on->space, AT(at)), wanted(&on->page[at]));
}

static void fork_space(struct model_space *on)
{
	struct model_space *child = free_space();

	if (!child)
		return;
	memcpy(child->page, on->page, sizeof(child->page));
	for (unsigned i = 0; i < WINDOW_PAGES; i++)
		child->page[i].locked = false;
	assert_int_equal(sf_space_fork(on->space, &child->space), 0);
}

static void end_space(struct model_space *on)
{
	/* There are most often some. */
	if (below(4))
		return;
	sf_space_destroy(on->space);
	memset(on, 0, sizeof(*on));
	if (!any_space())
		on->space = fault_space(ground.system);
}

/* Of one VMA, whose pages may stay mapped where they leave. What stays is read only once it is known. */
static void move_run(struct model_space *on)
{
	unsigned first, pages, to;
	bool keep = !below(4);
	struct sf_mapping mapping;
	uint64_t mapped;
	int error;

	any_run(&first, &pages);
	to = below(WINDOW_PAGES - pages + 1);
	if ((to < first + pages && first < to + pages) || sf_next_mapping(on->space, AT(first), &mapping) ||
	    mapping.start > AT(first) || mapping.end < AT(first + pages))
		return;
	error =
	    sf_remap(on->space, AT(first), pages * PAGE, pages * PAGE,
		     SF_REMAP_MAYMOVE | SF_REMAP_FIXED | (keep ? SF_REMAP_DONTUNMAP : 0), AT(to), &mapped);
	assert_int_equal(error, 0);
	memcpy(&on->page[to], &on->page[first], pages * sizeof(on->page[0]));
	/* What stays mapped is locked no more, nor is the rest of its mapping. */
	for (unsigned i = 0; keep && i < WINDOW_PAGES; i++)
		if (AT(i) >= mapping.start && AT(i) < mapping.end)
			on->page[i].locked = false;
	for (unsigned i = first; i < first + pages; i++) {
		if (!keep) {
			on->page[i].kind = HOLE;
			continue;
		}
		on->page[i].own = false;
		on->page[i].byte = 0;
	}
}

static void protect_run(struct model_space *on)
{
	unsigned first, pages;

	any_run(&first, &pages);
	for (unsigned i = first; i < first + pages; i++)
		if (on->page[i].kind == HOLE)
			return;
	assert_int_equal(sf_protect(on->space, AT(first), pages * PAGE, SF_PROT_READ), 0);
	assert_int_equal(sf_protect(on->space, AT(first), pages * PAGE, RW), 0);
}

static void lock_run(struct model_space *on)
{
	unsigned first, pages;
	bool lock = below(2);

	any_run(&first, &pages);
	for (unsigned i = first; i < first + pages; i++)
		if (on->page[i].kind == HOLE)
			return;
	assert_int_equal((lock ? sf_lock : sf_unlock)(on->space, AT(first), pages * PAGE), 0);
	for (unsigned i = first; i < first + pages; i++) {
		struct model_page *page = &on->page[i];

		page->locked = lock;
		/* Private memory that can be written is written to by the call. */
		if (lock && page->kind == COPY && !page->own) {
			page->byte = wanted(page);
			page->own = true;
		}
	}
}

/* All places at which a page is mapped. */
static unsigned find_places(struct page *page, struct rmap_place *places)
{
	const struct frames *frames = ground.system->frames;
	unsigned count = 0;

	for (unsigned i = 0; i < SPACES; i++)
		for (unsigned at = 0; ground.space[i].space && at < WINDOW_PAGES; at++) {
			uint64_t pte = system_pte(ground.space[i].space, AT(at));

			if (pte_maps(pte) && !(pte & PTE_SPECIAL) &&
			    pte_pfn(pte) == page_to_pfn(frames, page))
				places[count++] =
				    (struct rmap_place){ground.space[i].space, AT(at), pte, false};
		}
	return count;
}

static bool is_locked_at(const struct rmap_place *place)
{
	for (unsigned i = 0; i < SPACES; i++)
		if (ground.space[i].space == place->space)
			return ground.space[i].page[(place->address - BASE) / PAGE].locked;
	return false;
}

static void put_page_out(struct model_space *on)
{
	static struct rmap_place place[SPACES * WINDOW_PAGES];
	struct rmap_outcome outcome;
	unsigned at = any_page(on), count, locked = 0;
	struct page *page = rmap_find(on->space, AT(at));
	int error;

	if (!page)
		return;
	count = find_places(page, place);
	for (unsigned i = 0; i < count; i++)
		locked += is_locked_at(&place[i]);
	page_put(ground.system->frames, page);
	error = rmap_put_out(&ground.system->rmap, on->space, AT(at), &outcome);
	if (error == -ENOENT)
		return;
	assert_int_equal(error, locked ? -EAGAIN : 0);
	assert_int_equal(outcome.result, locked ? UNMAP_LOCKED : UNMAP_DONE);
	ground.put_out += !error;
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(pte_maps(system_pte(place[i].space, place[i].address)),
				 is_locked_at(&place[i]));
	/* Some come back, most often not the one first that made it. */
	for (unsigned i = count; i--;)
		if (below(2))
			assert_touch(place[i].space, place[i].address, SF_READ);
}

static void scan_page(struct model_space *on)
{
	static struct rmap_place place[SPACES * WINDOW_PAGES];
	struct page *page = rmap_find(on->space, AT(any_page(on)));
	unsigned count, touched = 0;
	struct rmap_found found;

	if (!page)
		return;
	count = find_places(page, place);
	for (unsigned i = 0; i < count; i++)
		touched += (place[i].pte & PTE_ACCESSED) != 0;
	page_lock(page);
	page_referenced(&ground.system->rmap, page, &found);
	page_unlock(page);
	page_put(ground.system->frames, page);
	assert_int_equal(found.visited, count);
	assert_int_equal(found.references, touched);
	for (unsigned i = 0; i < count; i++)
		assert_false(system_pte(place[i].space, place[i].address) & PTE_ACCESSED);
}

static void (*const steps[])(struct model_space *on) = {
    map_run,     write_page, write_page,   write_page,   write_page,   write_page,   read_page,
    read_page,   map_run,    fork_space,   fork_space,   end_space,    move_run,     unmap_run,
    protect_run, lock_run,   put_page_out, put_page_out, put_page_out, put_page_out, scan_page,
};

/* From every page that is mapped to every entry that maps it. */
static void check_walks(void)
{
	static struct rmap_place place[SPACES * WINDOW_PAGES];

	for (unsigned i = 0; i < SPACES; i++)
		for (unsigned at = 0; ground.space[i].space && at < WINDOW_PAGES; at++) {
			struct page *page = rmap_find(ground.space[i].space, AT(at));
			struct rmap_places places = {.page = page, .place = place};

			if (!page)
				continue;
			places.count = find_places(page, place);
			assert_int_equal(places.count, page_mapcount(page));
			page_put(ground.system->frames, page);
			assert_int_equal(rmap_walk_places(&places), places.count);
			ground.walks++;
			ground.places += places.count;
			ground.candidates += places.candidates;
		}
}

static void run(const struct policy *policy, uint64_t seed)
{
	memset(&ground, 0, sizeof(ground));
	random_seed(&ground.random, seed);
	ground.system = fault_system(policy, FRAMES);
	memory_backing_open(&swap_file, SLOTS * PAGE, SLOTS * PAGE);
	assert_int_equal(sf_swap_add(ground.system, &swap_file.backing, 0), 0);
	assert_int_equal(sf_object_create(ground.system, OBJECT_PAGES * PAGE, 0, &ground.object), 0);
	ground.space[0].space = fault_space(ground.system);
	for (unsigned step = 0; step < STEPS; step++) {
		steps[below(ARRAY_SIZE(steps))](any_space());
		check_walks();
		if (step % 50 == 0)
			assert_good(ground.system);
	}
	for (unsigned i = 0; i < SPACES; i++) {
		for (unsigned at = 0; ground.space[i].space && at < WINDOW_PAGES; at++)
			if (ground.space[i].page[at].kind != HOLE)
				assert_int_equal(get_byte(ground.space[i].space, AT(at)),
						 wanted(&ground.space[i].page[at]));
		if (ground.space[i].space)
			sf_space_destroy(ground.space[i].space);
	}
	sf_object_close(ground.object);
	fault_system_end(ground.system);
	memory_backing_close(&swap_file);
}

static void walks_meet_every_entry(void **state)
{
	uint64_t seed = 1;
	const char *text = getenv("SEED");
	struct policy policy;

	(void)state;
	if (text)
		seed = strtoull(text, NULL, 0);
	for (unsigned number = 0; fault_policy(number, &policy, false); number++) {
		print_message("seed %llu, policy %u\n", (unsigned long long)seed, number);
		run(&policy, seed + number);
		/* What is looked at in vain stays few. */
		print_message("%u walks, %u places, %u looks, %u put out\n", ground.walks, ground.places,
			      ground.candidates, ground.put_out);
		assert_true(ground.candidates < 3 * ground.places);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(walks_meet_every_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
