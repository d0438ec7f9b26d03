/* SPDX-License-Identifier: MIT */
/*
 * The running kernel as an engine: faults are counted, windows and barriers hold, what it cannot do it says.
 */
#include "tests/lab/fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/types.h>

#define CPUS       3u
#define PAGE_BYTES 4096u
#define PAGES      64u /* of each CPU */
#define ROUNDS     5u
#define BASE       ((uintptr_t)1 << 41)

/* Bodies run in other threads, where cmocka's assertions do not work. */
#define require(condition)                                                                    \
	do {                                                                                  \
		if (!(condition)) {                                                           \
			print_error("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                              \
		}                                                                             \
	} while (0)

static const struct engine_config config = {.cpus = CPUS, .seed = 1};
static _Atomic unsigned arrived[2 * ROUNDS], bodies;

/* Whoever is past a barrier finds that all have come to it. */
static void fault_in_step(unsigned cpu, void *argument)
{
	uintptr_t start = BASE + cpu * PAGES * PAGE_BYTES;
	bool shared = argument != NULL;

	atomic_fetch_add(&bodies, 1);
	require(engine_linux.map_anon(0, start, PAGES * PAGE_BYTES, shared) == 0);
	require(engine_linux.map_anon(0, start, PAGE_BYTES, shared) == -EEXIST);
	engine_linux.count_operations(1000);
	engine_linux.measure_begin();
	for (unsigned round = 0; round < ROUNDS; round++) {
		atomic_fetch_add(&arrived[2 * round], 1);
		engine_linux.barrier();
		require(atomic_load(&arrived[2 * round]) == CPUS);
		for (unsigned page = 0; page < PAGES; page++) {
			require(engine_linux.touch(0, start + page * PAGE_BYTES, round % 2) == 0);
			engine_linux.count_operations(1);
		}
		atomic_fetch_add(&arrived[2 * round + 1], 1);
		engine_linux.barrier();
		require(atomic_load(&arrived[2 * round + 1]) == CPUS);
		require(engine_linux.dontneed(0, start, PAGES * PAGE_BYTES) == 0);
	}
	require(engine_linux.measure_active());
	engine_linux.measure_end();
	while (engine_linux.measure_active())
		;
	require(engine_linux.unmap(0, start, PAGES * PAGE_BYTES) == 0);
}

static void counts_every_fault(void **state)
{
	struct engine_timing timing;
	struct engine_statistics statistics;
	struct message why = {""};

	(void)state;
	assert_int_equal(engine_linux.open(&config, &why), 0);
	for (unsigned run = 1; run <= 2; run++) {
		for (unsigned i = 0; i < ARRAY_SIZE(arrived); i++)
			atomic_store(&arrived[i], 0);
		assert_int_equal(engine_linux.run(fault_in_step, NULL, &timing, &why), 0);
		assert_int_equal(timing.operations, CPUS * PAGES * ROUNDS);
		assert_true(timing.seconds > 0);
		assert_true(timing.cpu_seconds_per_operation * PAGES * ROUNDS <= timing.seconds * 1.000001);
		engine_linux.statistics(&statistics);
		/* A thread's stack may fault too. */
		assert_true(statistics.faults >= run * CPUS * PAGES * ROUNDS);
		assert_true(statistics.faults < run * CPUS * (PAGES * ROUNDS + 64));
		assert_true(statistics.counter != ENGINE_COUNTER_SYSTEM);
		assert_false(statistics.has_retired);
	}
	assert_int_equal(atomic_load(&bodies), 2 * CPUS);
	engine_linux.close();
}

/* Each page is missing once, and the file goes with its mapping. */
static void fault_in_a_file(unsigned cpu, void *unused)
{
	size_t bytes = CPUS * PAGES * PAGE_BYTES;

	(void)unused;
	if (!cpu) {
		require(engine_linux.file_create(0, bytes, false) == 0);
		require(engine_linux.file_create(0, bytes, false) == -EEXIST);
		require(engine_linux.file_map(0, BASE, bytes, 0, 0) == 0);
	}
	engine_linux.barrier();
	require(engine_linux.file_map(0, BASE, bytes, 0, 0) == -EEXIST);
	engine_linux.barrier();
	if (!cpu)
		engine_linux.file_close(0);
	for (unsigned page = 0; page < PAGES; page++)
		require(engine_linux.touch(0, BASE + (cpu * PAGES + page) * PAGE_BYTES, false) == 0);
	engine_linux.barrier();
	if (!cpu)
		require(engine_linux.unmap(0, BASE, bytes) == 0);
}

static unsigned open_files(void)
{
	unsigned count = 0;

	for (int file = 0; file < 256; file++)
		count += fcntl(file, F_GETFD) >= 0;
	return count;
}

static void maps_a_file_of_memory(void **state)
{
	struct engine_timing timing;
	struct engine_statistics statistics;
	struct message why = {""};
	unsigned files = open_files();

	(void)state;
	assert_int_equal(engine_linux.open(&config, &why), 0);
	assert_int_equal(engine_linux.run(fault_in_a_file, NULL, &timing, &why), 0);
	engine_linux.statistics(&statistics);
	assert_true(statistics.faults >= CPUS * PAGES);
	assert_true(statistics.faults < CPUS * (PAGES + 64));
	assert_int_equal(engine_linux.file_map(CPUS, BASE, PAGE_BYTES, 0, 0), -EOPNOTSUPP);
	assert_int_equal(engine_linux.file_map(0, BASE, PAGE_BYTES, 0, 0), -EINVAL);
	assert_int_equal(open_files(), files);
	engine_linux.close();
}

static void some_give_up(unsigned cpu, void *unused)
{
	(void)unused;
	if (cpu == 1)
		return;
	engine_linux.barrier();
	engine_linux.measure_begin();
	engine_linux.count_operations(2);
	if (cpu == 2)
		return;
	engine_linux.barrier();
	engine_linux.measure_end();
	while (engine_linux.measure_active())
		;
}

static void bodies_may_give_up(void **state)
{
	struct engine_timing timing;
	struct message why = {""};

	(void)state;
	assert_int_equal(engine_linux.open(&config, &why), 0);
	assert_int_equal(engine_linux.run(some_give_up, NULL, &timing, &why), 0);
	assert_int_equal(timing.operations, 4);
	engine_linux.close();
}

static void spin(unsigned cpu, void *unused)
{
	uintptr_t start = BASE + cpu * PAGES * PAGE_BYTES;

	(void)unused;
	require(engine_linux.map_anon(0, start, PAGES * PAGE_BYTES, false) == 0);
	for (unsigned round = 0; round < 1000; round++) {
		for (unsigned page = 0; page < PAGES; page++)
			require(engine_linux.touch(0, start + page * PAGE_BYTES, true) == 0);
		require(engine_linux.dontneed(0, start, PAGES * PAGE_BYTES) == 0);
	}
	require(engine_linux.unmap(0, start, PAGES * PAGE_BYTES) == 0);
}

static bool has_stack_with(const struct vsmp_report *report, const char *name)
{
	for (size_t i = 0; i < report->stack_count; i++)
		if (strstr(report->stacks[i].path, name))
			return true;
	return false;
}

/* Where perf may sample, a profile with what faults run through; where not, the reason. */
static void shows_a_profile_or_says_why_not(void **state)
{
	struct engine_config profiled = config;
	struct engine_timing timing;
	struct vsmp_report report;
	struct message why = {""};
	double whole = 0;
	int error = engine_linux.can_profile(&why);

	(void)state;
	profiled.profile = true;
	assert_int_equal(engine_linux.open(&profiled, &why), 0);
	if (error) {
		assert_true(error == -ENOENT || error == -EPERM);
		assert_int_equal(strncmp(why.text, "perf ", 5), 0);
		assert_int_not_equal(engine_linux.run(spin, NULL, &timing, &why), 0);
		engine_linux.close();
		return;
	}
	if (engine_linux.run(spin, NULL, &timing, &why))
		fail_msg("%s", why.text);
	assert_int_equal(engine_linux.report(&report), 0);
	assert_true(has_stack_with(&report, "fault"));
	for (size_t i = 0; i < report.profile_count; i++)
		whole += report.profile[i].self_percent;
	assert_true(whole > 99.999 && whole < 100.001);
	engine_linux.report_free(&report);
	engine_linux.close();
}

/* In memory that processes share. */
struct seen {
	pid_t process[CPUS];
	char group[CPUS][256];
	unsigned private[CPUS]; /* what each sees in memory that is not shared */
};

static unsigned written_by_one;

static void look_around(unsigned cpu, void *argument)
{
	struct seen *seen = argument;
	FILE *file = fopen("/proc/self/cgroup", "r");
	size_t got = fread(seen->group[cpu], 1, sizeof(seen->group[cpu]) - 1, file);

	seen->group[cpu][got] = '\0';
	fclose(file);
	seen->process[cpu] = getpid();
	require(engine_linux.map_anon(cpu, BASE, PAGE_BYTES, false) == 0);
	engine_linux.barrier();
	written_by_one += cpu == 1;
	engine_linux.measure_begin();
	require(engine_linux.touch(cpu, BASE, true) == 0);
	engine_linux.count_operations(1);
	engine_linux.barrier();
	seen->private[cpu] = written_by_one;
	engine_linux.measure_end();
}

static struct seen *make_seen(void)
{
	void *made =
	    mmap(NULL, sizeof(struct seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(made != MAP_FAILED);
	return made;
}

static void open_with_spaces(void)
{
	struct message why = {""};

	assert_int_equal(engine_linux.open(&config, &why), 0);
	for (unsigned i = 0; i < CPUS; i++)
		assert_int_equal(engine_linux.space_create(i), 0);
}

static void spaces_are_processes(void **state)
{
	struct seen *seen = make_seen();
	struct engine_statistics statistics;
	struct engine_timing timing;
	struct message why = {""};

	(void)state;
	open_with_spaces();
	if (engine_linux.run(look_around, seen, &timing, &why))
		fail_msg("%s", why.text);
	assert_int_equal(timing.operations, CPUS);
	for (unsigned i = 0; i < CPUS; i++) {
		assert_true(seen->process[i] && seen->process[i] != getpid());
		assert_true(seen->process[i] != seen->process[(i + 1) % CPUS]);
		assert_int_equal(seen->private[i], i == 1);
	}
	engine_linux.statistics(&statistics);
	assert_true(statistics.faults >= CPUS);
	engine_linux.close();
	munmap(seen, sizeof(*seen));
}

static void one_dies(unsigned cpu, void *unused)
{
	(void)unused;
	if (cpu == 1)
		raise(SIGKILL);
	engine_linux.barrier();
}

static void a_process_that_dies_ends_the_run(void **state)
{
	struct engine_timing timing;
	struct message why = {""};

	(void)state;
	open_with_spaces();
	assert_int_equal(engine_linux.run(one_dies, NULL, &timing, &why), -EIO);
	assert_string_equal(why.text, "a task's process was ended by signal 9 (Killed)");
	engine_linux.close();
}

static bool any_group_left(void)
{
	return !system("find /sys/fs/cgroup -name \"softfault-$PPID-*\" 2>/dev/null | grep -q .");
}

/* Where no control group can be made there is nothing to see here. */
static void groups_are_gone_afterwards(void **state)
{
	struct seen *seen = make_seen();
	struct engine_timing timing;
	struct message why = {""};
	char name[64];

	(void)state;
	assert_int_equal(engine_linux.open(&config, &why), 0);
	if (engine_linux.group_create(1, 0)) {
		engine_linux.close();
		munmap(seen, sizeof(*seen));
		skip();
	}
	assert_int_equal(engine_linux.group_create(2, 1), 0);
	for (unsigned i = 0; i < CPUS; i++)
		assert_int_equal(engine_linux.space_create_in(i, i % 3), 0);
	assert_true(any_group_left());
	if (engine_linux.run(look_around, seen, &timing, &why))
		fail_msg("%s", why.text);
	for (unsigned i = 1; i < 3; i++) {
		snprintf(name, sizeof(name), "/softfault-%ld-%u\n", (long)getpid(), i);
		assert_non_null(strstr(seen->group[i], name));
	}
	assert_null(strstr(seen->group[0], "/softfault-"));
	engine_linux.close();
	assert_false(any_group_left());
	munmap(seen, sizeof(*seen));
}

/* Somebody else has removed the group: the run says so, however soon its processes end. */
static void a_group_that_is_gone_is_an_error(void **state)
{
	struct engine_timing timing;
	struct message why = {""};

	(void)state;
	for (unsigned round = 0; round < 20; round++) {
		assert_int_equal(engine_linux.open(&config, &why), 0);
		if (engine_linux.group_create(1, 0)) {
			engine_linux.close();
			skip();
		}
		assert_int_equal(system("find /sys/fs/cgroup -depth -name \"softfault-$PPID-1\" -exec rmdir "
					"{} + 2>/dev/null"),
				 0);
		assert_false(any_group_left());
		assert_int_equal(engine_linux.space_create_in(0, 1), 0);
		assert_int_equal(engine_linux.run(spin, NULL, &timing, &why), -EACCES);
		assert_string_equal(why.text, "a task's process cannot enter its control group");
		engine_linux.close();
	}
}

static void refusals_say_why(void **state)
{
	struct engine_config bad = {.cpus = 0};
	struct message why = {""};

	(void)state;
	assert_int_equal(engine_linux.open(&bad, &why), -EINVAL);
	assert_non_null(strstr(why.text, "0 CPUs"));
	bad.cpus = engine_linux.cpus() + 1;
	assert_int_equal(engine_linux.open(&bad, &why), -EINVAL);
	assert_int_equal(engine_linux.open(&config, &why), 0);
	assert_int_equal(engine_linux.open(&config, &why), -EBUSY);
	assert_int_equal(engine_linux.space_create(0), 0);
	assert_int_equal(engine_linux.space_create(2), -EOPNOTSUPP);
	assert_int_equal(engine_linux.space_create(1), 0);
	assert_int_equal(engine_linux.run(spin, NULL, &(struct engine_timing){0}, &why), -EINVAL);
	assert_string_equal(why.text, "2 spaces of 3 CPUs: the linux engine has one for all or one each");
	assert_int_equal(engine_linux.map_anon(CPUS, BASE, PAGE_BYTES, false), -EOPNOTSUPP);
	assert_int_equal(engine_linux.map_anon(0, BASE + 1, PAGE_BYTES, false), -EINVAL);
	engine_linux.close();
	assert_null(engine_linux.map_pfn);
	assert_null(engine_linux.burst);
	assert_true(engine_linux.kernel);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_every_fault),         cmocka_unit_test(maps_a_file_of_memory),
	    cmocka_unit_test(bodies_may_give_up),         cmocka_unit_test(shows_a_profile_or_says_why_not),
	    cmocka_unit_test(spaces_are_processes),       cmocka_unit_test(a_process_that_dies_ends_the_run),
	    cmocka_unit_test(groups_are_gone_afterwards), cmocka_unit_test(a_group_that_is_gone_is_an_error),
	    cmocka_unit_test(refusals_say_why),
	};

	return cmocka_run_group_tests_name("lab/engine_linux", tests, NULL, NULL);
}
