/* SPDX-License-Identifier: MIT */
#include "engine/memory_disk.h"

#include <stdatomic.h>

#include "base/compiler.h"
#include "port/cpu.h"
#include "port/memory.h"
#include "port/page.h"

/* Of one CPU, which alone writes them: the disk is not to be what CPUs meet at. */
struct cpu_counts {
	CACHE_LINE_ALIGNED _Atomic uint64_t reads, pages_read;
	_Atomic uint64_t writes, pages_written;
};

struct disk {
	struct sf_backing backing;
	unsigned char *contents;
	size_t contents_bytes;
	struct cpu_counts *counts; /* [port_cpu_count()] */
};

static struct disk *disk_of(struct sf_backing *backing)
{
	return container_of(backing, struct disk, backing);
}

static void add(_Atomic uint64_t *count, uint64_t number)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + number,
			      memory_order_relaxed);
}

/* The last page of the disk is there as a whole. */
static int disk_read(struct sf_backing *backing, struct sf_io *io)
{
	struct disk *disk = disk_of(backing);
	struct cpu_counts *counts = &disk->counts[port_cpu()];

	for (unsigned i = 0; i < io->count; i++)
		port_page_copy(io->page[i], disk->contents + io->offset + i * PORT_PAGE_SIZE, false);
	add(&counts->reads, 1);
	add(&counts->pages_read, io->count);
	sf_io_done(io, 0);
	return 0;
}

static int disk_write(struct sf_backing *backing, struct sf_io *io)
{
	struct disk *disk = disk_of(backing);
	struct cpu_counts *counts = &disk->counts[port_cpu()];

	for (unsigned i = 0; i < io->count; i++)
		port_page_copy(disk->contents + io->offset + i * PORT_PAGE_SIZE, io->page[i], false);
	add(&counts->writes, 1);
	add(&counts->pages_written, io->count);
	sf_io_done(io, 0);
	return 0;
}

static void disk_release(struct sf_backing *backing)
{
	disk_destroy(backing);
}

static const struct sf_backing_ops disk_ops = {
    .read = disk_read, .write = disk_write, .release = disk_release};

struct sf_backing *disk_create(uint64_t bytes)
{
	struct disk *disk = port_memory_alloc(sizeof(*disk), PORT_NODE_FIRST_TOUCH, "struct disk");

	if (!disk)
		return NULL;
	disk->backing.ops = &disk_ops;
	disk->backing.bytes = bytes;
	disk->contents_bytes = (bytes + PORT_PAGE_SIZE - 1) / PORT_PAGE_SIZE * PORT_PAGE_SIZE;
	disk->contents = port_memory_alloc(disk->contents_bytes, PORT_NODE_FIRST_TOUCH, NULL);
	disk->counts = port_memory_alloc(port_cpu_count() * sizeof(*disk->counts), PORT_NODE_FIRST_TOUCH,
					 "struct cpu_counts");
	if (disk->contents && disk->counts)
		return &disk->backing;
	disk_destroy(&disk->backing);
	return NULL;
}

void disk_destroy(struct sf_backing *backing)
{
	struct disk *disk = disk_of(backing);

	port_memory_free(disk->contents, disk->contents_bytes);
	port_memory_free(disk->counts, port_cpu_count() * sizeof(*disk->counts));
	port_memory_free(disk, sizeof(*disk));
}

void disk_add_counts(const struct sf_backing *backing, struct disk_counts *counts)
{
	const struct disk *disk = container_of(backing, struct disk, backing);

	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++) {
		const struct cpu_counts *of_cpu = &disk->counts[cpu];

		counts->reads += atomic_load_explicit(&of_cpu->reads, memory_order_relaxed);
		counts->pages_read += atomic_load_explicit(&of_cpu->pages_read, memory_order_relaxed);
		counts->writes += atomic_load_explicit(&of_cpu->writes, memory_order_relaxed);
		counts->pages_written += atomic_load_explicit(&of_cpu->pages_written, memory_order_relaxed);
	}
}
