/* SPDX-License-Identifier: MIT */
#include "lab/machine_file.h"

#include "lab/document.h"
#include "lab/machine.h"

#define TEXT     CYAML_FLAG_POINTER
#define OPTIONAL CYAML_FLAG_OPTIONAL
#define STRICT   CYAML_FLAG_STRICT

static const struct cyaml_strval services[] = {{"random", VSMP_SERVICE_RANDOM}, {"fifo", VSMP_SERVICE_FIFO}};
static const struct cyaml_strval routes[] = {{"home", VSMP_ROUTE_HOME}, {"round", VSMP_ROUTE_ROUND}};
static const struct cyaml_strval hops_rules[] = {{"full", MACHINE_HOPS_FULL},
						 {"blades", MACHINE_HOPS_BLADES}};
static const struct cyaml_strval homes[] = {{"boot", MACHINE_HOME_BOOT}, {"idle", MACHINE_HOME_IDLE}};
static const struct cyaml_strval placements[] = {
    {"fill", VSMP_FILL}, {"spread", VSMP_SPREAD}, {"compact", VSMP_COMPACT}};

static const struct cyaml_schema_field gigahertz_fields[] = {
    CYAML_FIELD_FLOAT("value", CYAML_FLAG_DEFAULT, struct machine_file_figure, value),
    CYAML_FIELD_STRING_PTR("source", TEXT | OPTIONAL, struct machine_file_figure, source, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("assumed", TEXT | OPTIONAL, struct machine_file_figure, assumed, 1,
			   CYAML_UNLIMITED),
    CYAML_FIELD_FLOAT_PTR("low", OPTIONAL, struct machine_file_figure, low),
    CYAML_FIELD_FLOAT_PTR("high", OPTIONAL, struct machine_file_figure, high),
    CYAML_FIELD_END};

static const struct cyaml_schema_field figure_fields[] = {
    CYAML_FIELD_FLOAT("value", CYAML_FLAG_DEFAULT, struct machine_file_figure, value),
    CYAML_FIELD_STRING_PTR("unit", TEXT, struct machine_file_figure, unit, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("source", TEXT | OPTIONAL, struct machine_file_figure, source, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("assumed", TEXT | OPTIONAL, struct machine_file_figure, assumed, 1,
			   CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("fitted", TEXT | OPTIONAL, struct machine_file_figure, fitted, 1, CYAML_UNLIMITED),
    CYAML_FIELD_FLOAT_PTR("low", OPTIONAL, struct machine_file_figure, low),
    CYAML_FIELD_FLOAT_PTR("high", OPTIONAL, struct machine_file_figure, high),
    CYAML_FIELD_END};

static const struct cyaml_schema_value socket = {CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint32_t)};

static const struct cyaml_schema_field topology_fields[] = {
    CYAML_FIELD_UINT("sockets", CYAML_FLAG_DEFAULT, struct machine_file, topology.sockets),
    CYAML_FIELD_UINT("cores_per_socket", CYAML_FLAG_DEFAULT, struct machine_file, topology.cores_per_socket),
    CYAML_FIELD_UINT("threads_per_core", CYAML_FLAG_DEFAULT, struct machine_file, topology.threads_per_core),
    CYAML_FIELD_UINT("sockets_per_blade", OPTIONAL, struct machine_file, topology.sockets_per_blade),
    CYAML_FIELD_SEQUENCE("socket_order", OPTIONAL | CYAML_FLAG_POINTER, struct machine_file,
			 topology.socket_order, &socket, 1, VSMP_SOCKETS_MAX),
    CYAML_FIELD_IGNORE("hops", OPTIONAL),
    CYAML_FIELD_ENUM_PTR("hops_rule", OPTIONAL | STRICT, struct machine_file, topology.hops_rule, hops_rules,
			 CYAML_ARRAY_LEN(hops_rules)),
    CYAML_FIELD_UINT("blades_per_group", OPTIONAL, struct machine_file, topology.blades_per_group),
    CYAML_FIELD_STRING_PTR("source", TEXT | OPTIONAL, struct machine_file, topology.source, 1,
			   CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("assumed", TEXT | OPTIONAL, struct machine_file, topology.assumed, 1,
			   CYAML_UNLIMITED),
    CYAML_FIELD_END};

static const struct cyaml_schema_field protocol_fields[] = {
    CYAML_FIELD_ENUM("service", STRICT, struct machine_file, protocol.service, services,
		     CYAML_ARRAY_LEN(services)),
    CYAML_FIELD_ENUM("route", STRICT, struct machine_file, protocol.route, routes, CYAML_ARRAY_LEN(routes)),
    CYAML_FIELD_BOOL("merge_reads", CYAML_FLAG_DEFAULT, struct machine_file, protocol.merge_reads),
    CYAML_FIELD_STRING_PTR("source", TEXT | OPTIONAL, struct machine_file, protocol.source, 1,
			   CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("assumed", TEXT | OPTIONAL, struct machine_file, protocol.assumed, 1,
			   CYAML_UNLIMITED),
    CYAML_FIELD_END};

/* Which of them a machine needs depends on its blades, so lab/machine.c looks. */
static const struct cyaml_schema_field parameter_fields[] = {
#define PARAMETER_FIELD(identifier, name, unit, low, high, what)                                   \
	CYAML_FIELD_MAPPING_PTR(name, OPTIONAL, struct machine_file, parameter[VSMP_##identifier], \
				figure_fields),
    VSMP_PARAMETERS(PARAMETER_FIELD)
#undef PARAMETER_FIELD
	CYAML_FIELD_END};

static const struct cyaml_schema_field fields[] = {
    CYAML_FIELD_STRING_PTR("name", TEXT, struct machine_file, name, 1, 63),
    CYAML_FIELD_STRING_PTR("title", TEXT, struct machine_file, title, 1, CYAML_UNLIMITED),
    CYAML_FIELD_MAPPING("gigahertz", CYAML_FLAG_DEFAULT, struct machine_file, gigahertz, gigahertz_fields),
    DOCUMENT_GROUP("topology", struct machine_file, topology_fields),
    DOCUMENT_GROUP("protocol", struct machine_file, protocol_fields),
    CYAML_FIELD_ENUM("placement", STRICT, struct machine_file, placement, placements,
		     CYAML_ARRAY_LEN(placements)),
    CYAML_FIELD_UINT("cpus_per_socket", OPTIONAL, struct machine_file, cpus_per_socket),
    CYAML_FIELD_ENUM("home", OPTIONAL | STRICT, struct machine_file, home, homes, CYAML_ARRAY_LEN(homes)),
    CYAML_FIELD_STRING_PTR("home_assumed", TEXT | OPTIONAL, struct machine_file, home_assumed, 1,
			   CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("calibration", TEXT | OPTIONAL, struct machine_file, calibration, 1,
			   CYAML_UNLIMITED),
    DOCUMENT_GROUP("parameters", struct machine_file, parameter_fields),
    CYAML_FIELD_END};

const struct cyaml_schema_value machine_file_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct machine_file, fields)};
