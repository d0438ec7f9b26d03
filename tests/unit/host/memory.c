/* SPDX-License-Identifier: MIT */
/*
 * Memory of the real machine: when its pages are made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <cmocka.h>

#include "host/memory.h"
#include "port/memory.h"
#include "port/page.h"

#define PAGES 64u

static unsigned pages_there(void *memory)
{
	unsigned char there[PAGES];
	unsigned count = 0;

	assert_int_equal(mincore(memory, PAGES * PORT_PAGE_SIZE, there), 0);
	for (unsigned i = 0; i < PAGES; i++)
		count += there[i] & 1;
	return count;
}

static void *allocate(void)
{
	void *memory = port_memory_alloc(PAGES * PORT_PAGE_SIZE, PORT_NODE_FIRST_TOUCH, "page contents");

	assert_non_null(memory);
	return memory;
}

static void pages_are_made_at_once_or_when_touched(void **state)
{
	char *memory = allocate();

	(void)state;
	assert_int_equal(pages_there(memory), 0);
	memory[3 * PORT_PAGE_SIZE] = 1;
	assert_int_equal(pages_there(memory), 1);
	port_memory_free(memory, PAGES * PORT_PAGE_SIZE);

	host_memory_populate(true);
	memory = allocate();
	host_memory_populate(false);
	assert_int_equal(pages_there(memory), PAGES);
	for (size_t i = 0; i < PAGES * PORT_PAGE_SIZE; i++)
		assert_int_equal(memory[i], 0);
	port_memory_free(memory, PAGES * PORT_PAGE_SIZE);

	memory = allocate();
	assert_int_equal(pages_there(memory), 0);
	port_memory_free(memory, PAGES * PORT_PAGE_SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(pages_are_made_at_once_or_when_touched),
	};

	return cmocka_run_group_tests_name("host/memory", tests, NULL, NULL);
}
