/* SPDX-License-Identifier: MIT */
#include "model/memtype.h"

#include <errno.h>
#include <string.h>

void model_memtype_init(struct model_memtype *model, uint64_t ram_pages, uint64_t pages)
{
	memset(model, 0, sizeof(*model));
	model->ram_pages = ram_pages;
	model->pages = pages;
}

static enum memtype type_of(const struct model_memtype *model, uint64_t page)
{
	if (page < model->ram_pages)
		return model->ram_type[page] == MEMTYPE_DEFAULT ? MEMTYPE_WB : model->ram_type[page];
	for (unsigned i = 0; i < model->reservations; i++)
		if (model->reservation[i].first <= page && page < model->reservation[i].end)
			return model->reservation[i].type;
	return MEMTYPE_UC_MINUS;
}

enum memtype model_memtype_lookup(const struct model_memtype *model, uint64_t physical)
{
	return type_of(model, physical / PORT_PAGE_SIZE);
}

void model_memtype_pin(struct model_memtype *model, uint64_t start, uint64_t end, int by)
{
	for (uint64_t page = start / PORT_PAGE_SIZE; page < end / PORT_PAGE_SIZE; page++)
		model->pins[page] += by;
}

/* Whether a pinned page has another type after a change than before; the change is then undone. */
static bool changes_pinned(const struct model_memtype *before, const struct model_memtype *after)
{
	for (uint64_t page = 0; page < before->pages; page++)
		if (before->pins[page] && type_of(before, page) != type_of(after, page))
			return true;
	return false;
}

static bool range_bad(const struct model_memtype *model, uint64_t start, uint64_t end)
{
	uint64_t ram_bytes = model->ram_pages * PORT_PAGE_SIZE;

	return start % PORT_PAGE_SIZE || end % PORT_PAGE_SIZE || end <= start || end > UINT64_C(1) << 52 ||
	       (start < ram_bytes && end > ram_bytes);
}

int model_memtype_reserve(struct model_memtype *model, uint64_t start, uint64_t end, enum memtype requested,
			  enum memtype *granted)
{
	static struct model_memtype before;
	uint64_t first = start / PORT_PAGE_SIZE, last = end / PORT_PAGE_SIZE;

	if (range_bad(model, start, end) || (int)requested < MEMTYPE_DEFAULT || requested > MEMTYPE_WB)
		return -EINVAL;
	before = *model;
	*granted = requested;
	if (first < model->ram_pages) {
		if (requested == MEMTYPE_DEFAULT)
			*granted = MEMTYPE_WB;
		for (uint64_t page = first; page < last; page++)
			if (model->ram_type[page] != MEMTYPE_DEFAULT)
				return -EBUSY;
		for (uint64_t page = first; page < last; page++)
			model->ram_type[page] = *granted;
	} else {
		for (unsigned i = 0; i < model->reservations; i++) {
			if (model->reservation[i].first >= last || model->reservation[i].end <= first)
				continue;
			if (*granted == MEMTYPE_DEFAULT)
				*granted = model->reservation[i].type;
			if (*granted != model->reservation[i].type)
				return -EBUSY;
		}
		if (*granted == MEMTYPE_DEFAULT)
			*granted = MEMTYPE_UC_MINUS;
		model->reservation[model->reservations].first = first;
		model->reservation[model->reservations].end = last;
		model->reservation[model->reservations].type = *granted;
		model->reservations++;
	}
	if (changes_pinned(&before, model)) {
		*model = before;
		return -EBUSY;
	}
	return 0;
}

int model_memtype_free(struct model_memtype *model, uint64_t start, uint64_t end)
{
	static struct model_memtype before;
	uint64_t first = start / PORT_PAGE_SIZE, last = end / PORT_PAGE_SIZE;
	unsigned i;

	if (range_bad(model, start, end))
		return -EINVAL;
	before = *model;
	if (first < model->ram_pages) {
		for (uint64_t page = first; page < last; page++)
			if (model->ram_type[page] == MEMTYPE_DEFAULT)
				return -EINVAL;
		for (uint64_t page = first; page < last; page++)
			model->ram_type[page] = MEMTYPE_DEFAULT;
	} else {
		for (i = 0; i < model->reservations; i++)
			if (model->reservation[i].first == first && model->reservation[i].end == last)
				break;
		if (i == model->reservations)
			return -EINVAL;
		model->reservation[i] = model->reservation[--model->reservations];
	}
	if (changes_pinned(&before, model)) {
		*model = before;
		return -EBUSY;
	}
	return 0;
}
