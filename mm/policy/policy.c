/* SPDX-License-Identifier: MIT */
/*
 * The table of choices and the table of bases. A new variant of a mechanism is one row of policy_choices and
 * one file with its code; a new era is one row of base_table.
 */
#include "mm/policy/policy.h"

#include <errno.h>
#include <string.h>

#include "mm/policy/choices.h"

#define FIELD(name) #name, offsetof(struct policy, name)

const struct policy_choice policy_choices[] = {
    {FIELD(vma_lookup), "rcu", POLICY_VMA_LOOKUP_RCU},
    {FIELD(vma_lookup), "refcount", POLICY_VMA_LOOKUP_REFCOUNT},
    {FIELD(vma_lookup), "per_vma", POLICY_VMA_LOOKUP_PER_VMA},
    {FIELD(vma_lookup), "rwsem_spin", POLICY_VMA_LOOKUP_RWSEM_SPIN},
    {FIELD(vma_lookup), "rwsem_xadd", POLICY_VMA_LOOKUP_RWSEM_XADD},
    {FIELD(page_table_lock), "pte_bit", POLICY_PAGE_TABLE_LOCK_PTE_BIT},
    {FIELD(page_table_lock), "split", POLICY_PAGE_TABLE_LOCK_SPLIT},
    {FIELD(page_table_lock), "mm", POLICY_PAGE_TABLE_LOCK_MM},
    {FIELD(frame_cache), "magazine", POLICY_FRAME_CACHE_MAGAZINE},
    {FIELD(frame_cache), "zone", POLICY_FRAME_CACHE_ZONE},
    {FIELD(memtype), "cmpxchg", POLICY_MEMTYPE_CMPXCHG},
    {FIELD(memtype), "spin", POLICY_MEMTYPE_SPIN},
    {FIELD(memtype), "rwlock", POLICY_MEMTYPE_RWLOCK},
    {FIELD(shmem_alloc), "before", POLICY_SHMEM_ALLOC_BEFORE},
    {FIELD(shmem_alloc), "inside", POLICY_SHMEM_ALLOC_INSIDE},
    {FIELD(shmem_account), "per_cpu", POLICY_SHMEM_ACCOUNT_PER_CPU},
    {FIELD(shmem_account), "inode_lock", POLICY_SHMEM_ACCOUNT_INODE_LOCK},
    {FIELD(shmem_account), "ramfs", POLICY_SHMEM_ACCOUNT_RAMFS},
    {FIELD(page_index), "lockless", POLICY_PAGE_INDEX_LOCKLESS},
    {FIELD(page_index), "tree_lock", POLICY_PAGE_INDEX_TREE_LOCK},
    {FIELD(group_counter), "page_counter", POLICY_GROUP_COUNTER_PAGE_COUNTER},
    {FIELD(group_counter), "res_counter", POLICY_GROUP_COUNTER_RES_COUNTER},
    {FIELD(charge_stock), "depot", POLICY_CHARGE_STOCK_DEPOT},
    {FIELD(charge_stock), "32", POLICY_CHARGE_STOCK_32},
    {FIELD(charge_stock), "none", POLICY_CHARGE_STOCK_NONE},
    {FIELD(root_group), "exempt", POLICY_ROOT_GROUP_EXEMPT},
    {FIELD(root_group), "charged", POLICY_ROOT_GROUP_CHARGED},
    {FIELD(release_batch), "gather", POLICY_RELEASE_BATCH_GATHER},
    {FIELD(release_batch), "gather_unchunked", POLICY_RELEASE_BATCH_GATHER_UNCHUNKED},
    {FIELD(release_batch), "pagevec", POLICY_RELEASE_BATCH_PAGEVEC},
    {FIELD(lru_add), "per_cpu", POLICY_LRU_ADD_PER_CPU},
    {FIELD(lru_add), "zone_lock", POLICY_LRU_ADD_ZONE_LOCK},
    {FIELD(rmap_lock), "try", POLICY_RMAP_LOCK_TRY},
    {FIELD(rmap_lock), "wait", POLICY_RMAP_LOCK_WAIT},
    {FIELD(dirty_tracking), "fault", POLICY_DIRTY_TRACKING_FAULT},
    {FIELD(dirty_tracking), "pte", POLICY_DIRTY_TRACKING_PTE},
    {FIELD(dirty_transfer), "on", POLICY_DIRTY_TRANSFER_ON},
    {FIELD(dirty_transfer), "off", POLICY_DIRTY_TRANSFER_OFF},
};
const size_t policy_choice_count = ARRAY_SIZE(policy_choices);

const struct policy_exclusion policy_exclusions[] = {
    {"shmem_alloc", "inside", "shmem_account", "per_cpu", "there is no lock of the object to be inside of"},
    {"shmem_alloc", "inside", "shmem_account", "ramfs", "there is no lock of the object to be inside of"},
};
const size_t policy_exclusion_count = ARRAY_SIZE(policy_exclusions);

_Static_assert(ARRAY_SIZE(policy_choices) <= POLICY_CHOICES_MAX, "sets of rows are one word");
_Static_assert(
    sizeof(enum policy_vma_lookup) == sizeof(int) && sizeof(enum policy_page_table_lock) == sizeof(int) &&
	sizeof(enum policy_frame_cache) == sizeof(int) && sizeof(enum policy_memtype) == sizeof(int) &&
	sizeof(enum policy_shmem_alloc) == sizeof(int) && sizeof(enum policy_shmem_account) == sizeof(int) &&
	sizeof(enum policy_page_index) == sizeof(int) && sizeof(enum policy_group_counter) == sizeof(int) &&
	sizeof(enum policy_charge_stock) == sizeof(int) && sizeof(enum policy_root_group) == sizeof(int) &&
	sizeof(enum policy_release_batch) == sizeof(int) && sizeof(enum policy_lru_add) == sizeof(int) &&
	sizeof(enum policy_rmap_lock) == sizeof(int) && sizeof(enum policy_dirty_tracking) == sizeof(int) &&
	sizeof(enum policy_dirty_transfer) == sizeof(int),
    "fields are set as ints");

/*
 * The kernel of an era, on x86-64. "default" is the best choice known of every mechanism, whatever its era.
 *
 * base_2004  Linux 2.6.9. One page_table_lock in each mm_struct. x86-64 chose RWSEM_GENERIC_SPINLOCK: a count
 *            under a spinlock. It had no memory types of RAM pages yet; `spin` is how it got them first.
 * base_2009  Linux 2.6.33-rc2, the kernel of seed 003: its profile shows the spinlock inside the semaphore.
 *            Since 2.6.15 each page-table page has its own lock when the kernel is built for 4 CPUs or more
 *            (SPLIT_PTLOCK_CPUS).
 * base_2010  Linux 2.6.34: x86-64 got the atomic semaphore ("x86-64: support native xadd rwsem
 *            implementation", January 2010, first released in 2.6.34). lookup_memtype() takes memtype_lock.
 *            Of seed 002's own tree, linux-next of March 2010, the semaphore is inferred from its date.
 *            Seed 000's kernel, 2.6.35-rc3, is the next one.
 * base_2014  Linux 3.16. The memory type is set atomically ("x86, pat: Update the page flags for memtype
 *            atomically instead of using memtype_lock", April 2010, commit 1f9cc3cb6a27).
 *
 * Shared memory (mm/shmem.c): shmem_getpage() of each kernel up to 2.6.35 drops and retakes info->lock around
 * the allocation, as the lines show that seed 000 removes ("shmem: reduce one time of locking in pagefault",
 * July 2010, first released in 2.6.36). shmem_getpage_gfp() of 3.16 allocates before its one take of it.
 * Pages come into the index under mapping->tree_lock in all of them; they are found there without it since
 * 2.6.27, and here always.
 *
 * All four release what a gather has collected by pagevecs, and add to the LRU through them, under the zone's
 * lru_lock. Groups came with 2.6.25, as res_counter, and got the stock and the exempt root by 2.6.33; so what
 * base_2004 says of them is how they began, but for the root. The root is charged in 3.17-rc2 only.
 *
 * Since 2.6.9-rc1, the kernel of seed 004, the scan for references waits for the page_table_lock; it had
 * tried it before ("2.6.9-rc1: page_referenced_one() CPU consumption", September 2004). Writes to files
 * through shared mappings were known by the dirty bits of their entries; since 2.6.19 the first write faults.
 * No kernel of an era moved those bits in the scan.
 */
static const struct {
	const char *name;
	struct policy policy;
} base_table[] = {
    {"default",
     {.vma_lookup = POLICY_VMA_LOOKUP_RCU,
      .page_table_lock = POLICY_PAGE_TABLE_LOCK_PTE_BIT,
      .frame_cache = POLICY_FRAME_CACHE_MAGAZINE,
      .memtype = POLICY_MEMTYPE_CMPXCHG,
      .shmem_alloc = POLICY_SHMEM_ALLOC_BEFORE,
      .shmem_account = POLICY_SHMEM_ACCOUNT_PER_CPU,
      .page_index = POLICY_PAGE_INDEX_LOCKLESS,
      .group_counter = POLICY_GROUP_COUNTER_PAGE_COUNTER,
      .charge_stock = POLICY_CHARGE_STOCK_DEPOT,
      .root_group = POLICY_ROOT_GROUP_EXEMPT,
      .release_batch = POLICY_RELEASE_BATCH_GATHER,
      .lru_add = POLICY_LRU_ADD_PER_CPU,
      .rmap_lock = POLICY_RMAP_LOCK_TRY,
      .dirty_tracking = POLICY_DIRTY_TRACKING_FAULT,
      .dirty_transfer = POLICY_DIRTY_TRANSFER_ON}},
    {"base_2004",
     {.vma_lookup = POLICY_VMA_LOOKUP_RWSEM_SPIN,
      .page_table_lock = POLICY_PAGE_TABLE_LOCK_MM,
      .frame_cache = POLICY_FRAME_CACHE_ZONE,
      .memtype = POLICY_MEMTYPE_SPIN,
      .shmem_alloc = POLICY_SHMEM_ALLOC_INSIDE,
      .shmem_account = POLICY_SHMEM_ACCOUNT_INODE_LOCK,
      .page_index = POLICY_PAGE_INDEX_TREE_LOCK,
      .group_counter = POLICY_GROUP_COUNTER_RES_COUNTER,
      .charge_stock = POLICY_CHARGE_STOCK_NONE,
      .root_group = POLICY_ROOT_GROUP_EXEMPT,
      .release_batch = POLICY_RELEASE_BATCH_PAGEVEC,
      .lru_add = POLICY_LRU_ADD_ZONE_LOCK,
      .rmap_lock = POLICY_RMAP_LOCK_WAIT,
      .dirty_tracking = POLICY_DIRTY_TRACKING_PTE,
      .dirty_transfer = POLICY_DIRTY_TRANSFER_OFF}},
    {"base_2009",
     {.vma_lookup = POLICY_VMA_LOOKUP_RWSEM_SPIN,
      .page_table_lock = POLICY_PAGE_TABLE_LOCK_SPLIT,
      .frame_cache = POLICY_FRAME_CACHE_ZONE,
      .memtype = POLICY_MEMTYPE_SPIN,
      .shmem_alloc = POLICY_SHMEM_ALLOC_INSIDE,
      .shmem_account = POLICY_SHMEM_ACCOUNT_INODE_LOCK,
      .page_index = POLICY_PAGE_INDEX_TREE_LOCK,
      .group_counter = POLICY_GROUP_COUNTER_RES_COUNTER,
      .charge_stock = POLICY_CHARGE_STOCK_32,
      .root_group = POLICY_ROOT_GROUP_EXEMPT,
      .release_batch = POLICY_RELEASE_BATCH_PAGEVEC,
      .lru_add = POLICY_LRU_ADD_ZONE_LOCK,
      .rmap_lock = POLICY_RMAP_LOCK_WAIT,
      .dirty_tracking = POLICY_DIRTY_TRACKING_FAULT,
      .dirty_transfer = POLICY_DIRTY_TRANSFER_OFF}},
    {"base_2010",
     {.vma_lookup = POLICY_VMA_LOOKUP_RWSEM_XADD,
      .page_table_lock = POLICY_PAGE_TABLE_LOCK_SPLIT,
      .frame_cache = POLICY_FRAME_CACHE_ZONE,
      .memtype = POLICY_MEMTYPE_SPIN,
      .shmem_alloc = POLICY_SHMEM_ALLOC_INSIDE,
      .shmem_account = POLICY_SHMEM_ACCOUNT_INODE_LOCK,
      .page_index = POLICY_PAGE_INDEX_TREE_LOCK,
      .group_counter = POLICY_GROUP_COUNTER_RES_COUNTER,
      .charge_stock = POLICY_CHARGE_STOCK_32,
      .root_group = POLICY_ROOT_GROUP_EXEMPT,
      .release_batch = POLICY_RELEASE_BATCH_PAGEVEC,
      .lru_add = POLICY_LRU_ADD_ZONE_LOCK,
      .rmap_lock = POLICY_RMAP_LOCK_WAIT,
      .dirty_tracking = POLICY_DIRTY_TRACKING_FAULT,
      .dirty_transfer = POLICY_DIRTY_TRANSFER_OFF}},
    {"base_2014",
     {.vma_lookup = POLICY_VMA_LOOKUP_RWSEM_XADD,
      .page_table_lock = POLICY_PAGE_TABLE_LOCK_SPLIT,
      .frame_cache = POLICY_FRAME_CACHE_ZONE,
      .memtype = POLICY_MEMTYPE_CMPXCHG,
      .shmem_alloc = POLICY_SHMEM_ALLOC_BEFORE,
      .shmem_account = POLICY_SHMEM_ACCOUNT_INODE_LOCK,
      .page_index = POLICY_PAGE_INDEX_TREE_LOCK,
      .group_counter = POLICY_GROUP_COUNTER_RES_COUNTER,
      .charge_stock = POLICY_CHARGE_STOCK_32,
      .root_group = POLICY_ROOT_GROUP_EXEMPT,
      .release_batch = POLICY_RELEASE_BATCH_PAGEVEC,
      .lru_add = POLICY_LRU_ADD_ZONE_LOCK,
      .rmap_lock = POLICY_RMAP_LOCK_WAIT,
      .dirty_tracking = POLICY_DIRTY_TRACKING_FAULT,
      .dirty_transfer = POLICY_DIRTY_TRANSFER_OFF}},
};

/* A list of names that are different from the one before. */
struct names {
	struct message list;
	size_t used;
	const char *last;
};

static void names_add(struct names *names, const char *name)
{
	size_t room = sizeof(names->list.text) - names->used, bytes = strlen(name);
	const char *comma = names->last ? ", " : "";

	if ((names->last && !strcmp(names->last, name)) || bytes + sizeof(", ") > room)
		return;
	memcpy(names->list.text + names->used, comma, strlen(comma));
	names->used += strlen(comma);
	memcpy(names->list.text + names->used, name, bytes + 1);
	names->used += bytes;
	names->last = name;
}

int policy_base(struct policy *policy, const char *name, struct message *why)
{
	struct names names = {.last = NULL};

	for (size_t i = 0; i < ARRAY_SIZE(base_table); i++) {
		if (!strcmp(base_table[i].name, name)) {
			*policy = base_table[i].policy;
			return 0;
		}
		names_add(&names, base_table[i].name);
	}
	return message_set(why, -ENOENT, "no policy base is called '%s'; there are: %s", name,
			   names.list.text);
}

int policy_set(struct policy *policy, const char *field, const char *choice, struct message *why)
{
	struct names fields = {.last = NULL}, choices = {.last = NULL};

	for (size_t i = 0; i < policy_choice_count; i++) {
		const struct policy_choice *row = &policy_choices[i];

		names_add(&fields, row->field);
		if (strcmp(row->field, field))
			continue;
		if (!strcmp(row->choice, choice)) {
			*policy_field(policy, row) = row->value;
			return 0;
		}
		names_add(&choices, row->choice);
	}
	if (!choices.last)
		return message_set(why, -ENOENT, "no policy field is called '%s'; there are: %s", field,
				   fields.list.text);
	return message_set(why, -ENOENT, "policy field '%s' has no choice '%s'; there are: %s", field, choice,
			   choices.list.text);
}

static bool is_row(size_t row, const char *field, const char *choice)
{
	return !strcmp(policy_choices[row].field, field) && !strcmp(policy_choices[row].choice, choice);
}

const struct policy_exclusion *policy_excluded(size_t a, size_t b)
{
	for (size_t i = 0; i < policy_exclusion_count; i++) {
		const struct policy_exclusion *pair = &policy_exclusions[i];

		if ((is_row(a, pair->field, pair->choice) &&
		     is_row(b, pair->other_field, pair->other_choice)) ||
		    (is_row(b, pair->field, pair->choice) &&
		     is_row(a, pair->other_field, pair->other_choice)))
			return pair;
	}
	return NULL;
}

/* The number of the row that `policy` has of the field of row `row`; -1 if it has none. */
static int row_of(const struct policy *policy, size_t row)
{
	int value = policy_value(policy, &policy_choices[row]);

	for (size_t i = 0; i < policy_choice_count; i++)
		if (policy_choices[i].offset == policy_choices[row].offset &&
		    policy_choices[i].value == value)
			return (int)i;
	return -1;
}

int policy_check(const struct policy *policy, struct message *why)
{
	for (size_t i = 0; i < policy_choice_count; i++)
		if (row_of(policy, i) < 0)
			return message_set(why, -EINVAL, "policy field '%s' has no choice of value %d",
					   policy_choices[i].field, policy_value(policy, &policy_choices[i]));
	for (size_t a = 0; a < policy_choice_count; a++)
		for (size_t b = 0; b < a; b++) {
			const struct policy_exclusion *pair;

			if (row_of(policy, a) != (int)a || row_of(policy, b) != (int)b)
				continue;
			pair = policy_excluded(a, b);
			if (pair)
				return message_set(why, -EINVAL, "policy %s=%s means nothing with %s=%s: %s",
						   pair->field, pair->choice, pair->other_field,
						   pair->other_choice, pair->why);
		}
	return 0;
}
