/* SPDX-License-Identifier: MIT */
/*
 * Names of variables, fields and functions, from the debug information of this test itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/debuginfo.h"
#include "vsmp/observe/symbols.h"

struct probe_link {
	struct probe_link *next, **previous;
};

typedef _Atomic uint32_t probe_word;

struct probe {
	const volatile uint64_t flags;
	probe_word count;
	uint16_t small[6];
	struct probe_link lru;
	union {
		struct {
			uint16_t next, owner;
		};
		_Atomic uint32_t both;
		uint64_t wide;
	};
	struct {
		int inner;
		const char *_Atomic name;
	} detail;
	struct probe_link free[3];
	unsigned low : 3, high : 9;
	unsigned char table[2][4];
};

struct probe_tail {
	uint32_t count;
	struct probe_link items[];
};

typedef struct {
	int x, y;
} probe_point;

union probe_either {
	int number;
	double real;
};

struct probe probe_global;
static struct probe probe_array[4][2];
_Atomic uint64_t probe_counter;
struct probe_link *probe_pointer;
probe_point probe_typed;
const volatile struct probe_link *const volatile probe_qualified;
void *probe_void[3];
struct probe_tail probe_tail_global;
union probe_either probe_either_global;

static void assert_field(const char *type, uint64_t offset, size_t bytes, const char *base, const char *field)
{
	struct debuginfo_name name;

	debuginfo_field(type, offset, bytes, &name);
	assert_string_equal(name.base, base);
	assert_string_equal(name.field, field);
}

#define ASSERT_MEMBER(member, field)                                                                      \
	assert_field("struct probe", offsetof(struct probe, member), sizeof(((struct probe *)0)->member), \
		     "struct probe", field)

static void test_fields(void **state)
{
	(void)state;
	ASSERT_MEMBER(flags, "flags");
	ASSERT_MEMBER(count, "count");
	ASSERT_MEMBER(small[0], "small[]");
	ASSERT_MEMBER(small[5], "small[]");
	ASSERT_MEMBER(lru.next, "lru.next");
	ASSERT_MEMBER(lru.previous, "lru.previous");
	ASSERT_MEMBER(lru, "lru");
	ASSERT_MEMBER(detail.inner, "detail.inner");
	ASSERT_MEMBER(detail.name, "detail.name");
	ASSERT_MEMBER(free[0].next, "free[].next");
	ASSERT_MEMBER(free[2].previous, "free[].previous");
	ASSERT_MEMBER(table[1][3], "table[]");
	/* One byte of a field is the field. */
	assert_field("struct probe", offsetof(struct probe, count) + 2, 1, "struct probe", "count");
	/* Elements of an array of the type have one name. */
	assert_field("struct probe", 1000 * sizeof(struct probe) + offsetof(struct probe, lru.next), 8,
		     "struct probe", "lru.next");
}

/* Of a union's members the one of the access's own place and size is meant. */
static void test_unions(void **state)
{
	(void)state;
	ASSERT_MEMBER(next, "next");
	ASSERT_MEMBER(owner, "owner");
	ASSERT_MEMBER(both, "both");
	ASSERT_MEMBER(wide, "wide");
	assert_field("union probe_either", 0, 4, "union probe_either", "number");
	assert_field("union probe_either", 8, 8, "union probe_either", "real");
}

static void test_ranges(void **state)
{
	(void)state;
	assert_field("struct probe", offsetof(struct probe, flags), 12, "struct probe", "flags..count");
	assert_field("struct probe", 0, sizeof(struct probe), "struct probe", "");
	assert_field("struct probe", offsetof(struct probe, detail.name) - 4, 4, "struct probe",
		     "detail.[padding]");
	assert_field("struct probe", offsetof(struct probe, small), 12, "struct probe", "small[]");
	assert_field("struct probe", offsetof(struct probe, free), 32, "struct probe", "free[]");
	/* Bit fields share their bytes: the first one stands for them, whoever is meant. */
	assert_field("struct probe", offsetof(struct probe, table) - 2, 1, "struct probe", "low");
	assert_field("struct probe", offsetof(struct probe, table) - 2, 2, "struct probe", "high");
}

static void test_open_ended(void **state)
{
	(void)state;
	assert_int_equal(debuginfo_element_bytes("struct probe_tail"), 0);
	assert_field("struct probe_tail", 0, 4, "struct probe_tail", "count");
	for (unsigned i = 0; i < 20; i++) {
		assert_field("struct probe_tail", offsetof(struct probe_tail, items[i].next), 8,
			     "struct probe_tail", "items[].next");
		assert_field("struct probe_tail", offsetof(struct probe_tail, items[i].previous), 8,
			     "struct probe_tail", "items[].previous");
	}
}

static void test_types_without_fields(void **state)
{
	(void)state;
	assert_int_equal(debuginfo_element_bytes("uint64_t"), 8);
	assert_int_equal(debuginfo_element_bytes("struct probe"), sizeof(struct probe));
	assert_int_equal(debuginfo_element_bytes("probe_point"), sizeof(probe_point));
	assert_int_equal(debuginfo_element_bytes("struct never_heard_of"), 0);
	assert_field("uint64_t", 80, 8, "uint64_t", "");
	assert_field("probe_point", 12, 4, "probe_point", "y");
	assert_field("struct never_heard_of", 12, 4, "struct never_heard_of", "");
	assert_field("", 0, 1, "", "");
}

static void assert_variable(const volatile void *address, size_t bytes, const char *base, const char *field)
{
	struct debuginfo_name name;

	assert_int_equal(debuginfo_variable((uintptr_t)address, bytes, &name), 0);
	assert_string_equal(name.base, base);
	assert_string_equal(name.field, field);
}

static void test_variables(void **state)
{
	static struct probe_link inside[2];
	struct debuginfo_name name;
	int local = 0;
	char other[SYMBOLS_NAME_BYTES];

	(void)state;
	{
		static _Atomic int deeper;

		assert_variable(&deeper, 4, "int deeper", "");
	}
	assert_variable(&probe_global.lru.next, 8, "struct probe probe_global", "lru.next");
	assert_variable(&probe_global.flags, 8, "struct probe probe_global", "flags");
	assert_variable(&probe_array[3][1].count, 4, "struct probe probe_array[]", "count");
	assert_variable(&probe_counter, 8, "uint64_t probe_counter", "");
	assert_variable(&probe_pointer, 8, "struct probe_link *probe_pointer", "");
	assert_variable(&probe_typed.y, 4, "probe_point probe_typed", "y");
	assert_variable(&probe_qualified, 8, "struct probe_link *probe_qualified", "");
	assert_variable(&probe_void[2], 8, "void *probe_void[]", "");
	assert_variable(&probe_tail_global.count, 4, "struct probe_tail probe_tail_global", "count");
	assert_variable(&probe_either_global, 8, "union probe_either probe_either_global", "real");
	assert_variable(&inside[1].previous, 8, "struct probe_link inside[]", "previous");
	assert_int_equal(debuginfo_variable((uintptr_t)&local, 4, &name), -1);
	assert_int_equal(debuginfo_variable(0, 1, &name), -1);
	assert_int_equal(debuginfo_variable(UINTPTR_MAX, 1, &name), -1);
	assert_int_equal(symbols_variable_name((uintptr_t)&probe_global + 24, other), 0);
	assert_string_equal(other, "probe_global+0x18");
}

static __attribute__((noinline, used)) int probe_function(int x)
{
	return x * 3 + 1;
}

static inline int probe_inline(int x)
{
	return x * 5 + 2;
}

static void test_functions(void **state)
{
	int (*volatile address)(int) = probe_inline;
	char name[SYMBOLS_NAME_BYTES];

	(void)state;
	symbols_function_name((const void *)(uintptr_t)probe_function, name);
	assert_string_equal(name, "probe_function");
	symbols_function_name((const char *)(uintptr_t)probe_function + 1, name);
	assert_string_equal(name, "probe_function");
	symbols_function_name((const void *)(uintptr_t)address, name);
	assert_string_equal(name, "probe_inline");
	symbols_function_name((const void *)0x1234, name);
	assert_string_equal(name, "0x1234");
	assert_non_null(
	    strstr(debuginfo_function_file((const void *)(uintptr_t)probe_function), "observe_debuginfo.c"));
	assert_null(debuginfo_function_file((const void *)0x1234));
}

/* The same with the numbers of elements; an element of the whole allocation has none. */
static void test_indices(void **state)
{
	struct debuginfo_name name;

	(void)state;
	debuginfo_exact_field("struct probe", offsetof(struct probe, small[5]), 2, &name);
	assert_string_equal(name.field, "small[5]");
	debuginfo_exact_field("struct probe", sizeof(struct probe) + offsetof(struct probe, free[2].previous),
			      8, &name);
	assert_string_equal(name.field, "free[2].previous");
	debuginfo_exact_field("struct probe_tail", offsetof(struct probe_tail, items[7].next), 8, &name);
	assert_string_equal(name.field, "items[7].next");
	assert_int_equal(debuginfo_exact_variable((uintptr_t)&probe_global.free[1].next, 8, &name), 0);
	assert_string_equal(name.field, "free[1].next");
}

static int open_all(void **state)
{
	(void)state;
	return symbols_open() || debuginfo_open();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_fields),
	    cmocka_unit_test(test_unions),
	    cmocka_unit_test(test_ranges),
	    cmocka_unit_test(test_open_ended),
	    cmocka_unit_test(test_types_without_fields),
	    cmocka_unit_test(test_variables),
	    cmocka_unit_test(test_indices),
	    cmocka_unit_test(test_functions),
	};

	return cmocka_run_group_tests(tests, open_all, NULL);
}
