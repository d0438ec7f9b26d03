/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/lockstat.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "vsmp/observe/calls.h"
#include "vsmp/observe/callsite.h"
#include "vsmp/observe/grow.h"
#include "vsmp/observe/observe.h"
#include "vsmp/observe/pairmap.h"
#include "vsmp/observe/texts.h"

struct lock_class {
	uint32_t name;
	struct vsmp_lock_row row; /* its numbers only; minima are UINT64_MAX at first */
};

/* A lock that a CPU holds. */
struct held {
	const void *lock;
	uint64_t since_cycles;
	uint32_t class;
	bool shared, measured;
};

/* A lock that a CPU waits for. They nest: a sleeping lock is built on a spinning one. */
struct waited {
	const void *lock;
	const struct call_node *site;
	uint64_t since_cycles;
	bool shared;
};

struct lock_cpu {
	struct held *held;
	size_t held_count, held_capacity;
	struct waited *waited;
	size_t waited_count, waited_capacity;
	uint64_t window_begin_cycles;
};

static struct {
	struct lock_cpu *cpus; /* NULL: nothing is collected */
	unsigned cpu_count;
	struct lock_class *classes;
	size_t class_count, class_capacity;
	struct pairmap by_pointer; /* (name's address, shared) to class + 1 */
	struct pairmap by_text;    /* (name's text, shared) to class + 1 */
	struct pairmap sites;      /* (class, node) to contentions */
	uint64_t dropped;
} lockstat;

int lockstat_open(unsigned cpus)
{
	memset(&lockstat, 0, sizeof(lockstat));
	lockstat.cpus = calloc(cpus, sizeof(*lockstat.cpus));
	lockstat.cpu_count = cpus;
	return lockstat.cpus ? 0 : -ENOMEM;
}

void lockstat_close(void)
{
	for (unsigned cpu = 0; lockstat.cpus && cpu < lockstat.cpu_count; cpu++) {
		free(lockstat.cpus[cpu].held);
		free(lockstat.cpus[cpu].waited);
	}
	free(lockstat.cpus);
	free(lockstat.classes);
	pairmap_free(&lockstat.by_pointer);
	pairmap_free(&lockstat.by_text);
	pairmap_free(&lockstat.sites);
	memset(&lockstat, 0, sizeof(lockstat));
}

uint64_t lockstat_dropped(void)
{
	return lockstat.dropped;
}

void lockstat_begin_window(unsigned cpu, uint64_t now_cycles)
{
	if (lockstat.cpus)
		lockstat.cpus[cpu].window_begin_cycles = now_cycles;
}

/* Finds or makes the class; -1 when there is no memory. */
static int64_t class_of(const char *name, bool shared)
{
	uint64_t *known = pairmap_at(&lockstat.by_pointer, (uintptr_t)name, shared), *class;
	struct lock_class *grown;
	uint32_t text;

	if (!known)
		return -1;
	if (*known)
		return (int64_t)(*known - 1);
	if (texts_add(name, &text))
		return -1;
	class = pairmap_at(&lockstat.by_text, text, shared);
	if (!class)
		return -1;
	if (!*class) {
		grown = grow_array(lockstat.classes, &lockstat.class_capacity, lockstat.class_count + 1,
				   sizeof(*grown));
		if (!grown)
			return -1;
		lockstat.classes = grown;
		lockstat.classes[lockstat.class_count] = (struct lock_class){
		    .name = text,
		    .row = {.shared = shared, .wait_min_cycles = UINT64_MAX, .hold_min_cycles = UINT64_MAX},
		};
		*class = ++lockstat.class_count;
	}
	*known = *class;
	return (int64_t)(*class - 1);
}

static struct waited *find_waited(struct lock_cpu *at, const void *lock, bool shared)
{
	for (size_t i = at->waited_count; i-- > 0;)
		if (at->waited[i].lock == lock && at->waited[i].shared == shared)
			return &at->waited[i];
	return NULL;
}

static struct held *find_held(struct lock_cpu *at, const void *lock, bool shared)
{
	for (size_t i = at->held_count; i-- > 0;)
		if (at->held[i].lock == lock && at->held[i].shared == shared)
			return &at->held[i];
	return NULL;
}

/* A lock that tells more than once that it waits waits since the first time. */
void observe_lock_contended(unsigned cpu, const void *lock, const char *name, bool shared,
			    uint64_t now_cycles)
{
	struct lock_cpu *at;
	struct waited *grown;

	(void)name;
	if (!lockstat.cpus)
		return;
	at = &lockstat.cpus[cpu];
	if (find_waited(at, lock, shared))
		return;
	grown = grow_array(at->waited, &at->waited_capacity, at->waited_count + 1, sizeof(*grown));
	if (!grown) {
		lockstat.dropped++;
		return;
	}
	at->waited = grown;
	at->waited[at->waited_count++] = (struct waited){
	    .lock = lock, .site = calls_cursor(cpu), .since_cycles = now_cycles, .shared = shared};
}

static void count_wait(uint32_t class, const struct waited *waited, uint64_t begin_cycles,
		       uint64_t now_cycles)
{
	struct vsmp_lock_row *row = &lockstat.classes[class].row;
	uint64_t since = waited->since_cycles > begin_cycles ? waited->since_cycles : begin_cycles;
	uint64_t wait_cycles = now_cycles - since;
	uint64_t *site = pairmap_at(&lockstat.sites, class, (uintptr_t)waited->site);

	row->contentions++;
	row->wait_total_cycles += wait_cycles;
	if (wait_cycles < row->wait_min_cycles)
		row->wait_min_cycles = wait_cycles;
	if (wait_cycles > row->wait_max_cycles)
		row->wait_max_cycles = wait_cycles;
	if (site)
		++*site;
	else
		lockstat.dropped++;
}

void observe_lock_acquired(unsigned cpu, const void *lock, const char *name, bool shared, uint64_t now_cycles,
			   bool bounced, bool measuring)
{
	struct lock_cpu *at;
	struct waited *waited;
	struct held *grown;
	int64_t class;

	if (!lockstat.cpus)
		return;
	at = &lockstat.cpus[cpu];
	class = class_of(name, shared);
	waited = find_waited(at, lock, shared);
	if (measuring && class >= 0) {
		struct vsmp_lock_row *row = &lockstat.classes[class].row;

		row->acquisitions++;
		row->acquisition_bounces += bounced;
		row->contended_bounces += bounced && waited;
		if (waited)
			count_wait((uint32_t) class, waited, at->window_begin_cycles, now_cycles);
	}
	if (waited) {
		at->waited_count--;
		memmove(waited, waited + 1,
			(size_t)(&at->waited[at->waited_count] - waited) * sizeof(*waited));
	}
	grown = grow_array(at->held, &at->held_capacity, at->held_count + 1, sizeof(*grown));
	if (!grown || class < 0) {
		lockstat.dropped++;
		return;
	}
	at->held = grown;
	at->held[at->held_count++] = (struct held){.lock = lock,
						   .since_cycles = now_cycles,
						   .class = (uint32_t) class,
						   .shared = shared,
						   .measured = measuring};
}

/* A hold counts when the lock was taken and released inside windows. */
void observe_lock_released(unsigned cpu, const void *lock, const char *name, bool shared, uint64_t now_cycles,
			   bool measuring)
{
	struct lock_cpu *at;
	struct held *held;

	(void)name;
	if (!lockstat.cpus)
		return;
	at = &lockstat.cpus[cpu];
	held = find_held(at, lock, shared);
	/* Another CPU took it. */
	for (unsigned other = 0; !held && other < lockstat.cpu_count; other++) {
		at = &lockstat.cpus[other];
		held = find_held(at, lock, shared);
	}
	if (!held)
		return;
	if (measuring && held->measured) {
		struct vsmp_lock_row *row = &lockstat.classes[held->class].row;
		/* The clocks of two CPUs may be apart. */
		uint64_t hold_cycles = now_cycles > held->since_cycles ? now_cycles - held->since_cycles : 0;

		row->hold_total_cycles += hold_cycles;
		if (hold_cycles < row->hold_min_cycles)
			row->hold_min_cycles = hold_cycles;
		if (hold_cycles > row->hold_max_cycles)
			row->hold_max_cycles = hold_cycles;
	}
	at->held_count--;
	memmove(held, held + 1, (size_t)(&at->held[at->held_count] - held) * sizeof(*held));
}

static int compare_sites(const void *left, const void *right)
{
	const struct vsmp_lock_site_row *a = left, *b = right;

	if (a->contentions != b->contentions)
		return a->contentions > b->contentions ? -1 : 1;
	return strcmp(a->symbol, b->symbol);
}

static int compare_rows(const void *left, const void *right)
{
	const struct vsmp_lock_row *a = left, *b = right;
	int order;

	if (a->wait_total_cycles != b->wait_total_cycles)
		return a->wait_total_cycles > b->wait_total_cycles ? -1 : 1;
	if (a->contentions != b->contentions)
		return a->contentions > b->contentions ? -1 : 1;
	if (a->acquisitions != b->acquisitions)
		return a->acquisitions > b->acquisitions ? -1 : 1;
	order = strcmp(a->name, b->name);
	return order ? order : a->shared - b->shared;
}

static int add_site(struct vsmp_lock_row *row, const char *symbol, uint64_t contentions)
{
	struct vsmp_lock_site_row *grown;
	size_t capacity = row->site_count;

	for (size_t i = 0; i < row->site_count; i++) {
		if (!strcmp(row->sites[i].symbol, symbol)) {
			row->sites[i].contentions += contentions;
			return 0;
		}
	}
	grown = grow_array(row->sites, &capacity, row->site_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	row->sites = grown;
	grown[row->site_count].contentions = contentions;
	grown[row->site_count].symbol = strdup(symbol);
	if (!grown[row->site_count].symbol)
		return -ENOMEM;
	row->site_count++;
	return 0;
}

static int add_sites(const uint32_t *row_of, struct vsmp_lock_row *rows)
{
	for (size_t i = 0; i < lockstat.sites.capacity; i++) {
		const struct pairmap_entry *entry = &lockstat.sites.entries[i];
		uint32_t text;

		if (!entry->value)
			continue;
		if (callsite_of_lock((const struct call_node *)(uintptr_t)entry->second, &text) ||
		    add_site(&rows[row_of[entry->first] - 1], texts_get(text), entry->value))
			return -ENOMEM;
	}
	return 0;
}

int lockstat_report(struct vsmp_report *report)
{
	uint32_t *row_of;
	int error = 0;

	if (!lockstat.class_count)
		return 0;
	row_of = calloc(lockstat.class_count, sizeof(*row_of));
	report->locks = calloc(lockstat.class_count, sizeof(*report->locks));
	if (!row_of || !report->locks)
		error = -ENOMEM;
	for (size_t i = 0; i < lockstat.class_count && !error; i++) {
		struct vsmp_lock_row *row = &report->locks[report->lock_count];

		if (!lockstat.classes[i].row.acquisitions)
			continue;
		*row = lockstat.classes[i].row;
		if (row->wait_min_cycles == UINT64_MAX)
			row->wait_min_cycles = 0;
		if (row->hold_min_cycles == UINT64_MAX)
			row->hold_min_cycles = 0;
		row->name = strdup(texts_get(lockstat.classes[i].name));
		if (!row->name) {
			error = -ENOMEM;
			break;
		}
		row_of[i] = (uint32_t)++report->lock_count;
	}
	if (!error)
		error = add_sites(row_of, report->locks);
	free(row_of);
	if (error)
		return error;
	for (size_t i = 0; i < report->lock_count; i++)
		if (report->locks[i].site_count)
			qsort(report->locks[i].sites, report->locks[i].site_count,
			      sizeof(*report->locks[i].sites), compare_sites);
	qsort(report->locks, report->lock_count, sizeof(*report->locks), compare_rows);
	return 0;
}
