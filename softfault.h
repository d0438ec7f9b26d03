/* SPDX-License-Identifier: MIT */
/*
 * softfault: a virtual-memory subsystem as a library. The one header that its users include.
 *
 * A *system* has RAM, made of frames of 4 KiB, and a policy: how each of its mechanisms works. A *space* is
 * one address space: what a process has on Linux. Calls have the semantics of the Linux system calls that
 * they are named after, as Linux 6.18 has them for a process without privileges, down to the errno, which
 * they return negative. A call that fails changes nothing, except where Linux itself has a partial effect:
 * then exactly that effect (sf_protect, sf_advise and sf_lock that run into a hole or a limit; sf_remap to a
 * fixed place, which is unmapped first; a fixed sf_map beyond the address space limit, which leaves cuts).
 *
 * Threads: every thread that calls into a system first takes a CPU slot with sf_thread_enter() and gives it
 * back with sf_thread_exit(). Any number of threads may then call anything at once, on the same space too.
 * Nothing here may be called from a signal handler, except sf_touch() and what says so, when the signal
 * interrupted code outside the library.
 *
 * Addresses and lengths are bytes of the space's own 47-bit address space, not pointers of the caller.
 */
#ifndef SOFTFAULT_H
#define SOFTFAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SF_PAGE_SIZE ((size_t)4096)

/* One past the last address of a space. */
#define SF_ADDRESS_END ((uint64_t)1 << 47)

struct sf_system;
struct sf_space;
struct sf_object;
struct sf_group;
struct sf_backing;

/* --- Systems ------------------------------------------------------------------------------------------- */

struct sf_options {
	uint64_t memory_bytes; /* RAM: whole pages, at least 1 MiB; address space until it is touched */
	/*
	 * Threads that can be inside at once, 1 to 1023; 0: one for each online processor. Systems that
	 * exist at the same time share these slots, so a later one may not ask for more than the first has.
	 *
	 * A slot holds back free frames from the others, also while no thread has it. With the policy's
	 * frame_cache=magazine that is at most 1 MiB, or RAM / 4 / (cpus + 1) if that is less; so of a small
	 * RAM a quarter may be out of reach. With frame_cache=zone it is at most 186 frames.
	 */
	unsigned cpus;
	const char
	    *policy; /* "default", or a base with fields: "base_2009 vma_lookup=refcount"; NULL: default */
	bool structure_only; /* pages have no contents: for experiments on page tables larger than memory */
	/*
	 * Where spaces begin to place mappings, from there down, as the base that Linux draws for a process;
	 * and the lowest address that can be mapped, as vm.mmap_min_addr. Whole pages; 0: 0x7ffff7fff000 and
	 * 64 KiB.
	 */
	uint64_t map_base, map_min;
	/* Pages of a file that are written by one transfer at most, 1 to SF_IO_PAGES_MAX; 0: that. */
	unsigned write_back_pages;
};

/*
 * Makes a system. Returns 0 with it in *system; -EINVAL for options that cannot be; -ENOMEM; -EAGAIN when the
 * library's own thread cannot be started. With an error, *reason (if not NULL) is one line that says why,
 * valid until the thread's next call. Needs no slot.
 */
int sf_system_create(const struct sf_options *options, struct sf_system **system, const char **reason);

/*
 * Ends a system. All its spaces are destroyed and all its objects closed already, all its pins are given
 * back, no thread calls into it; and when it is the only one there is, no thread has a slot, the caller
 * included. Else the program is ended with a sentence that says which it was. Needs no slot: it may wait, but
 * never fails for others' slots.
 */
void sf_system_destroy(struct sf_system *system);

/*
 * Takes a CPU slot for the calling thread. Returns 0, or -EAGAIN when all are taken. A thread that has one
 * may take it again, and exits as often. The last exit gives it back; the thread's software TLBs are idle
 * then. Any other call than those above and sf_system_check() by a thread without a slot ends the program.
 */
int sf_thread_enter(struct sf_system *system);
void sf_thread_exit(struct sf_system *system);

/*
 * Checks every invariant while no other thread is in a call. Needs no slot. Returns 0; -EINVAL with the first
 * broken one; -ENOMEM.
 */
int sf_system_check(struct sf_system *system, const char **reason);

/* --- Swap ---------------------------------------------------------------------------------------------- */

/*
 * Memory that is not touched can be written to a *swap area*, which is a place for as many pages, and read in
 * again by the next touch. Areas of the highest priority are filled first; of equals the one that was added
 * first. An area stays until the system ends. A touch whose page cannot be read raises SIGBUS, and the next
 * one tries again; a page that cannot be written stays in memory.
 *
 * All of these return 0; -ENOSPC when there are eight areas already; -EINVAL for a system of structure only
 * (but for sf_swap_add_memory()), and for an area of less than one page or more than 2 TiB; -ENOMEM.
 */

/*
 * An area on the caller's backing (struct sf_backing), of as many pages as it has whole ones. Its read() and
 * write() are called as for a file, and by a touch too, whatever it touches; its resize(), punch() and sync()
 * are not called; release() is, at the system's end. After an error the backing is the caller's.
 */
int sf_swap_add(struct sf_system *system, struct sf_backing *backing, int priority);

/*
 * An area in a regular file of this machine, of as many pages as it has whole ones now; what is in it is
 * overwritten. As sf_file_open_fd() for `file`, and its errors.
 */
int sf_swap_add_fd(struct sf_system *system, int file, int priority);

/* An area in memory beside the system's RAM, which is used as pages are written. */
int sf_swap_add_memory(struct sf_system *system, uint64_t bytes, int priority);

/*
 * An area that keeps pages compressed (lz4) in at most `memory_bytes` of memory beside the system's RAM: 16
 * KiB to 64 GiB, else -EINVAL. When that is full pages of the area stay where they are.
 */
int sf_swap_add_compressed(struct sf_system *system, uint64_t bytes, uint64_t memory_bytes, int priority);

/* Of all areas, in pages. */
struct sf_swap_statistics {
	uint64_t slots;       /* that there are */
	uint64_t used, bad;   /* that hold a page, or are kept for one; that cannot be written any more */
	uint64_t cached;      /* used, and the page is in memory too */
	uint64_t read, ahead; /* pages read since somebody touched them; since a neighbour was touched */
	uint64_t written;
	uint64_t reads, writes; /* transfers: of one or more pages each */
};
void sf_swap_statistics(struct sf_system *system, struct sf_swap_statistics *statistics);

/* --- Reclaim ------------------------------------------------------------------------------------------- */

/*
 * When a group is full or RAM is out, memory that was not touched for a while is taken away: what is in files
 * is written back, other memory goes to swap. The next touch brings it back. What finds no page reclaims on
 * its own thread before it fails.
 *
 * Never taken is memory that is locked (sf_lock()) or pinned; what has no place in swap; and what cannot be
 * written. A group that uses no more than its low guarantee is spared as long as others have memory that can
 * be taken.
 */

/*
 * Takes up to `bytes` of a group and those below it, touched or not for a while, as memory.reclaim of
 * control groups; of all with the root. Returns how many bytes it has taken; it can be more.
 */
uint64_t sf_group_reclaim(struct sf_group *group, uint64_t bytes);

/*
 * Reclaims in the background, so that threads find free frames, on the calling thread: whenever fewer than a
 * low mark are free, until a high one is reached. Returns after sf_reclaim_stop(), which any thread may call
 * and which needs no slot. One thread at a time.
 */
void sf_reclaim_background(struct sf_system *system);
void sf_reclaim_stop(struct sf_system *system);

/* Since the system was made: pages, but for what is said. */
struct sf_reclaim_statistics {
	uint64_t scanned, reclaimed;     /* inactive ones looked at; of those taken */
	uint64_t activated, deactivated; /* that became active again; that became inactive */
	uint64_t refaults;               /* that came back after they were taken */
	uint64_t entries, skipped;   /* page table entries looked at; those whose lock another CPU had, with
					rmap_lock=try */
	uint64_t direct, background; /* times that a thread that needed a page reclaimed; that the background
					began */
	uint64_t write_backs, written_back; /* transfers to files; their pages */
	uint64_t written_alone;             /* of the transfers, those of one page, as a last resort */
};
void sf_reclaim_statistics(struct sf_system *system, struct sf_reclaim_statistics *statistics);

/* --- Spaces -------------------------------------------------------------------------------------------- */

/* Makes an empty space in the root group. Returns 0 with it in *space, or -ENOMEM. */
int sf_space_create(struct sf_system *system, struct sf_space **space);

/* The same in another group. -ENOMEM also when there is no room in it for the space's first page table. */
int sf_space_create_in(struct sf_group *group, struct sf_space **space);

/*
 * fork(2) for memory: makes a space with the same mappings, in the same group; private pages are shared until
 * one side writes. Returns 0 with it in *child, or -ENOMEM.
 */
int sf_space_fork(struct sf_space *parent, struct sf_space **child);

/* Unmaps everything and frees the space; no thread uses it, and its TLBs are destroyed. */
void sf_space_destroy(struct sf_space *space);

/* Limits, as RLIMIT_AS (bytes), RLIMIT_MEMLOCK (bytes) and vm.max_map_count. UINT64_MAX: none. */
enum sf_limit { SF_LIMIT_ADDRESS_SPACE, SF_LIMIT_LOCKED, SF_LIMIT_MAP_COUNT };
int sf_set_limit(struct sf_space *space, enum sf_limit limit, uint64_t value);

/* --- Memory groups ---------------------------------------------------------------------------------------
 */

/*
 * A group limits the memory of the spaces that are in it and in the groups below it. Groups form a tree,
 * whose root is the system's own and has no limit. Charged are the pages of private memory and of objects and
 * the page tables: each to the group in which the space was whose fault made it, from then until its frame is
 * free again (a page table until it is taken away). An object is in no group: its pages can be charged to as
 * many as map it, and what sf_object_read() and sf_object_write() make is charged to the root. A group counts
 * what is charged to it and to all below.
 *
 * Where a group is full, some of its memory is reclaimed first. If nothing can be, the page is not made: then
 * the call says -ENOMEM, and struct sf_signal names the group. A group's memory comes back as RAM does: see
 * sf_touch().
 *
 * CPUs charge ahead (unless the policy says charge_stock=none), at most 32 pages for each: of one group at a
 * time, and so that CPUs of a memory node share half of it. These count as used until other groups' pages are
 * charged there, the group comes to a limit, or a thread gives its slot back.
 */

/* Returns the root. Unless the system's policy says root_group=charged it counts nothing. */
struct sf_group *sf_group_root(struct sf_system *system);

/* Makes a group below `parent`, without a limit. Returns 0 with it in *group, or -ENOMEM. */
int sf_group_create(struct sf_group *parent, struct sf_group **group);

/*
 * Ends a group: what is charged to it is its parent's from then on. Returns 0; -EBUSY while it has groups
 * below it or spaces in it; -EINVAL for the root. All other groups are destroyed before the system is.
 */
int sf_group_destroy(struct sf_group *group);

/* UINT64_MAX: no limit. */
#define SF_GROUP_UNLIMITED UINT64_MAX

/*
 * Sets the limit, or the soft guarantee: memory that is left to the group when others need some, as long as
 * it can be. In bytes, rounded down to whole pages. sf_group_set_limit() returns 0; -EBUSY, with the limit as
 * it was, when more than that is charged and cannot be reclaimed; -EINVAL for the root.
 */
int sf_group_set_limit(struct sf_group *group, uint64_t bytes);
void sf_group_set_low(struct sf_group *group, uint64_t bytes);

/* In bytes, and counts. Of a root that does not count, usage and peak are 0. */
struct sf_group_statistics {
	uint64_t limit, low;
	uint64_t usage, peak;   /* with what CPUs have charged ahead */
	uint64_t failures;      /* charges that this group's limit refused, those ahead among them */
	uint64_t limit_hits;    /* times that this group's limit refused a page; then some are reclaimed */
	uint64_t out_of_memory; /* calls and touches that failed for it in the end */
};
void sf_group_statistics(struct sf_group *group, struct sf_group_statistics *statistics);

/*
 * Moves a space to another group of the system. What it has stays charged where it is; what its faults make
 * from now on is charged to the new group. Waits for a grace period.
 */
void sf_space_set_group(struct sf_space *space, struct sf_group *group);

/* --- Mappings ------------------------------------------------------------------------------------------ */

#define SF_PROT_NONE  0
#define SF_PROT_READ  1
#define SF_PROT_WRITE 2
#define SF_PROT_EXEC  4

#define SF_MAP_SHARED          0x01 /* between a space and those forked from it */
#define SF_MAP_PRIVATE         0x02
#define SF_MAP_FIXED           0x10
#define SF_MAP_ANONYMOUS       0x20 /* sf_map() only, and there it must be given */
#define SF_MAP_LOCKED          0x2000
#define SF_MAP_NORESERVE       0x4000
#define SF_MAP_POPULATE        0x8000
#define SF_MAP_FIXED_NOREPLACE 0x100000

/*
 * mmap(2). `address` is a hint, or with one of the FIXED flags the place. Returns 0 with the place in
 * *mapped; -EINVAL, also for flags that are not above; -EBADF without SF_MAP_ANONYMOUS; -ENOMEM (no room, or
 * a limit), -EEXIST (FIXED_NOREPLACE), -EAGAIN (LOCKED beyond the limit), -EPERM (below the lowest address,
 * or LOCKED with a limit of 0).
 */
int sf_map(struct sf_space *space, uint64_t address, uint64_t length, int protection, int flags,
	   uint64_t *mapped);

/* munmap(2), mprotect(2). */
int sf_unmap(struct sf_space *space, uint64_t address, uint64_t length);
int sf_protect(struct sf_space *space, uint64_t address, uint64_t length, int protection);

#define SF_REMAP_MAYMOVE   1
#define SF_REMAP_FIXED     2
#define SF_REMAP_DONTUNMAP 4

/*
 * mremap(2). Returns 0 with the place in *mapped, or a negative errno. Locked memory that is moved with
 * SF_REMAP_DONTUNMAP counts once; Linux goes on counting the pages at the old place, too.
 */
int sf_remap(struct sf_space *space, uint64_t address, uint64_t old_length, uint64_t new_length, int flags,
	     uint64_t new_address, uint64_t *mapped);

/* The numbers are madvise(2)'s. */
#define SF_ADVICE_NORMAL         0
#define SF_ADVICE_WILLNEED       3
#define SF_ADVICE_DONTNEED       4
#define SF_ADVICE_FREE           8
#define SF_ADVICE_REMOVE         9 /* punches a hole into the object */
#define SF_ADVICE_HUGEPAGE       14
#define SF_ADVICE_NOHUGEPAGE     15
#define SF_ADVICE_COLD           20 /* reclaim looks here first */
#define SF_ADVICE_PAGEOUT        21 /* reclaims now what can be */
#define SF_ADVICE_POPULATE_READ  22
#define SF_ADVICE_POPULATE_WRITE 23

/* madvise(2), mincore(2) (one byte a page, bit 0), mlock(2), munlock(2). */
int sf_advise(struct sf_space *space, uint64_t address, uint64_t length, int advice);
int sf_mincore(struct sf_space *space, uint64_t address, uint64_t length, unsigned char *resident);
int sf_lock(struct sf_space *space, uint64_t address, uint64_t length);
int sf_unlock(struct sf_space *space, uint64_t address, uint64_t length);

#define SF_SYNC_ASYNC      1
#define SF_SYNC_INVALIDATE 2
#define SF_SYNC_SYNC       4

/*
 * msync(2): with SF_SYNC_SYNC writes what is dirty of the files that the range maps shared. Returns 0;
 * -EINVAL (an address in a page, other flags, ASYNC with SYNC), -EBUSY (INVALIDATE of locked memory), -ENOMEM
 * (a part is not mapped; the rest is done); or what a backing failed with, once for each failure
 * (sf_object_sync()).
 */
int sf_sync(struct sf_space *space, uint64_t address, uint64_t length, int flags);

/* --- Objects ------------------------------------------------------------------------------------------- */

/*
 * An object is memory that spaces map and programs read and write by offsets: shared memory, as a memfd, or
 * the cached pages of a file. All see the same bytes at once. Its size is any number of bytes; a touch of a
 * page that begins at the size or beyond raises SIGBUS. A mapping keeps it, also after sf_object_close().
 *
 * Offsets and sizes above this are -EINVAL or -EFBIG, as for off_t.
 */
#define SF_OBJECT_BYTES_MAX ((uint64_t)INT64_MAX)

/*
 * memfd_create(2) and ftruncate(2): makes an object of `bytes` zeroes, none of which takes memory yet. With a
 * `limit_bytes` other than 0 it has at most so many bytes of pages, rounded up to whole pages, as a tmpfs of
 * that size=: a touch that would need more raises SIGBUS, sf_object_write() returns -ENOSPC. Returns 0 with
 * it in *object; -EINVAL for a size above the maximum, or for a limit with the policy shmem_account=ramfs,
 * which has none; -ENOMEM.
 */
int sf_object_create(struct sf_system *system, uint64_t bytes, uint64_t limit_bytes,
		     struct sf_object **object);

/*
 * What a file's pages come from and go to: the caller's own structure, with this first. Each function may be
 * called by several threads at once, for different pages, and may block on anything but calls of the library.
 * A touch of a file's page may call them: a thread whose signal handlers touch such pages needs them to be
 * safe in handlers.
 */
struct sf_backing {
	const struct sf_backing_ops *ops;
	uint64_t bytes; /* the file's size; read once, by sf_file_open() */
};

#define SF_IO_PAGES_MAX 32

/* One transfer of pages that lie next to each other in the file. */
struct sf_io {
	uint64_t offset;             /* of the first byte: whole pages */
	uint64_t bytes;              /* 1 to count * SF_PAGE_SIZE; ends in the last page */
	unsigned count;              /* 1 to SF_IO_PAGES_MAX */
	void *page[SF_IO_PAGES_MAX]; /* their contents, aligned */
	void *own;                   /* the backing's, from the call to sf_io_done() */
};

struct sf_backing_ops {
	/*
	 * Starts a transfer. Returns 0, and then sf_io_done() is called for it exactly once, by whatever
	 * thread, at once or later; or a negative errno, and then it is not. A read gives bytes that the file
	 * does not have as zeroes. *io is gone after sf_io_done().
	 */
	int (*read)(struct sf_backing *backing, struct sf_io *io);
	int (*write)(struct sf_backing *backing, struct sf_io *io);

	/*
	 * ftruncate(2), and fallocate(2) to punch a hole of whole pages; NULL: they cannot be had,
	 * -EOPNOTSUPP. fdatasync(2); NULL: what was written is safe.
	 */
	int (*resize)(struct sf_backing *backing, uint64_t bytes);
	int (*punch)(struct sf_backing *backing, uint64_t offset, uint64_t bytes);
	int (*sync)(struct sf_backing *backing);

	/* The file's object is gone, some time after its last mapping and its handle; the last call. */
	void (*release)(struct sf_backing *backing);
};

/*
 * Ends a transfer with 0 or a negative errno. May be called by any thread, one without a slot included, and
 * inside of read() and write().
 */
void sf_io_done(struct sf_io *io, int error);

/*
 * Makes the object of a file. Its pages are read when they are first needed, and written by sf_sync(),
 * sf_object_sync(), and at the object's end: after its last mapping and its handle. A touch of a page that
 * cannot be read raises SIGBUS. There is one object of a file: two would not see each other's pages. Returns
 * 0 with it in *object; -EINVAL for a size above the maximum or in a system of structure only; -ENOMEM. After
 * an error the backing is the caller's, and release() is not called.
 */
int sf_file_open(struct sf_system *system, struct sf_backing *backing, struct sf_object **object);

/*
 * sf_file_open() of a regular file of this machine that `file` is a descriptor of, open for reading and
 * writing; the object keeps one of its own, so `file` may be closed at once. Nobody else may change the
 * file's size meanwhile, and what others write to it is seen only in pages that were not needed before. What
 * sf_sync() and sf_object_sync() have written is as safe as fdatasync(2) makes it. Returns 0 with it in
 * *object; -EBADF (no descriptor), -EACCES (not open for both), -EINVAL (not a regular file, or open with
 * O_APPEND or O_DIRECT, or as sf_file_open()), -EMFILE, -ENOMEM.
 */
int sf_file_open_fd(struct sf_system *system, int file, struct sf_object **object);

/*
 * Gives the caller's handle back; NULL is allowed. The object goes when it is mapped no more; a file's dirty
 * pages are written then, and what fails is lost: sf_object_sync() before tells.
 */
void sf_object_close(struct sf_object *object);

/*
 * mmap(2) of an object that is open for reading and writing, from `offset` (whole pages) on; the mapping may
 * reach beyond its size. `flags`: SF_MAP_SHARED or SF_MAP_PRIVATE, whose pages are copied by the first write,
 * and others as for sf_map(), but not SF_MAP_ANONYMOUS. Returns as sf_map(); -EINVAL for an offset in a page
 * or an object of another system; -EOVERFLOW for an offset beyond what a size can be.
 */
int sf_map_object(struct sf_space *space, uint64_t address, uint64_t length, int protection, int flags,
		  struct sf_object *object, uint64_t offset, uint64_t *mapped);

/*
 * ftruncate(2): grows by zeroes, or takes everything beyond away, from all mappings too, private copies
 * included. The rest of the last page becomes zeroes. Returns 0; -EINVAL for a size above the maximum; what
 * the backing's resize() failed with, and then nothing has changed.
 */
int sf_object_resize(struct sf_object *object, uint64_t bytes);

/*
 * fallocate(2) with PUNCH_HOLE and KEEP_SIZE: the range is zeroes afterwards, and its whole pages take no
 * memory. Private copies stay. Returns 0; -EINVAL for an empty range; -EFBIG for one beyond the maximum; what
 * the backing's punch() or read() failed with; -ENOMEM.
 */
int sf_object_punch(struct sf_object *object, uint64_t offset, uint64_t bytes);

/*
 * pread(2), pwrite(2): copies between the object and the caller's memory; a write beyond the size makes the
 * object larger. Returns how many bytes were copied, fewer where the object ends or a page cannot be had; or,
 * if none, -EINVAL, -EFBIG (writes beyond the maximum), -ENOSPC, -ENOMEM, or what the backing failed with.
 */
int64_t sf_object_read(struct sf_object *object, uint64_t offset, void *buffer, uint64_t bytes);
int64_t sf_object_write(struct sf_object *object, uint64_t offset, const void *buffer, uint64_t bytes);

/*
 * fsync(2): writes what is dirty, and waits for it. Returns 0; or the errno of a write of the backing, or of
 * its sync(), that failed since the last call that told of one (sf_sync() included): each failure is told
 * once. The page stays dirty, so a later call tries again. Of shared memory: 0.
 */
int sf_object_sync(struct sf_object *object);

/*
 * Writes up to `bytes` of dirty pages of all files of the system: file after file, in bulk, from where the
 * last call stopped; what others write or cut is passed over. Reclaim in the background does it, too. Returns
 * how many bytes were written: 0 when nothing is dirty or can be written, or while another thread does it.
 */
uint64_t sf_write_back(struct sf_system *system, uint64_t bytes);

struct sf_object_statistics {
	uint64_t bytes, limit_bytes; /* the size; the limit, 0: none */
	uint64_t cached, swapped;    /* bytes of pages in memory; in swap */
	uint64_t dirty, writeback;   /* of those in memory: yet to be written; being written */
	uint64_t mappings;           /* of all spaces */
	uint64_t index;              /* bytes of the index */
};
void sf_object_statistics(struct sf_object *object, struct sf_object_statistics *statistics);

/* --- Touching memory ----------------------------------------------------------------------------------- */

/* One of them. As on x86, what can be written or executed can be read. */
enum sf_access { SF_READ = 1, SF_WRITE = 2, SF_EXECUTE = 4 };

/* What a fault that cannot be resolved would be to a process: siginfo's signal and code. */
struct sf_signal {
	int signal;       /* SIGSEGV or SIGBUS */
	int code;         /* SEGV_MAPERR, SEGV_ACCERR, BUS_ADRERR (also of a page that cannot be read) */
	uint64_t address; /* that was touched */
	/*
	 * With signal 0 and -ENOMEM: the group that is full, which is the space's or above it; if the space
	 * was moved meanwhile, it may have been destroyed since. NULL: RAM is out.
	 */
	struct sf_group *group;
};

/*
 * Touches the byte at `address` as a program would, faulting it in when needed. Returns 0; -EFAULT with
 * *signal filled (if not NULL); -ENOMEM when a group is full, which signal->group names, or RAM is out, and
 * nothing can be reclaimed there; but for what slots hold back (struct sf_options) and what waits until no
 * fault can be using it any more (struct sf_system_statistics: at most RAM / 16, or 64 KiB a slot if that is
 * more, after each thread's last call that changed mappings); -EINVAL for what is no access. With other
 * errors than -EFAULT signal->signal is 0. May be called from a signal handler that interrupted code outside
 * the library; but as a touch may reclaim, and then waits for other threads, not code that is in a read
 * section of liburcu's "memb" flavour.
 */
int sf_touch(struct sf_space *space, uint64_t address, enum sf_access access, struct sf_signal *signal);

/*
 * Copies between the space and the caller's memory, faulting pages in, across any number of pages. Returns
 * how many bytes were copied, which is less than `bytes` when a page cannot be had; then *signal tells why
 * (if not NULL; signal 0 means that RAM is out or a group full). May be called from a signal handler as
 * sf_touch().
 */
size_t sf_read(struct sf_space *space, uint64_t address, void *buffer, size_t bytes,
	       struct sf_signal *signal);
size_t sf_write(struct sf_space *space, uint64_t address, const void *buffer, size_t bytes,
		struct sf_signal *signal);

/*
 * Compare-and-swap of the 32- or 64-bit word at `address`, atomic against every access of every space that
 * maps the page: if it holds *expected it becomes `desired`; else *expected becomes what it holds. Returns 1
 * when swapped, 0 when not; -EINVAL for an address that is not aligned to the word; else a negative errno as
 * sf_touch() of a write. May be called from a signal handler as sf_touch().
 */
int sf_compare_swap_32(struct sf_space *space, uint64_t address, uint32_t *expected, uint32_t desired,
		       struct sf_signal *signal);
int sf_compare_swap_64(struct sf_space *space, uint64_t address, uint64_t *expected, uint64_t desired,
		       struct sf_signal *signal);

/*
 * Pins the page of `address` for `access` and returns a pointer to the byte at `address`; valid to the page's
 * end until sf_unpin() of the same pin, whatever becomes of the mapping (as get_user_pages does). NULL with
 * *signal filled as above; frames that are mapped by number cannot be pinned: SIGBUS. To give back a pin that
 * is NULL, or given back already, does nothing.
 *
 * A limit: a pinned page that loses its write right (sf_protect() to read only and back, or a fork) is copied
 * by the space's next write, which the pin then does not see; nor does the space see what is written through
 * the pin. Linux since 5.19 keeps the page for the space that pinned it.
 */
struct sf_pin {
	void *page; /* the library's own */
};
void *sf_pin(struct sf_space *space, uint64_t address, enum sf_access access, struct sf_pin *pin,
	     struct sf_signal *signal);
void sf_unpin(struct sf_system *system, struct sf_pin *pin);

/*
 * A software TLB: what an emulator keeps for each CPU that it emulates, so that a hot access is an array
 * look-up. sf_tlb_lookup() returns a pointer to the byte at `address` (to the page's end), faulting when
 * needed; NULL with *signal filled as above. The pointer may be read (and after SF_WRITE written) until the
 * thread's next call of any function of the library: look up again for each access. A call that a signal
 * handler makes counts: a thread that holds such a pointer must not be interrupted by a handler that calls
 * the library, or must look up again after it.
 *
 * A TLB belongs to one space, and to one thread at a time: from a look-up to the next sf_tlb_idle(). Its
 * entries hold no references on pages. Instead whatever takes pages or rights away (unmapping, protecting,
 * forking, advice, and the fault that replaces a shared page by a copy) waits until every other thread's TLB
 * of the space has looked up again, is idle, or its thread is inside a call of the library, of whatever
 * system, where its TLBs count as idle; they do, too, once it has given its slot back. So a thread must call
 * sf_tlb_idle() before it stops looking up for long, and before it blocks on anything outside the library. A
 * look-up that comes after a call sees what the call did, and what the call saw of other threads' calls.
 */
#define SF_TLB_ENTRIES 256

/* Not to be used but by sf_tlb_lookup(). */
struct sf_tlb_entry {
	uint64_t page[3]; /* whose page this is, for each access; all ones: for none */
	char *contents;
};
struct sf_tlb {
	const uint64_t *generation; /* the space's, which changes and flushes raise */
	uint64_t caught_up;         /* the one that the entries are of; 0 while idle */
	struct sf_tlb_entry entry[SF_TLB_ENTRIES];
};

/*
 * Makes an idle TLB of `space`. Returns 0 with it in *tlb, or -ENOMEM. Waits for calls of other threads, as
 * whoever changes mappings, and for a grace period: one is made once and kept.
 */
int sf_tlb_create(struct sf_space *space, struct sf_tlb **tlb);

/* Frees a TLB before its space is destroyed; NULL is allowed. */
void sf_tlb_destroy(struct sf_tlb *tlb);

/* Says that no pointer that was found in the TLB is used any more. Costs little; entries are kept. */
void sf_tlb_idle(struct sf_tlb *tlb);

/* The part of sf_tlb_lookup() that is not hot. */
void *sf_tlb_miss(struct sf_tlb *tlb, uint64_t address, enum sf_access access, struct sf_signal *signal);

static inline void *sf_tlb_lookup(struct sf_tlb *tlb, uint64_t address, enum sf_access access,
				  struct sf_signal *signal)
{
	struct sf_tlb_entry *entry = &tlb->entry[address / SF_PAGE_SIZE % SF_TLB_ENTRIES];

	if (entry->page[access >> 1] == address - address % SF_PAGE_SIZE &&
	    __atomic_load_n(tlb->generation, __ATOMIC_ACQUIRE) == tlb->caught_up)
		return entry->contents + address % SF_PAGE_SIZE;
	return sf_tlb_miss(tlb, address, access, signal);
}

/* --- Statistics ---------------------------------------------------------------------------------------- */

/* One line of /proc/PID/maps, with smaps' numbers, in bytes. */
struct sf_mapping {
	uint64_t start, end;
	int protection;
	bool shared, locked;
	uint64_t offset;
	uint64_t resident, anonymous, shared_clean, shared_dirty, private_clean, private_dirty, referenced,
	    lazy_free, swapped;
};

/* Fills *mapping with the first mapping that ends after `address`. Returns 0, or -ENOENT when there is none.
 */
int sf_next_mapping(struct sf_space *space, uint64_t address, struct sf_mapping *mapping);

/* /proc/PID/status: in bytes; faults are counts. */
struct sf_space_statistics {
	uint64_t size, peak_size, locked, resident, peak_resident, page_tables, swapped;
	uint64_t map_count, minor_faults, major_faults;
};
void sf_space_statistics(struct sf_space *space, struct sf_space_statistics *statistics);

/* vmstat and meminfo: pages, and events since the system was made. */
struct sf_system_statistics {
	uint64_t frames, free_frames, anonymous_frames, table_frames, pinned_frames;
	uint64_t shared_frames, file_frames, index_frames; /* of objects: pages, and their indices */
	uint64_t faults, copies_on_write, reuses, zero_page_maps, frames_allocated, frames_freed;
	uint64_t shootdowns; /* times that other CPUs' translations were waited for */
	/*
	 * Memory that waits until no fault can be using it any more; and the sum of the most that each CPU
	 * ever had waiting, which is never less than the most that waited at once.
	 */
	uint64_t retired_bytes, peak_retired_bytes;
};
void sf_system_statistics(struct sf_system *system, struct sf_system_statistics *statistics);

#ifdef __cplusplus
}
#endif

#endif
