/* SPDX-License-Identifier: MIT */
#include "mm/charge/stock.h"

#include <errno.h>

#include "mm/charge/charge.h"
#include "port/cpu.h"
#include "port/memory.h"
#include "port/rcu.h"

static struct counter *charge_one(struct sf_group *group)
{
	return group->groups->counter->try_charge(&group->memory, 1);
}

static struct counter *charge_batch(struct sf_group *group)
{
	struct counter *full = group->groups->counter->try_charge(&group->memory, CHARGE_STOCK_PAGES);

	if (!full)
		refill_stock(group, CHARGE_STOCK_PAGES - 1);
	return full;
}

static const struct stock_ops none_ops = {.charge = charge_one};
static const struct stock_ops cpu_ops = {.cpu_pages = CHARGE_STOCK_PAGES, .charge = charge_batch};

const struct stock_ops *const stock_choices[] = {
    [POLICY_CHARGE_STOCK_DEPOT] = &stock_depot_ops,
    [POLICY_CHARGE_STOCK_32] = &cpu_ops,
    [POLICY_CHARGE_STOCK_NONE] = &none_ops,
};

static int make_depots(struct groups *groups)
{
	unsigned nodes = port_node_count();

	groups->depot = port_memory_alloc(nodes * sizeof(struct stock_depot *), PORT_NODE_FIRST_TOUCH,
					  "struct stock_depot *");
	if (!groups->depot)
		return -ENOMEM;
	for (unsigned node = 0; node < nodes; node++) {
		groups->depot[node] =
		    port_memory_alloc(sizeof(struct stock_depot), node, "struct stock_depot");
		if (!groups->depot[node])
			return -ENOMEM;
		spin_lock_init(&groups->depot[node]->lock, LOCK_RANK_CHARGE_DEPOT);
	}
	for (unsigned cpu = 0; cpu < port_cpu_count(); cpu++)
		groups->depot[port_cpu_node(cpu)]->room += CHARGE_STOCK_PAGES - groups->stock_ops->cpu_pages;
	return 0;
}

int stocks_create(struct groups *groups)
{
	if (percpu_alloc(&groups->stock, sizeof(struct memcg_stock), "struct memcg_stock"))
		return -ENOMEM;
	return groups->stock_ops->depots ? make_depots(groups) : 0;
}

void stocks_free(struct groups *groups)
{
	unsigned nodes = port_node_count();

	if (groups->depot)
		for (unsigned node = 0; node < nodes; node++)
			port_memory_free(groups->depot[node], sizeof(struct stock_depot));
	port_memory_free(groups->depot, nodes * sizeof(struct stock_depot *));
	percpu_free(&groups->stock);
}

void stock_replace(struct memcg_stock *stock, uint64_t to)
{
	uint64_t word = atomic_exchange_explicit(&stock->word, to, memory_order_acq_rel);

	if (word)
		uncharge_batch(stock_group(word), stock_pages(word));
}

bool consume_stock(struct sf_group *group)
{
	struct memcg_stock *stock = percpu_this(&group->groups->stock);
	uint64_t word = atomic_load_explicit(&stock->word, memory_order_relaxed);

	/* Should the change fail, the stock has just been drained. */
	return stock_group(word) == group &&
	       stock_change(stock, &word, stock_word(group, stock_pages(word) - 1));
}

void refill_stock(struct sf_group *group, unsigned pages)
{
	stock_replace(percpu_this(&group->groups->stock), stock_word(group, pages));
}

unsigned return_to_stock(struct sf_group *group)
{
	struct memcg_stock *stock = percpu_this(&group->groups->stock);
	uint64_t word = atomic_load_explicit(&stock->word, memory_order_relaxed);
	unsigned pages = stock_pages(word) + 1, most = group->groups->stock_ops->cpu_pages;
	/* A full one is halved, so that neither charges nor their return come to the counters each time. */
	unsigned keep = pages <= most ? pages : most / 2;

	if (stock_group(word) != group)
		return 1;
	return stock_change(stock, &word, stock_word(group, keep)) ? pages - keep : 1;
}

/* The stock of number `number`: those of the CPUs, then the depots. NULL: there are no more. */
static struct memcg_stock *stock_number(struct groups *groups, unsigned number)
{
	unsigned cpus = port_cpu_count();

	if (number < cpus)
		return percpu_of(&groups->stock, number);
	number -= cpus;
	return groups->depot && number < port_node_count() ? &groups->depot[number]->stock : NULL;
}

static void drain(struct memcg_stock *stock)
{
	if (atomic_load_explicit(&stock->word, memory_order_relaxed))
		stock_replace(stock, 0);
}

void drain_stock(struct groups *groups, unsigned cpu)
{
	drain(percpu_of(&groups->stock, cpu));
	if (groups->depot)
		drain(&groups->depot[port_cpu_node(cpu)]->stock);
}

/* The read section keeps the groups that the words name, also when somebody else gives a stock back. */
void drain_all_stock(struct sf_group *group)
{
	struct memcg_stock *stock;

	port_rcu_read_lock();
	for (unsigned i = 0; (stock = stock_number(group->groups, i)); i++) {
		uint64_t word = atomic_load_explicit(&stock->word, memory_order_acquire);

		while (word && group_is_below(stock_group(word), group)) {
			if (stock_change(stock, &word, 0)) {
				uncharge_batch(stock_group(word), stock_pages(word));
				break;
			}
		}
	}
	port_rcu_read_unlock();
}

void stocks_for_each(struct groups *groups, void (*visit)(struct sf_group *group, unsigned pages))
{
	struct memcg_stock *stock;

	for (unsigned i = 0; (stock = stock_number(groups, i)); i++) {
		uint64_t word = atomic_load(&stock->word);

		if (word)
			visit(stock_group(word), stock_pages(word));
	}
}
