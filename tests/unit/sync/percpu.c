/* SPDX-License-Identifier: MIT */
#include "sync/percpu.h"

#include "base/compiler.h"
#include "host/memory.h"
#include "port/panic.h"
#include "tests/common/on_cpus.h"

#define CPUS 7u

struct counter {
	uint64_t value;
	unsigned cpu;
};

static struct percpu counters;

static void count(unsigned cpu, void *argument)
{
	struct counter *mine = percpu_this(&counters);

	(void)argument;
	invariant(mine == percpu_of(&counters, cpu));
	invariant(mine->value == 0);
	mine->cpu = cpu;
	for (unsigned i = 0; i <= cpu; i++)
		mine->value++;
}

static void each_cpu_has_its_own(void **state)
{
	(void)state;
	assert_int_equal(host_open(CPUS), 0);
	assert_int_equal(percpu_alloc(&counters, sizeof(struct counter), "struct counter"), 0);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		assert_int_equal((uintptr_t)percpu_of(&counters, cpu) % CACHE_LINE_BYTES, 0);
		for (unsigned other = 0; other < cpu; other++)
			assert_ptr_not_equal(percpu_of(&counters, cpu), percpu_of(&counters, other));
	}
	run_cpus(count, NULL);
	for (unsigned cpu = 0; cpu < CPUS; cpu++) {
		const struct counter *counter = percpu_of(&counters, cpu);

		assert_int_equal(counter->cpu, cpu);
		assert_int_equal(counter->value, cpu + 1);
	}
	percpu_free(&counters);
	percpu_free(&counters);
	host_close();
	assert_int_equal(host_memory_in_use_bytes(), 0);
}

/* Every allocation of it fails once; what came before is given back. */
static void gives_back_what_it_could_not_finish(void **state)
{
	(void)state;
	assert_int_equal(host_open(CPUS), 0);
	for (unsigned allowed = 0; allowed < CPUS + 1; allowed++) {
		host_memory_fail_after(allowed);
		assert_int_equal(percpu_alloc(&counters, 3 * 4096, "char"), -ENOMEM);
		assert_int_equal(host_memory_in_use_bytes(), 0);
		percpu_free(&counters);
	}
	host_memory_fail_after(CPUS + 1);
	assert_int_equal(percpu_alloc(&counters, 3 * 4096, "char"), 0);
	host_memory_fail_never();
	assert_int_equal(host_memory_in_use_bytes(), CPUS * (3 * 4096 + sizeof(void *)));
	percpu_free(&counters);
	host_close();
	assert_int_equal(host_memory_in_use_bytes(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_cpu_has_its_own),
	    cmocka_unit_test(gives_back_what_it_could_not_finish),
	};

	return cmocka_run_group_tests_name("sync/percpu", tests, NULL, NULL);
}
