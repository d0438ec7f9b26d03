/* SPDX-License-Identifier: MIT */
#include "mm/page/page_io.h"

#include "base/compiler.h"
#include "port/wait.h"
#include "sync/lock_rank.h"

void sf_io_done(struct sf_io *io, int error)
{
	struct page_io *page_io = container_of(io, struct page_io, io);
	_Atomic uint32_t *transferred = &page_io->page->transferred;

	page_io->error = error;
	/* Release: what was read, and the error. From here on the transfer can be gone. */
	atomic_store_explicit(transferred, 1, memory_order_release);
	port_wake(transferred, 1);
}

int page_io_wait(struct page_io *io)
{
	_Atomic uint32_t *transferred = &io->page->transferred;

	while (!atomic_load_explicit(transferred, memory_order_acquire)) {
		lock_rank_may_sleep();
		port_wait(transferred, 0);
	}
	return io->error;
}

int page_io_start(struct sf_backing *backing, struct page_io *io, struct page *page, bool write)
{
	io->page = page;
	atomic_store_explicit(&page->transferred, 0, memory_order_relaxed);
	return write ? backing->ops->write(backing, &io->io) : backing->ops->read(backing, &io->io);
}
