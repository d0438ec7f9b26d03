/* SPDX-License-Identifier: MIT */
#include "model/pfn_space.h"

#include <errno.h>
#include <string.h>

void model_pfn_space_init(struct model_pfn_space *model, struct model_memtype *memtype, uintptr_t base,
			  uint64_t own_frames)
{
	memset(model, 0, sizeof(*model));
	model->memtype = memtype;
	model->base = base;
	model->own_frames = own_frames;
}

static bool range_bad(uintptr_t address, size_t length)
{
	return length == 0 || address % PORT_PAGE_SIZE || length % PORT_PAGE_SIZE ||
	       length > (uintptr_t)1 << 47 || address + length > (uintptr_t)1 << 47 ||
	       address + length < address;
}

static struct model_pfn_page *page_of(struct model_pfn_space *model, uintptr_t address)
{
	uintptr_t at = (address - model->base) / PORT_PAGE_SIZE;

	return address >= model->base && at < MODEL_WINDOW_PAGES ? &model->page[at] : NULL;
}

int model_map_pfn(struct model_pfn_space *model, uintptr_t address, size_t length, uint64_t pfn,
		  bool writable)
{
	uint64_t pages = length / PORT_PAGE_SIZE, ram = model->memtype->ram_pages;

	if (range_bad(address, length) || pfn < model->own_frames || pfn + pages > UINT64_C(1) << 40 ||
	    (pfn < ram && pfn + pages > ram))
		return -EINVAL;
	for (uint64_t i = 0; i < pages; i++)
		if (page_of(model, address + i * PORT_PAGE_SIZE)->mapped)
			return -EEXIST;
	for (uint64_t i = 0; i < pages; i++)
		*page_of(model, address + i * PORT_PAGE_SIZE) =
		    (struct model_pfn_page){.mapped = true, .writable = writable, .pfn = pfn + i};
	model_memtype_pin(model->memtype, pfn * PORT_PAGE_SIZE, (pfn + pages) * PORT_PAGE_SIZE, 1);
	return 0;
}

int model_unmap(struct model_pfn_space *model, uintptr_t address, size_t length)
{
	if (range_bad(address, length))
		return -EINVAL;
	for (size_t i = 0; i < length / PORT_PAGE_SIZE; i++) {
		struct model_pfn_page *page = page_of(model, address + i * PORT_PAGE_SIZE);

		if (page && page->mapped)
			model_memtype_pin(model->memtype, page->pfn * PORT_PAGE_SIZE,
					  (page->pfn + 1) * PORT_PAGE_SIZE, -1);
		if (page)
			*page = (struct model_pfn_page){.mapped = false};
	}
	return 0;
}

int model_touch(struct model_pfn_space *model, uintptr_t address, bool write)
{
	struct model_pfn_page *page = page_of(model, address);

	if (!page || !page->mapped)
		return -EFAULT;
	if (write && !page->writable)
		return -EACCES;
	page->present = true;
	page->dirty |= write;
	return 0;
}

uint64_t model_pte(const struct model_pfn_space *model, uintptr_t address)
{
	const struct model_pfn_page *page = page_of((struct model_pfn_space *)model, address);
	uint64_t pte;

	if (!page || !page->present)
		return 0;
	/* Present, user, accessed, software bit 9, no execution; the numbers are the processor manual's. */
	pte = page->pfn << 12 | 1 | 4 | 1 << 5 | 1 << 9 | UINT64_C(1) << 63;
	if (page->writable)
		pte |= 1 << 1;
	if (page->dirty)
		pte |= 1 << 6;
	switch (model_memtype_lookup(model->memtype, page->pfn * PORT_PAGE_SIZE)) {
	case MEMTYPE_WC:
		return pte | 1 << 3;
	case MEMTYPE_UC_MINUS:
		return pte | 1 << 4;
	default:
		return pte;
	}
}
