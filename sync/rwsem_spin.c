/* SPDX-License-Identifier: MIT */
/*
 * The read-write semaphore whose every operation takes its spinning lock, as kernels had it for machines
 * without an atomic add, and as distributions shipped it for others. Everything is by wait_lock.
 */
#include "sync/rwsem.h"
#include "sync/rwsem_queue.h"

/* Gives a semaphore that nobody holds to the head of the queue: one writer, or all readers there. */
static void pass_on_locked(struct rwsem *sem)
{
	uint32_t readers;

	if (!sem->first)
		return;
	if (sem->first->writes) {
		sem->holders = -1;
		rwsem_queue_grant_locked(sem, 1);
		return;
	}
	readers = rwsem_queue_readers_locked(sem);
	sem->holders = (int32_t)readers;
	rwsem_queue_grant_locked(sem, readers);
}

/* Queues the calling CPU, releases wait_lock and sleeps until the semaphore is its own. */
static void wait_unlock(struct rwsem *sem, bool writes)
{
	struct rwsem_waiter *waiter = rwsem_queue_add_locked(sem, writes);

	spin_unlock(&sem->wait_lock);
	port_lock_contended(sem, lock_class_name(&sem->rank), !writes);
	rwsem_queue_sleep(waiter);
}

static bool try_read_locked(struct rwsem *sem)
{
	if (sem->holders < 0 || sem->first)
		return false;
	sem->holders++;
	return true;
}

static bool try_write_locked(struct rwsem *sem)
{
	if (sem->holders || sem->first)
		return false;
	sem->holders = -1;
	return true;
}

static void rwsem_spin_down_read(struct rwsem *sem)
{
	spin_lock(&sem->wait_lock);
	if (try_read_locked(sem))
		spin_unlock(&sem->wait_lock);
	else
		wait_unlock(sem, false);
}

static bool rwsem_spin_down_read_trylock(struct rwsem *sem)
{
	bool taken;

	spin_lock(&sem->wait_lock);
	taken = try_read_locked(sem);
	spin_unlock(&sem->wait_lock);
	return taken;
}

static void rwsem_spin_up_read(struct rwsem *sem)
{
	spin_lock(&sem->wait_lock);
	if (--sem->holders == 0)
		pass_on_locked(sem);
	spin_unlock(&sem->wait_lock);
}

static void rwsem_spin_down_write(struct rwsem *sem)
{
	spin_lock(&sem->wait_lock);
	if (try_write_locked(sem))
		spin_unlock(&sem->wait_lock);
	else
		wait_unlock(sem, true);
}

static bool rwsem_spin_down_write_trylock(struct rwsem *sem)
{
	bool taken;

	spin_lock(&sem->wait_lock);
	taken = try_write_locked(sem);
	spin_unlock(&sem->wait_lock);
	return taken;
}

static void rwsem_spin_up_write(struct rwsem *sem)
{
	spin_lock(&sem->wait_lock);
	sem->holders = 0;
	pass_on_locked(sem);
	spin_unlock(&sem->wait_lock);
}

const struct rwsem_ops rwsem_spin_ops = {
    .down_read = rwsem_spin_down_read,
    .down_read_trylock = rwsem_spin_down_read_trylock,
    .up_read = rwsem_spin_up_read,
    .down_write = rwsem_spin_down_write,
    .down_write_trylock = rwsem_spin_down_write_trylock,
    .up_write = rwsem_spin_up_write,
};
