/* SPDX-License-Identifier: MIT */
/*
 * Private memory of a few spaces that come from each other by forks, swapped out at random while transfers of
 * swap fail, against an array of what each page holds. No byte may be lost: what cannot be read is told, and
 * can be read later.
 */
#include "softfault.h"
#include "tests/common/memory_backing.h"
#include "tests/common/swap_out.h"
#include "tests/unit/mm/fault_fixture.h"

#define FRAMES     4096u
#define SPACES     4u
#define PAGES      96u
#define SLOTS      192u /* of each of two areas; fewer than all spaces can have */
#define OPERATIONS 6000u
#define NOTHING    UINT64_MAX

struct naive_space {
	struct sf_space *space; /* NULL: none */
	uint64_t
	    value[PAGES]; /* the first word, and the number of the page in the last; NOTHING: not mapped */
	bool writable[PAGES];
};

static struct {
	struct sf_system *system;
	struct naive_space space[SPACES];
	struct memory_backing file[2];
	struct random random;
	uint64_t refused;
} bench;

static uint64_t at(unsigned page)
{
	return BASE + page * PAGE;
}

static unsigned below(unsigned bound)
{
	return (unsigned)random_below(&bench.random, bound);
}

static void heal(void)
{
	for (unsigned i = 0; i < 2; i++)
		atomic_store(&bench.file[i].good, MEMORY_BACKING_NEVER);
}

/* Only what has to be read, or to be made room for, can be refused while transfers fail. */
static void assert_refused(const struct sf_signal *signal)
{
	assert_int_equal(signal->signal, 7);
	bench.refused++;
	heal();
}

static void write_page(struct naive_space *naive, unsigned page)
{
	uint64_t value = random_next(&bench.random) >> 1, number = page;
	struct sf_signal signal;

	if (naive->value[page] == NOTHING || !naive->writable[page])
		return;
	while (sf_write(naive->space, at(page), &value, 8, &signal) != 8)
		assert_refused(&signal);
	while (sf_write(naive->space, at(page) + PAGE - 8, &number, 8, &signal) != 8)
		assert_refused(&signal);
	naive->value[page] = value;
}

static void read_page(const struct naive_space *naive, unsigned page)
{
	uint64_t value, number;
	struct sf_signal signal;

	if (naive->value[page] == NOTHING)
		return;
	while (sf_read(naive->space, at(page), &value, 8, &signal) != 8)
		assert_refused(&signal);
	while (sf_read(naive->space, at(page) + PAGE - 8, &number, 8, &signal) != 8)
		assert_refused(&signal);
	if (value != naive->value[page] || number != (value ? page : 0))
		fail_msg("page %u of space %u holds %#llx and %llu, not %#llx", page,
			 (unsigned)(naive - bench.space), (unsigned long long)value,
			 (unsigned long long)number, (unsigned long long)naive->value[page]);
}

static void map_pages(struct naive_space *naive, unsigned first, unsigned end)
{
	map_at(naive->space, at(first), end - first, RW, SF_MAP_PRIVATE);
	for (unsigned i = first; i < end; i++) {
		naive->value[i] = 0;
		naive->writable[i] = true;
	}
}

/* Only what is mapped throughout can be asked for without a complaint; the rest is done all the same. */
static void advise_pages(struct naive_space *naive, unsigned first, unsigned end, int advice)
{
	int error = sf_advise(naive->space, at(first), (end - first) * PAGE, advice);

	assert_true(!error || error == -ENOMEM);
	for (unsigned i = first; i < end && advice == SF_ADVICE_DONTNEED; i++)
		if (naive->value[i] != NOTHING)
			naive->value[i] = 0;
}

static void protect_pages(struct naive_space *naive, unsigned first, unsigned end, bool writable)
{
	for (unsigned i = first; i < end; i++) {
		if (naive->value[i] == NOTHING)
			continue;
		assert_int_equal(sf_protect(naive->space, at(i), PAGE, writable ? RW : SF_PROT_READ), 0);
		naive->writable[i] = writable;
	}
}

static void put_out_by_hand(struct naive_space *naive, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++)
		(void)swap_out(naive->space, at(i), below(2));
}

static void fork_space(struct naive_space *parent)
{
	for (unsigned i = 0; i < SPACES; i++) {
		struct naive_space *child = &bench.space[i];

		if (child->space)
			continue;
		*child = *parent;
		assert_int_equal(sf_space_fork(parent->space, &child->space), 0);
		return;
	}
}

static void end_space(struct naive_space *naive)
{
	for (unsigned i = 0; i < SPACES; i++) {
		if (&bench.space[i] == naive || !bench.space[i].space)
			continue;
		sf_space_destroy(naive->space);
		naive->space = NULL;
		return;
	}
}

static void make_bad(void)
{
	static const int errors[] = {-EIO, -ENOSPC, -ETIMEDOUT};
	struct memory_backing *file = &bench.file[below(2)];

	file->error = errors[below(3)];
	file->late = below(2);
	file->fails_once = below(2);
	atomic_store(&file->good, below(6));
}

static void operate(void)
{
	struct naive_space *naive;
	unsigned first = below(PAGES), end = first + 1 + below(PAGES - first < 16 ? PAGES - first : 16);

	do
		naive = &bench.space[below(SPACES)];
	while (!naive->space);
	switch (below(16)) {
	case 0:
	case 1:
	case 2:
		for (unsigned i = first; i < end; i++)
			write_page(naive, i);
		break;
	case 3:
	case 4:
		for (unsigned i = first; i < end; i++)
			read_page(naive, i);
		break;
	case 5:
	case 6:
	case 7:
		advise_pages(naive, first, end, SF_ADVICE_PAGEOUT);
		break;
	case 8:
		put_out_by_hand(naive, first, end);
		break;
	case 9:
		advise_pages(naive, first, end, below(2) ? SF_ADVICE_DONTNEED : SF_ADVICE_COLD);
		break;
	case 10:
		assert_int_equal(sf_unmap(naive->space, at(first), (end - first) * PAGE), 0);
		for (unsigned i = first; i < end; i++)
			naive->value[i] = NOTHING;
		break;
	case 11:
		map_pages(naive, first, end);
		break;
	case 12:
		protect_pages(naive, first, end, below(3));
		break;
	case 13:
		fork_space(naive);
		break;
	case 14:
		end_space(naive);
		break;
	default:
		make_bad();
	}
}

static void check_all(void)
{
	heal();
	for (unsigned i = 0; i < SPACES; i++)
		for (unsigned page = 0; page < PAGES && bench.space[i].space; page++)
			read_page(&bench.space[i], page);
	assert_good(bench.system);
}

static void run(const struct policy *policy, uint64_t seed)
{
	struct sf_swap_statistics swap;

	memset(&bench, 0, sizeof(bench));
	random_seed(&bench.random, seed);
	bench.system = fault_system(policy, FRAMES);
	for (unsigned i = 0; i < 2; i++) {
		memory_backing_open(&bench.file[i], SLOTS * PAGE, SLOTS * PAGE);
		assert_int_equal(sf_swap_add(bench.system, &bench.file[i].backing, (int)below(2)), 0);
	}
	bench.space[0].space = fault_space(bench.system);
	map_pages(&bench.space[0], 0, PAGES);
	for (unsigned i = 0; i < OPERATIONS; i++) {
		operate();
		if (i % 100 == 99)
			check_all();
	}
	sf_swap_statistics(bench.system, &swap);
	assert_true(swap.written > OPERATIONS / 10 && swap.read > OPERATIONS / 40 && bench.refused);
	for (unsigned i = 0; i < SPACES; i++)
		if (bench.space[i].space)
			sf_space_destroy(bench.space[i].space);
	sf_swap_statistics(bench.system, &swap);
	assert_int_equal(swap.used, 0);
	fault_system_end(bench.system);
	for (unsigned i = 0; i < 2; i++)
		memory_backing_close(&bench.file[i]);
}

static void no_byte_is_lost(void **state)
{
	struct policy policy;

	(void)state;
	for (unsigned number = 0; fault_policy(number, &policy, false); number++) {
		print_message("policy %u, seed %u\n", number, 100 + number);
		run(&policy, 100 + number);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {fault_test(no_byte_is_lost)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
