/* SPDX-License-Identifier: MIT */
/*
 * What the hardware of a machine costs: one number a line, all of the kind that a machine file states with
 * its source. docs/FIDELITY.md tells how the model uses them. Nothing here knows of a variant or an
 * experiment.
 *
 * Units: CYCLES of the machine's own clock (a machine file may give ns, the loader converts), GIGABYTES a
 * second, RATIO without a unit.
 */
#ifndef VSMP_PARAMETERS_H
#define VSMP_PARAMETERS_H

/* X(identifier, name in a machine file, unit, smallest value, largest value, what it is) */
#define VSMP_PARAMETERS(X)                                                                                   \
	X(HIT, "hit", CYCLES, 1, 1e3, "load or store of a line that the core holds")                         \
	X(ATOMIC_HIT, "atomic_hit", CYCLES, 1, 1e3, "atomic read-modify-write of a line that the core owns") \
	X(LLC_READ, "llc_read", CYCLES, 1, 1e4, "read of a clean line from the socket's last-level cache")   \
	X(MEMORY, "memory", CYCLES, 1, 1e5, "read of a line from the memory of the own socket")              \
	X(MEMORY_HOP, "memory_hop", CYCLES, 0, 1e5, "the same from afar, for each hop more")                 \
	X(LOCAL_READ_LATENCY, "local_read_latency", CYCLES, 1, 1e5,                                          \
	  "read of a line modified by another core of the socket")                                           \
	X(LOCAL_READ_OCCUPANCY, "local_read_occupancy", CYCLES, 1, 1e5, "how long that keeps the line busy") \
	X(LOCAL_WRITE_LATENCY, "local_write_latency", CYCLES, 1, 1e5,                                        \
	  "taking a line from another core of the socket")                                                   \
	X(LOCAL_WRITE_OCCUPANCY, "local_write_occupancy", CYCLES, 1, 1e5,                                    \
	  "how long that keeps the line busy")                                                               \
	X(REMOTE_READ_LATENCY, "remote_read_latency", CYCLES, 1, 1e5, "read through the line's home socket") \
	X(REMOTE_READ_LATENCY_HOP, "remote_read_latency_hop", CYCLES, 0, 1e5, "the same, for each hop more") \
	X(REMOTE_WRITE_LATENCY, "remote_write_latency", CYCLES, 1, 1e5,                                      \
	  "taking a line through its home socket")                                                           \
	X(REMOTE_WRITE_LATENCY_HOP, "remote_write_latency_hop", CYCLES, 0, 1e5,                              \
	  "the same, for each hop more")                                                                     \
	X(REMOTE_DIRTY_OCCUPANCY, "remote_dirty_occupancy", CYCLES, 1, 1e6,                                  \
	  "how long a read of a modified line keeps it busy")                                                \
	X(REMOTE_CLEAN_OCCUPANCY, "remote_clean_occupancy", CYCLES, 1, 1e6,                                  \
	  "how long a read of a clean line keeps it busy")                                                   \
	X(REMOTE_READ_OCCUPANCY_HOP, "remote_read_occupancy_hop", CYCLES, 0, 1e5,                            \
	  "either, for each hop more")                                                                       \
	X(REMOTE_WRITE_OCCUPANCY, "remote_write_occupancy", CYCLES, 1, 1e6,                                  \
	  "how long a write keeps the line busy")                                                            \
	X(REMOTE_WRITE_OCCUPANCY_HOP, "remote_write_occupancy_hop", CYCLES, 0, 1e5,                          \
	  "the same, for each hop more")                                                                     \
	X(HOME_WRITE_OCCUPANCY, "home_write_occupancy", CYCLES, 1, 1e6,                                      \
	  "the same where the line returns to its home's socket")                                            \
	X(BLADE_READ_LATENCY, "blade_read_latency", CYCLES, 0, 1e6,                                          \
	  "read through the directory of another blade")                                                     \
	X(BLADE_WRITE_LATENCY, "blade_write_latency", CYCLES, 0, 1e6,                                        \
	  "taking a line through that directory")                                                            \
	X(BLADE_LATENCY_HOP, "blade_latency_hop", CYCLES, 0, 1e6,                                            \
	  "either, for each hop more between blades")                                                        \
	X(BLADE_DIRTY_OCCUPANCY, "blade_dirty_occupancy", CYCLES, 0, 1e6,                                    \
	  "directory busy: write, or read of a modified line")                                               \
	X(BLADE_CLEAN_OCCUPANCY, "blade_clean_occupancy", CYCLES, 0, 1e6,                                    \
	  "directory busy: read of a clean line")                                                            \
	X(BLADE_INVALIDATE, "blade_invalidate", CYCLES, 0, 1e6,                                              \
	  "directory busy, more for each blade that shares the line")                                        \
	X(INVALIDATE_SOCKET, "invalidate_socket", CYCLES, 0, 1e5,                                            \
	  "a write's latency, more for each other socket that shares the line")                              \
	X(TRAVEL, "travel", CYCLES, 0, 1e5, "the way of a request to the line's home")                       \
	X(TRAVEL_HOP, "travel_hop", CYCLES, 0, 1e5, "the same, for each hop more")                           \
	X(JITTER, "jitter", CYCLES, 0, 1e5, "a request's way takes up to this much longer, at random")       \
	X(SKEW, "skew", CYCLES, 0, 1e5, "how far the clocks of two sockets lie apart at the most")           \
	X(RELAX, "relax", CYCLES, 1, 1e4, "one turn of a spinning loop")                                     \
	X(SMT_SHARE, "smt_share", RATIO, 1, 2,                                                               \
	  "how much longer a core's work takes while its sibling runs too")                                  \
	X(CLEAR_CORE, "clear_core", GIGABYTES, 0.01, 1e3, "bandwidth of one core that clears pages")         \
	X(CLEAR_SOCKET, "clear_socket", GIGABYTES, 0.01, 1e4,                                                \
	  "bandwidth of one socket's memory when pages are cleared")                                         \
	X(FAULT_EXCEPTION, "fault_exception", CYCLES, 1, 1e5, "page-fault exception and return")             \
	X(FAULT_PATH, "fault_path", CYCLES, 0, 1e6,                                                          \
	  "the instructions of a fault that are not memory accesses: may be fitted")                         \
	X(IPI_SEND, "ipi_send", CYCLES, 0, 1e6, "sending one inter-processor interrupt")                     \
	X(IPI_HANDLE, "ipi_handle", CYCLES, 0, 1e6, "receiving one and flushing the translations")           \
	X(SLEEP, "sleep", CYCLES, 0, 1e6, "going to sleep")                                                  \
	X(WAKE, "wake", CYCLES, 0, 1e6, "from waking a sleeper until it runs")                               \
	X(GRACE_PERIOD, "grace_period", CYCLES, 0, 1e9,                                                      \
	  "from the last reader's exit until a grace period's end is seen")

enum vsmp_parameter {
#define VSMP_PARAMETER_ENUM(identifier, name, unit, low, high, what) VSMP_##identifier,
	VSMP_PARAMETERS(VSMP_PARAMETER_ENUM)
#undef VSMP_PARAMETER_ENUM
	    VSMP_PARAMETER_COUNT
};

enum vsmp_unit { VSMP_CYCLES, VSMP_GIGABYTES, VSMP_RATIO };

struct vsmp_parameter_info {
	const char *name;
	enum vsmp_unit unit;
	double minimum, maximum; /* what a machine file may say, in `unit` */
	const char *what;
};

/* Indexed by enum vsmp_parameter. */
extern const struct vsmp_parameter_info vsmp_parameter_info[VSMP_PARAMETER_COUNT];

#endif
