/* SPDX-License-Identifier: MIT */
/*
 * What the tests of mm/space/ share: a space whose VMAs in a window can be drawn, one character a page. VMAs
 * are A, B, C from below, '.' is a page where nothing is mapped.
 */
#ifndef TESTS_UNIT_MM_SPACE_LAYOUT_H
#define TESTS_UNIT_MM_SPACE_LAYOUT_H

#include "tests/unit/mm/fixture.h"

#include <string.h>

#include "mm/system/internal.h"

#define WINDOW       ((uint64_t)1 << 40)
#define WINDOW_PAGES 40u
#define AT(page)     (WINDOW + (uint64_t)(page)*PAGE)

#define READ_WRITE (SF_PROT_READ | SF_PROT_WRITE)

struct ground {
	struct sf_system *system;
	struct sf_space *space;
};

static inline struct ground ground_open(void)
{
	struct ground ground = {.system = system_open(POLICY_MEMTYPE_CMPXCHG, 2048, 64)};

	ground.space = space_open(ground.system);
	assert_non_null(ground.space);
	return ground;
}

static inline void ground_close(struct ground *ground)
{
	assert_system_good(ground->system);
	sf_space_destroy(ground->space);
	assert_system_good(ground->system);
	system_destroy(ground->system);
}

static inline int map_at(struct sf_space *space, unsigned page, unsigned pages, int protection, int flags)
{
	uint64_t mapped;
	int error = sf_map(space, AT(page), pages * PAGE, protection, flags | SF_MAP_ANONYMOUS | SF_MAP_FIXED,
			   &mapped);

	if (!error)
		assert_int_equal(mapped, AT(page));
	return error;
}

/* Maps private memory to read and write. */
static inline void map_private(struct sf_space *space, unsigned page, unsigned pages)
{
	assert_int_equal(map_at(space, page, pages, READ_WRITE, SF_MAP_PRIVATE), 0);
}

static inline void write_to(struct sf_space *space, unsigned page)
{
	assert_int_equal(touch(space, AT(page), true), 0);
}

/* Draws the VMAs of the window. */
static inline const char *draw(struct sf_space *space)
{
	static char drawing[WINDOW_PAGES + 1];
	struct sf_mapping mapping;
	uint64_t address = WINDOW;
	char name = 'A';

	memset(drawing, '.', WINDOW_PAGES);
	while (!sf_next_mapping(space, address, &mapping) && mapping.start < AT(WINDOW_PAGES)) {
		assert_true(mapping.start >= WINDOW);
		for (uint64_t at = mapping.start; at < mapping.end && at < AT(WINDOW_PAGES); at += PAGE)
			drawing[(at - WINDOW) / PAGE] = name;
		name++;
		address = mapping.end;
	}
	return drawing;
}

/* Compares with a drawing, behind whose end nothing is mapped. */
static inline void assert_drawn(struct sf_space *space, const char *wanted)
{
	char padded[WINDOW_PAGES + 1] = "";

	memset(padded, '.', WINDOW_PAGES);
	memcpy(padded, wanted, strlen(wanted));
	assert_string_equal(draw(space), padded);
}

static inline void assert_drawn_good(struct ground *ground, const char *wanted)
{
	assert_drawn(ground->space, wanted);
	assert_system_good(ground->system);
}

#endif
