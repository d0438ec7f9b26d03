/* SPDX-License-Identifier: MIT */
#include "mm/swap/swap_memory.h"

#include "base/compiler.h"
#include "port/memory.h"
#include "port/page.h"

struct swap_memory {
	struct sf_backing backing;
	char *contents; /* address space of as many pages; used only where written */
	bool structure_only;
};

static struct swap_memory *memory_of(struct sf_backing *backing)
{
	return container_of(backing, struct swap_memory, backing);
}

static int memory_read(struct sf_backing *backing, struct sf_io *io)
{
	struct swap_memory *memory = memory_of(backing);

	for (unsigned i = 0; i < io->count; i++)
		port_page_copy(io->page[i], memory->contents + io->offset + (i << PORT_PAGE_SHIFT),
			       memory->structure_only);
	sf_io_done(io, 0);
	return 0;
}

static int memory_write(struct sf_backing *backing, struct sf_io *io)
{
	struct swap_memory *memory = memory_of(backing);

	for (unsigned i = 0; i < io->count; i++)
		port_page_copy(memory->contents + io->offset + (i << PORT_PAGE_SHIFT), io->page[i],
			       memory->structure_only);
	sf_io_done(io, 0);
	return 0;
}

static void memory_release(struct sf_backing *backing)
{
	struct swap_memory *memory = memory_of(backing);

	port_memory_free(memory->contents, backing->bytes);
	port_memory_free(memory, sizeof(*memory));
}

static const struct sf_backing_ops memory_ops = {
    .read = memory_read,
    .write = memory_write,
    .release = memory_release,
};

struct sf_backing *swap_memory_create(uint64_t pages, bool structure_only)
{
	struct swap_memory *memory =
	    port_memory_alloc(sizeof(*memory), PORT_NODE_FIRST_TOUCH, "struct swap_memory");

	if (!memory)
		return NULL;
	memory->contents = port_memory_alloc(pages << PORT_PAGE_SHIFT, PORT_NODE_FIRST_TOUCH, "swapped page");
	if (!memory->contents) {
		port_memory_free(memory, sizeof(*memory));
		return NULL;
	}
	memory->backing.ops = &memory_ops;
	memory->backing.bytes = pages << PORT_PAGE_SHIFT;
	memory->structure_only = structure_only;
	return &memory->backing;
}
