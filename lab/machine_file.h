/* SPDX-License-Identifier: MIT */
/*
 * What stands in machines/NAME.yaml, word by word, as libcyaml hands it over. lab/machine.c makes a machine
 * of it. A pointer is NULL where the file is silent.
 */
#ifndef LAB_MACHINE_FILE_H
#define LAB_MACHINE_FILE_H

#include <cyaml/cyaml.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

struct machine_file_figure {
	double value;
	char *unit;
	char *source, *assumed, *fitted;
	double *low, *high;
};

enum machine_hops_rule { MACHINE_HOPS_FULL, MACHINE_HOPS_BLADES };

struct machine_file {
	char *name;
	char *title;
	struct machine_file_figure gigahertz;
	struct {
		uint32_t sockets, cores_per_socket, threads_per_core, sockets_per_blade, blades_per_group;
		uint32_t *socket_order;
		uint32_t socket_order_count;
		int *hops_rule; /* enum machine_hops_rule; without it the document has "hops" */
		char *source, *assumed;
	} topology;
	struct {
		enum vsmp_service service;
		enum vsmp_route route;
		bool merge_reads;
		char *source, *assumed;
	} protocol;
	enum vsmp_placement_kind placement;
	uint32_t cpus_per_socket;
	int home; /* enum machine_home */
	char *home_assumed;
	char *calibration;
	struct machine_file_figure *parameter[VSMP_PARAMETER_COUNT];
};

/* Of a `struct machine_file`, for document_load(). */
extern const struct cyaml_schema_value machine_file_schema;

#endif
