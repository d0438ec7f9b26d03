/* SPDX-License-Identifier: MIT */
#include "vsmp/observe/lines.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "vsmp/observe/calls.h"
#include "vsmp/observe/callsite.h"
#include "vsmp/observe/grow.h"
#include "vsmp/observe/linemap.h"
#include "vsmp/observe/naming.h"
#include "vsmp/observe/observe.h"
#include "vsmp/observe/texts.h"

/* Bytes of the line that transfers were asked for. */
struct touch {
	uint8_t offset, bytes;
	uint64_t transfers;
};

struct line_site {
	const struct call_node *node;
	bool write;
	uint64_t transfers;
};

/* One line for as long as one thing stood there. */
struct moved_line {
	struct moved_line *older; /* the same line when something else stood there */
	struct naming_place place;
	bool renewed; /* its memory may have become something else: look before the next event */
	uint64_t transfers, invalidations, wait_cycles;
	struct touch *touches;
	size_t touch_count, touch_capacity;
	struct line_site *sites;
	size_t site_count, site_capacity;
	uint64_t cpus[]; /* a set of readers, then one of writers */
};

static struct {
	bool collecting;
	unsigned words;     /* of a set of CPUs */
	struct linemap map; /* to struct moved_line * */
	uint64_t dropped;
} moved;

void lines_observe(unsigned cpus)
{
	memset(&moved, 0, sizeof(moved));
	moved.collecting = true;
	moved.words = (cpus + 63) / 64;
	linemap_open(&moved.map, sizeof(struct moved_line *));
}

static void free_line(uint64_t line, void *record, void *context)
{
	struct moved_line *at = *(struct moved_line **)record;

	(void)line, (void)context;
	while (at) {
		struct moved_line *older = at->older;

		free(at->touches);
		free(at->sites);
		free(at);
		at = older;
	}
}

void lines_ignore(void)
{
	linemap_each(&moved.map, free_line, NULL);
	linemap_close(&moved.map);
	memset(&moved, 0, sizeof(moved));
}

uint64_t lines_dropped(void)
{
	return moved.dropped;
}

static void renew_line(uint64_t line, void *record, void *context)
{
	struct moved_line *newest = *(struct moved_line **)record;

	(void)line, (void)context;
	if (newest)
		newest->renewed = true;
}

void lines_renew(uint64_t first, uint64_t lines)
{
	linemap_each_in(&moved.map, first, lines, renew_line, NULL);
}

/* Finds what stands at the line now, and makes it the newest; or makes it. */
static struct moved_line *look_again(struct moved_line **newest, uint64_t line, unsigned offset)
{
	struct naming_place place;
	struct moved_line **link, *at;

	if (naming_place_of(line, offset, &place))
		return NULL;
	for (link = newest; (at = *link); link = &at->older) {
		if (!naming_same_place(&at->place, &place))
			continue;
		*link = at->older;
		break;
	}
	if (!at) {
		at = calloc(1, sizeof(*at) + 2 * moved.words * sizeof(at->cpus[0]));
		if (!at)
			return NULL;
		at->place = place;
	}
	at->renewed = false;
	at->older = *newest;
	*newest = at;
	return at;
}

static struct moved_line *line_at(uint64_t line, unsigned offset)
{
	struct moved_line **newest = linemap_at(&moved.map, line);

	if (!newest)
		return NULL;
	if (likely(*newest && !(*newest)->renewed))
		return *newest;
	return look_again(newest, line, offset);
}

static void add_cpu(struct moved_line *at, unsigned cpu, bool write)
{
	at->cpus[(write ? moved.words : 0) + cpu / 64] |= 1ull << (cpu % 64);
}

static bool count_touch(struct moved_line *at, unsigned offset, unsigned bytes)
{
	struct touch *grown;

	for (size_t i = 0; i < at->touch_count; i++) {
		if (at->touches[i].offset == offset && at->touches[i].bytes == bytes) {
			at->touches[i].transfers++;
			return true;
		}
	}
	grown = grow_array(at->touches, &at->touch_capacity, at->touch_count + 1, sizeof(*grown));
	if (!grown)
		return false;
	at->touches = grown;
	at->touches[at->touch_count++] =
	    (struct touch){.offset = (uint8_t)offset, .bytes = (uint8_t)bytes, .transfers = 1};
	return true;
}

static bool count_site(struct moved_line *at, const struct call_node *node, bool write)
{
	struct line_site *grown;

	for (size_t i = 0; i < at->site_count; i++) {
		if (at->sites[i].node == node && at->sites[i].write == write) {
			at->sites[i].transfers++;
			return true;
		}
	}
	grown = grow_array(at->sites, &at->site_capacity, at->site_count + 1, sizeof(*grown));
	if (!grown)
		return false;
	at->sites = grown;
	at->sites[at->site_count++] = (struct line_site){.node = node, .write = write, .transfers = 1};
	return true;
}

void observe_transfer(unsigned cpu, uint64_t line, unsigned offset, unsigned bytes, bool write,
		      uint64_t wait_cycles)
{
	struct moved_line *at;

	if (!moved.collecting)
		return;
	at = line_at(line, offset);
	if (!at) {
		moved.dropped++;
		return;
	}
	at->transfers++;
	at->wait_cycles += wait_cycles;
	add_cpu(at, cpu, write);
	if (!count_touch(at, offset, bytes) || !count_site(at, calls_cursor(cpu), write))
		moved.dropped++;
}

void observe_invalidation(unsigned cpu, uint64_t line, unsigned copies)
{
	struct moved_line *at;

	if (!moved.collecting)
		return;
	at = line_at(line, 0);
	if (!at) {
		moved.dropped++;
		return;
	}
	at->invalidations += copies;
	add_cpu(at, cpu, true);
}

/* --- The report ------------------------------------------------------------------------------------------
 */

/* The lines of one row. */
struct line_group {
	struct vsmp_line_row row; /* name and sites come last */
	uint64_t last_line;       /* + 1: the line counted last, which may have had several lives */
	struct naming_tally fields;
	uint64_t *cpus;
	size_t site_capacity;
};

struct line_groups {
	struct line_group *groups;
	size_t count, capacity;
	struct pairmap by_field; /* (base, field) to group + 1 */
	int error;
};

static int name_touches(const struct moved_line *at, struct naming_tally *tally)
{
	struct naming_field field;
	int error = 0;

	for (size_t i = 0; i < at->touch_count && !error; i++) {
		error = naming_field(&at->place, at->touches[i].offset, at->touches[i].bytes, &field);
		if (!error)
			error = naming_count(tally, field, at->touches[i].transfers);
	}
	/* Only thrown out, and never filled from another core: nobody said which bytes it was about. */
	if (!at->touch_count) {
		error = naming_field(&at->place, 0, CACHE_LINE_BYTES, &field);
		if (!error)
			error = naming_count(tally, field, 0);
	}
	return error;
}

static struct line_group *group_of(struct line_groups *groups, struct naming_field field)
{
	uint64_t *index = pairmap_at(&groups->by_field, field.base, field.field);
	struct line_group *grown, *group;

	if (!index)
		return NULL;
	if (*index)
		return &groups->groups[*index - 1];
	grown = grow_array(groups->groups, &groups->capacity, groups->count + 1, sizeof(*grown));
	if (!grown)
		return NULL;
	groups->groups = grown;
	group = &grown[groups->count];
	memset(group, 0, sizeof(*group));
	group->cpus = calloc(2 * moved.words, sizeof(*group->cpus));
	if (!group->cpus)
		return NULL;
	*index = ++groups->count;
	return group;
}

static int add_site(struct line_group *group, const struct line_site *site)
{
	struct vsmp_line_row *row = &group->row;
	struct vsmp_line_site_row *grown;
	uint32_t text;
	int error = callsite_of_line(site->node, &text);

	if (error)
		return error;
	for (size_t i = 0; i < row->site_count; i++) {
		if (row->sites[i].writes == site->write && !strcmp(row->sites[i].symbol, texts_get(text))) {
			row->sites[i].transfers += site->transfers;
			return 0;
		}
	}
	grown = grow_array(row->sites, &group->site_capacity, row->site_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	row->sites = grown;
	grown[row->site_count] =
	    (struct vsmp_line_site_row){.writes = site->write, .transfers = site->transfers};
	grown[row->site_count].symbol = strdup(texts_get(text));
	if (!grown[row->site_count].symbol)
		return -ENOMEM;
	row->site_count++;
	return 0;
}

static int add_line(struct line_groups *groups, uint64_t line, const struct moved_line *at,
		    const struct naming_tally *tally)
{
	struct line_group *group = group_of(groups, naming_main(tally));
	int error;

	if (!group)
		return -ENOMEM;
	group->row.lines += group->last_line != line + 1;
	group->last_line = line + 1;
	group->row.transfers += at->transfers;
	group->row.invalidations += at->invalidations;
	group->row.wait_cycles += at->wait_cycles;
	for (unsigned word = 0; word < 2 * moved.words; word++)
		group->cpus[word] |= at->cpus[word];
	error = naming_merge(&group->fields, tally);
	for (size_t i = 0; i < at->site_count && !error; i++)
		error = add_site(group, &at->sites[i]);
	return error;
}

static void group_line(uint64_t line, void *record, void *context)
{
	struct line_groups *groups = context;

	for (const struct moved_line *at = *(struct moved_line **)record; at && !groups->error;
	     at = at->older) {
		struct naming_tally tally = {0};

		groups->error = name_touches(at, &tally);
		if (!groups->error)
			groups->error = add_line(groups, line, at, &tally);
		naming_free(&tally);
	}
}

static unsigned count_cpus(const uint64_t *cpus)
{
	unsigned count = 0;

	for (unsigned word = 0; word < moved.words; word++)
		count += (unsigned)__builtin_popcountll(cpus[word]);
	return count;
}

static int compare_sites(const void *left, const void *right)
{
	const struct vsmp_line_site_row *a = left, *b = right;
	int order;

	if (a->transfers != b->transfers)
		return a->transfers > b->transfers ? -1 : 1;
	order = strcmp(a->symbol, b->symbol);
	return order ? order : b->writes - a->writes;
}

static int compare_rows(const void *left, const void *right)
{
	const struct vsmp_line_row *a = left, *b = right;

	if (a->transfers != b->transfers)
		return a->transfers > b->transfers ? -1 : 1;
	if (a->wait_cycles != b->wait_cycles)
		return a->wait_cycles > b->wait_cycles ? -1 : 1;
	if (a->invalidations != b->invalidations)
		return a->invalidations > b->invalidations ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Turns the group into the next row; its sites become the row's. */
static int add_row(struct vsmp_report *report, struct line_group *group)
{
	struct vsmp_line_row *row = &report->lines[report->line_count];

	group->row.name = naming_join(&group->fields, true);
	if (!group->row.name)
		return -ENOMEM;
	group->row.readers = count_cpus(group->cpus);
	group->row.writers = count_cpus(group->cpus + moved.words);
	if (group->row.site_count)
		qsort(group->row.sites, group->row.site_count, sizeof(*group->row.sites), compare_sites);
	*row = group->row;
	memset(&group->row, 0, sizeof(group->row));
	report->line_count++;
	return 0;
}

static void free_group(struct line_group *group)
{
	for (size_t i = 0; i < group->row.site_count; i++)
		free(group->row.sites[i].symbol);
	free(group->row.sites);
	free(group->cpus);
	naming_free(&group->fields);
}

int lines_report(struct vsmp_report *report)
{
	struct line_groups groups = {0};

	linemap_each(&moved.map, group_line, &groups);
	if (!groups.error && groups.count) {
		report->lines = calloc(groups.count, sizeof(*report->lines));
		groups.error = report->lines ? 0 : -ENOMEM;
	}
	for (size_t i = 0; i < groups.count; i++) {
		if (!groups.error)
			groups.error = add_row(report, &groups.groups[i]);
		free_group(&groups.groups[i]);
	}
	free(groups.groups);
	pairmap_free(&groups.by_field);
	if (!groups.error && report->line_count)
		qsort(report->lines, report->line_count, sizeof(*report->lines), compare_rows);
	return groups.error;
}
