/* SPDX-License-Identifier: MIT */
#include "vsmp/distance.h"

#include "vsmp/what_if.h"

/* Who else holds a line, seen from one socket. */
struct holders {
	unsigned copies;        /* cores other than the requester's */
	bool in_socket;         /* some core of the requester's socket, itself included, holds it */
	unsigned sockets;       /* other sockets that hold it */
	unsigned blades;        /* other blades */
	unsigned farthest_hops; /* from the home to a socket that holds it */
	int supplier;           /* socket that answers; -1: the home's memory */
};

static inline unsigned hops(unsigned from, unsigned to)
{
	return machine->shape.hops[from][to];
}

static inline unsigned larger(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* What comes 0 times is not asked for. */
static inline uint32_t times(unsigned count, enum vsmp_parameter parameter)
{
	return count ? count * cost(parameter) : 0;
}

static void add_sharers(struct holders *found, const struct cpu *cpu, const struct line *line, unsigned home,
			enum access_kind kind)
{
	const struct sharers *set = line_sharers(line->sharers);
	unsigned last_blade = cpu->blade;

	found->copies = set->count - line_shared_by(line, cpu->core);
	found->in_socket = sharers_in_socket(set, cpu->socket);
	found->sockets = set->socket_count - found->in_socket;
	if (line->supplier && machine->shape.route == VSMP_ROUTE_ROUND)
		found->supplier = (int)core_socket(line->supplier - 1u);
	/* A read of a clean line is answered at its home; a write must reach everyone. */
	if (kind == ACCESS_READ)
		return;
	for (unsigned word = 0; word < ARRAY_SIZE(set->sockets); word++) {
		for (uint64_t bits = set->sockets[word]; bits; bits &= bits - 1) {
			unsigned socket = word * 64 + (unsigned)__builtin_ctzll(bits);
			unsigned blade = socket_blade(socket);

			found->farthest_hops = larger(found->farthest_hops, hops(home, socket));
			if (blade != cpu->blade && blade != last_blade) {
				found->blades++;
				last_blade = blade;
			}
		}
	}
}

static struct holders find_holders(const struct cpu *cpu, struct line *line, unsigned home,
				   enum access_kind kind)
{
	struct holders found = {.supplier = -1};

	if (line->owner) {
		unsigned socket = core_socket(line->owner - 1u);

		found.copies = 1;
		found.in_socket = socket == cpu->socket;
		found.sockets = socket != cpu->socket;
		found.blades = socket_blade(socket) != cpu->blade;
		found.farthest_hops = hops(home, socket);
		found.supplier = (int)socket;
		return found;
	}
	if (line->sharers)
		add_sharers(&found, cpu, line, home, kind);
	return found;
}

/* HOME: the longer leg decides. ROUND: the way is walked once around. In both, 0 is within the home's socket.
 */
static unsigned route_hops(const struct cpu *cpu, const struct holders *found, unsigned home)
{
	unsigned to_home = hops(cpu->socket, home);

	if (machine->shape.route == VSMP_ROUTE_HOME)
		return larger(1, larger(to_home, found->farthest_hops));
	if (found->supplier < 0)
		return 2 * to_home;
	return hops(home, (unsigned)found->supplier) + hops((unsigned)found->supplier, cpu->socket) + to_home;
}

static void remote_cost(struct transfer *transfer, const struct cpu *cpu, const struct line *line,
			enum access_kind kind, const struct holders *found, unsigned home)
{
	/* Parameters of the HOME route are for one hop, those of the ROUND route for none. */
	unsigned more = route_hops(cpu, found, home) - (machine->shape.route == VSMP_ROUTE_HOME);

	if (kind == ACCESS_WRITE) {
		transfer->latency_cycles = cost(VSMP_REMOTE_WRITE_LATENCY) +
					   times(more, VSMP_REMOTE_WRITE_LATENCY_HOP) +
					   times(found->sockets, VSMP_INVALIDATE_SOCKET);
		transfer->occupancy_cycles =
		    cost(VSMP_REMOTE_WRITE_OCCUPANCY) + times(more, VSMP_REMOTE_WRITE_OCCUPANCY_HOP);
		if (machine->shape.route == VSMP_ROUTE_HOME && cpu->socket == home)
			transfer->occupancy_cycles = cost(VSMP_HOME_WRITE_OCCUPANCY);
	} else {
		transfer->latency_cycles =
		    cost(VSMP_REMOTE_READ_LATENCY) + times(more, VSMP_REMOTE_READ_LATENCY_HOP);
		transfer->occupancy_cycles =
		    cost(line->dirty ? VSMP_REMOTE_DIRTY_OCCUPANCY : VSMP_REMOTE_CLEAN_OCCUPANCY) +
		    times(more, VSMP_REMOTE_READ_OCCUPANCY_HOP);
	}
}

static void blade_cost(struct transfer *transfer, const struct cpu *cpu, const struct line *line,
		       enum access_kind kind, const struct holders *found, unsigned home)
{
	/* Two hops lead to a neighbouring blade: the parameters are for these. */
	unsigned distance = larger(2, larger(hops(cpu->socket, home), found->farthest_hops));
	bool write = kind == ACCESS_WRITE;

	transfer->latency_cycles = cost(write ? VSMP_BLADE_WRITE_LATENCY : VSMP_BLADE_READ_LATENCY) +
				   times(distance - 2, VSMP_BLADE_LATENCY_HOP);
	transfer->occupancy_cycles =
	    cost(write || line->dirty ? VSMP_BLADE_DIRTY_OCCUPANCY : VSMP_BLADE_CLEAN_OCCUPANCY);
	if (write)
		transfer->occupancy_cycles += times(found->blades, VSMP_BLADE_INVALIDATE);
}

static struct transfer full_cost(const struct cpu *cpu, struct line *line, enum access_kind kind)
{
	struct transfer transfer = {0};
	bool through_home = machine->shape.route == VSMP_ROUTE_ROUND;
	unsigned home, to_home;
	struct holders found;

	if (line->owner == cpu->core + 1u || (kind == ACCESS_READ && line_shared_by(line, cpu->core))) {
		transfer.latency_cycles = kind == ACCESS_READ ? cpu->hit_cycles : cpu->atomic_hit_cycles;
		return transfer;
	}
	home = line_home(line, cpu->socket);
	to_home = hops(cpu->socket, home);
	found = find_holders(cpu, line, home, kind);
	transfer.copies = found.copies;
	if (!found.copies) {
		if (line_shared_by(line, cpu->core)) {
			/* The only sharer becomes the owner: its socket's cache knows that nobody else is. */
			transfer.class = TRANSFER_LLC;
			transfer.latency_cycles = cost(VSMP_LLC_READ);
			return transfer;
		}
		transfer.class = TRANSFER_MEMORY;
		transfer.latency_cycles = cost(VSMP_MEMORY) + times(to_home, VSMP_MEMORY_HOP);
		if (machine->shape.sockets_per_blade && socket_blade(home) != cpu->blade)
			transfer.latency_cycles = cost(VSMP_BLADE_READ_LATENCY) +
						  times(larger(2, to_home) - 2, VSMP_BLADE_LATENCY_HOP);
		transfer.occupancy_cycles = cost(VSMP_LOCAL_READ_OCCUPANCY);
		return transfer;
	}
	if (!through_home && kind == ACCESS_READ && !line->owner && found.in_socket) {
		transfer.class = TRANSFER_LLC;
		transfer.latency_cycles = cost(VSMP_LLC_READ);
		transfer.occupancy_cycles = cost(VSMP_LOCAL_READ_OCCUPANCY);
		return transfer;
	}
	if (!through_home && !found.sockets) {
		bool write = kind == ACCESS_WRITE;

		transfer.class = TRANSFER_LOCAL;
		transfer.latency_cycles = cost(write ? VSMP_LOCAL_WRITE_LATENCY : VSMP_LOCAL_READ_LATENCY);
		transfer.occupancy_cycles =
		    cost(write ? VSMP_LOCAL_WRITE_OCCUPANCY : VSMP_LOCAL_READ_OCCUPANCY);
		return transfer;
	}
	if (to_home)
		transfer.travel_cycles = cost(VSMP_TRAVEL) + times(to_home - 1, VSMP_TRAVEL_HOP);
	if (machine->shape.sockets_per_blade && (socket_blade(home) != cpu->blade || found.blades)) {
		transfer.class = TRANSFER_BLADE;
		blade_cost(&transfer, cpu, line, kind, &found, home);
	} else {
		transfer.class = TRANSFER_REMOTE;
		remote_cost(&transfer, cpu, line, kind, &found, home);
	}
	return transfer;
}

struct transfer transfer_cost(const struct cpu *cpu, struct line *line, enum access_kind kind)
{
	struct transfer transfer = full_cost(cpu, line, kind);

	if (likely(!cpu->in_speedup))
		return transfer;
	transfer.latency_cycles = what_if_cycles(cpu, transfer.latency_cycles);
	transfer.occupancy_cycles = what_if_cycles(cpu, transfer.occupancy_cycles);
	transfer.travel_cycles = what_if_cycles(cpu, transfer.travel_cycles);
	return transfer;
}
