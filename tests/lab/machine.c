/* SPDX-License-Identifier: MIT */
/*
 * Machine files: a right one is read as it stands, and each mistake is told with its line.
 */
#include "tests/lab/fixture.h"

#include <errno.h>

#include "lab/machine.h"

static struct machine *load_right(const char *from, const char *to)
{
	char *text = fixture_machine();
	struct machine *machine = NULL;
	struct message why = {""};

	if (from)
		text = fixture_replace(text, from, to);
	fixture_write("machines/m.yaml", text);
	free(text);
	if (machine_load(&machine, "m", &why))
		fail_msg("%s", why.text);
	return machine;
}

static void reads_what_stands_there(void **state)
{
	struct machine *machine = load_right(NULL, NULL);

	(void)state;
	assert_string_equal(machine->shape.name, "m");
	assert_string_equal(machine->title, "A machine");
	assert_int_equal(vsmp_machine_cpus(&machine->shape), 8);
	assert_int_equal(machine->shape.service, VSMP_SERVICE_RANDOM);
	assert_int_equal(machine->shape.route, VSMP_ROUTE_HOME);
	assert_true(machine->shape.merge_reads);
	assert_int_equal(machine->shape.hops[0][1], 1);
	assert_int_equal(machine->shape.hops[1][1], 0);
	assert_int_equal(machine->shape.socket_order[1], 1);
	assert_int_equal(machine->placement.kind, VSMP_FILL);
	assert_int_equal(machine->home, MACHINE_HOME_BOOT);
	assert_null(machine->home_assumed);
	assert_null(machine->calibration);
	assert_true(machine->protocol_assumed);
	assert_false(machine->topology_assumed);
	assert_true(machine->shape.value[VSMP_HIT] == 10);
	assert_true(machine->shape.value[VSMP_CLEAR_CORE] == 5);
	assert_true(machine->shape.gigahertz == 2);
	assert_int_equal(machine->figure[VSMP_HIT].provenance, PROVENANCE_SOURCED);
	assert_int_equal(machine->figure[VSMP_BLADE_INVALIDATE].provenance, PROVENANCE_NONE);
	machine_free(machine);
}

static void turns_nanoseconds_into_cycles(void **state)
{
	struct machine *machine =
	    load_right("memory: {value: 10, unit: cycles, source: \"s\"}",
		       "memory: {value: 100, unit: ns, assumed: \"a\", low: 50, high: 200}");
	struct machine_point point;
	struct vsmp_machine resolved;

	(void)state;
	assert_true(machine->shape.value[VSMP_MEMORY] == 200);
	assert_true(machine->figure[VSMP_MEMORY].low == 50 && machine->figure[VSMP_MEMORY].high == 200);
	machine_point_of_file(machine, &point);
	point.value[VSMP_MEMORY] = 50;
	point.value[MACHINE_GIGAHERTZ] = 3;
	machine_resolve(machine, &point, &resolved);
	assert_true(resolved.value[VSMP_MEMORY] == 150);
	assert_true(resolved.value[VSMP_HIT] == 10);
	assert_true(resolved.gigahertz == 3);
	machine_free(machine);
}

static void makes_hops_of_blades(void **state)
{
	struct machine *machine;
	char *text = fixture_machine();
	struct message why = {""};

	(void)state;
	/* Sockets 01|23 45|67: two a blade, two blades a group. */
	text =
	    fixture_replace(text, "sockets: 2", "sockets: 8\n  sockets_per_blade: 2\n  blades_per_group: 2");
	text = fixture_replace(text, "hops: [[0, 1], [1, 0]]", "hops_rule: blades");
	for (unsigned i = VSMP_BLADE_READ_LATENCY; i <= VSMP_BLADE_INVALIDATE; i++) {
		char line[128];

		snprintf(line, sizeof(line), "parameters:\n  %s: {value: 7, unit: cycles, source: \"s\"}",
			 vsmp_parameter_info[i].name);
		text = fixture_replace(text, "parameters:", line);
	}
	fixture_write("machines/m.yaml", text);
	free(text);
	if (machine_load(&machine, "m", &why))
		fail_msg("%s", why.text);
	assert_int_equal(machine->shape.hops[0][0], 0);
	assert_int_equal(machine->shape.hops[0][1], 1);
	assert_int_equal(machine->shape.hops[1][2], 2);
	assert_int_equal(machine->shape.hops[3][4], 3);
	assert_int_equal(machine->shape.hops[7][4], 2);
	assert_true(machine->shape.value[VSMP_BLADE_READ_LATENCY] == 7);
	machine_free(machine);
}

static void finds_an_idle_home(void **state)
{
	struct machine *machine =
	    load_right("placement: fill", "placement: fill\nhome: idle\nhome_assumed: h");
	struct message why = {""};
	int socket;

	(void)state;
	assert_string_equal(machine->home_assumed, "h");
	assert_int_equal(
	    machine_home_socket(&machine->shape, &machine->placement, machine->home, 4, &socket, &why), 0);
	assert_int_equal(socket, 1);
	assert_int_equal(
	    machine_home_socket(&machine->shape, &machine->placement, machine->home, 5, &socket, &why), 0);
	assert_int_equal(socket, -1);
	assert_int_equal(
	    machine_home_socket(&machine->shape, &machine->placement, MACHINE_HOME_BOOT, 4, &socket, &why),
	    0);
	assert_int_equal(socket, -1);
	assert_int_equal(
	    machine_home_socket(&machine->shape, &machine->placement, machine->home, 9, &socket, &why),
	    -EINVAL);
	machine_free(machine);
}

static void counts_seats(void **state)
{
	struct machine *machine = load_right(NULL, NULL);

	(void)state;
	assert_int_equal(machine_cpus(machine, &(struct vsmp_placement){VSMP_FILL, 0}), 8);
	assert_int_equal(machine_cpus(machine, &(struct vsmp_placement){VSMP_FILL, 3}), 6);
	assert_int_equal(machine_cpus(machine, &(struct vsmp_placement){VSMP_FILL, 99}), 8);
	machine_free(machine);
}

struct mistake {
	const char *from, *to;
	const char *expected; /* after the file's name */
};

static const struct mistake mistakes[] = {
    {"placement: fill", "placement: fill\nplacment: fill",
     "16: unknown key \"placment\"; did you mean \"placement\"? there are: name, title, gigahertz, topology, "
     "protocol, "
     "placement, cpus_per_socket, home, home_assumed, calibration, parameters"},
    {"  hit:", "  hitt:", "17: unknown key \"hitt\" in parameters; did you mean \"hit\"?"},
    {"  route: home\n", "", "10: \"protocol\" lacks the key \"route\""},
    {"title: A machine\n", "", "1: the file lacks the key \"title\""},
    {"  hit: {value: 10, unit: cycles, source: \"s\"}\n", "",
     "16: \"parameters\" lacks \"hit\" (load or store of a line that the core holds)"},
    {"title: A machine", "title: A machine\ntitle: Another",
     "3: \"title\" stands here twice; one of the two must go"},
    {"  atomic_hit", "  hit: {value: 1, unit: cycles, source: \"s\"}\n  atomic_hit",
     "18: \"hit\" stands here twice; one of the two must go"},
    {"sockets: 2", "sockets: two", "5: \"sockets\" is \"two\"; it must be a whole number, 0 or more"},
    {"sockets: 2", "sockets: -2", "5: \"sockets\" is \"-2\"; it must be a whole number, 0 or more"},
    {"sockets: 2", "sockets: 2.5", "5: \"sockets\" is \"2.5\"; it must be a whole number, 0 or more"},
    {"sockets: 2", "sockets: 010", "5: \"sockets\" is \"010\"; it must be a whole number, 0 or more"},
    {"sockets: 2", "sockets: 99999999999", "5: \"sockets\" is \"99999999999\"; it must be a smaller number"},
    {"sockets: 2", "sockets: 0", "5: \"sockets\" is 0; it must be 1 to 256"},
    {"cores_per_socket: 4", "cores_per_socket: 600",
     "5: the machine has 1200 CPUs; sockets x cores_per_socket x threads_per_core must be 1024 at the most"},
    {"threads_per_core: 1", "threads_per_core: 9", "7: \"threads_per_core\" is 9; it must be 1 to 8"},
    {"sockets: 2", "sockets: 2\n  sockets_per_blade: 3",
     "6: \"sockets_per_blade\" is 3; it must divide the 2 sockets"},
    {"sockets: 2", "sockets:", "5: \"sockets\" is nothing; it must be a whole number, 0 or more"},
    {"  hops: [[0, 1], [1, 0]]\n", "",
     "4: \"topology\" must have one of \"hops\" (a row for each socket) and \"hops_rule\""},
    {"  hops: [[0, 1], [1, 0]]", "  hops: [[0, 1], [1, 0]]\n  hops_rule: full",
     "9: \"topology\" must have one of \"hops\" (a row for each socket) and \"hops_rule\""},
    {"  hops: [[0, 1], [1, 0]]", "  hops_rule: ring",
     "8: \"hops_rule\" cannot be \"ring\"; there are: full, blades"},
    {"  hops: [[0, 1], [1, 0]]", "  hops_rule: blades",
     "8: \"hops_rule: blades\" needs \"sockets_per_blade\""},
    {"  hops: [[0, 1], [1, 0]]", "  hops_rule: full\n  blades_per_group: 2",
     "9: \"blades_per_group\" (1 or more) goes with \"hops_rule: blades\" and with nothing else"},
    {"[[0, 1], [1, 0]]", "[[0, 1]]", "8: \"hops\" has 1 rows; it must have one for each of the 2 sockets"},
    {"[[0, 1], [1, 0]]", "\n    - [0, 1]\n    - [1]",
     "10: row 1 of \"hops\" has 1 numbers; it must have one for each of the 2 sockets"},
    {"[[0, 1], [1, 0]]", "\n    - [0, 1]\n    - [2, 0]",
     "10: \"hops\" says 2 from socket 1 to socket 0 but 1 back; both must be the same"},
    {"[[0, 1], [1, 0]]", "[[1, 1], [1, 0]]",
     "8: \"hops\" says 1 from socket 0 to socket 0; it must be 0 from a socket to itself and more to any "
     "other"},
    {"[[0, 1], [1, 0]]", "[[0, 300], [300, 0]]", "8: \"300\" must be a whole number from 0 to 255"},
    {"[[0, 1], [1, 0]]", "[[0, [1]], [1, 0]]", "8: a whole number from 0 to 255 must stand here"},
    {"threads_per_core: 1", "threads_per_core: 1\n  socket_order: [0]",
     "8: \"socket_order\" has 1 items; it must name each of the 2 sockets once"},
    {"threads_per_core: 1", "threads_per_core: 1\n  socket_order: [1, 1]",
     "8: \"socket_order\" has 1 where it must name each socket, 0 to 1, once"},
    {"threads_per_core: 1", "threads_per_core: 1\n  socket_order: 1",
     "8: \"socket_order\" is \"1\"; it must be a list"},
    {"  source: \"s\"\nprotocol", "protocol", "4: \"topology\" must have one of the keys source and assumed"},
    {"  assumed: \"a\"", "  assumed: \"a\"\n  source: \"s\"",
     "10: \"protocol\" must have one of the keys source and assumed"},
    {"merge_reads: true", "merge_reads: maybe", "13: \"merge_reads\" is \"maybe\"; it must be true or false"},
    {"service: random", "service: fife",
     "11: \"service\" cannot be \"fife\"; did you mean \"fifo\"? there are: random, fifo"},
    {"placement: fill", "placement: [fill]",
     "15: \"placement\" cannot be \"a list\"; there are: fill, spread, compact"},
    {"topology:\n", "topology: flat\nrest:\n", "4: \"topology\" is \"flat\"; it must be keys and values"},
    {"title: A machine", "title: {a: b}", "2: \"title\" is a mapping; it must be text"},
    {"title: A machine", "title: \"\"", "2: \"title\" is nothing; it must be text that is not empty"},
    {"name: m", "name: n", "1: the machine is called \"n\"; its file must be called n.yaml"},
    {"value: 2.0, source", "value: 20, source", "3: value of \"gigahertz\" is 20 GHz; it must be 0.1 to 10"},
    {"hit: {value: 10", "hit: {value: ten", "17: \"value\" is \"ten\"; it must be a number"},
    {"hit: {value: 10", "hit: {value: nan", "17: \"value\" is \"nan\"; it must be a number"},
    {"hit: {value: 10", "hit: {value: 2000", "17: value of \"hit\" is 2000 cycles; it must be 1 to 1000"},
    {"hit: {value: 10, unit: cycles", "hit: {value: 600, unit: ns",
     "17: value of \"hit\" is 600 ns; it must be 0.5 to 500"},
    {"hit: {value: 10, unit: cycles", "hit: {value: 10, unit: us",
     "17: \"hit\" is in \"us\"; its unit must be cycles or ns"},
    {"smt_share: {value: 1.5, unit: ratio", "smt_share: {value: 1.5, unit: cycles",
     "42: \"smt_share\" is in \"cycles\"; its unit must be ratio"},
    {"hit: {value: 10, unit: cycles, source: \"s\"}", "hit: {value: 10, unit: cycles}",
     "17: \"hit\" does not say where it comes from; give source: \"...\", or assumed: \"why\" with low and "
     "high"},
    {"hit: {value: 10, unit: cycles, source: \"s\"}",
     "hit: {value: 10, unit: cycles, source: \"s\", assumed: \"a\", low: 1, high: 20}",
     "17: \"hit\" has more than one of the keys source, assumed and fitted; one must stay"},
    {"hit: {value: 10, unit: cycles, source: \"s\"}",
     "hit: {value: 10, unit: cycles, assumed: \"a\", low: 5}",
     "17: \"hit\" is assumed; it must have low and high, the range in which it is plausible"},
    {"hit: {value: 10, unit: cycles, source: \"s\"}",
     "hit: {value: 10, unit: cycles, assumed: \"a\", low: 11, high: 20}",
     "17: \"hit\" is 10, outside its own range of low 11 to high 20"},
    {"hit: {value: 10, unit: cycles, source: \"s\"}",
     "hit:\n    value: 10\n    unit: cycles\n    assumed: a\n    low: 0\n    high: 20",
     "21: low of \"hit\" is 0 cycles; it must be 1 to 1000"},
    {"hit: {value: 10, unit: cycles, source: \"s\"}", "hit: {value: 10, unit: cycles, source: \"s\", low: 1}",
     "17: \"hit\" has a low or high but is not assumed; only assumed figures have a range"},
    {"hit: {value: 10, unit: cycles, source: \"s\"}", "hit: {value: 10, unit: cycles, fitted: \"f\"}",
     "17: \"hit\" may not be fitted; only \"fault_path\" may, and only to an uncontended figure"},
    {"parameters:\n", "parameters:\n  blade_invalidate: {value: 1, unit: cycles, source: \"s\"}\n",
     "17: \"blade_invalidate\" is for a machine with blades; give topology.sockets_per_blade, or leave it "
     "out"},
    {"title: A machine", "title: \"A machine",
     "3: not YAML: did not find expected key, while parsing a block mapping; see machines/README.md for how "
     "such a file looks"},
    {"title: A machine", "title: *a",
     "2: not YAML: found undefined alias; see machines/README.md for how such a file looks"},
};

static void tells_each_mistake_with_its_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		char *text = fixture_replace(fixture_machine(), mistakes[i].from, mistakes[i].to);
		struct machine *machine;
		struct message why = {""};

		fixture_write("machines/m.yaml", text);
		if (machine_load(&machine, "m", &why) != -EINVAL)
			fail_msg("no mistake was seen where this was expected: %s", mistakes[i].expected);
		fixture_expect(&why, "machines/m.yaml", mistakes[i].expected);
		free(text);
	}
}

/* However much somebody wrote, what would be right still stands in the message. */
static void shortens_what_was_written(void **state)
{
	static const struct mistake places[] = {
	    {"placement: fill", "placement: %s",
	     "15: \"placement\" cannot be \"%s\"; there are: fill, spread, compact"},
	    {"sockets: 2", "sockets: %s", "5: \"sockets\" is \"%s\"; it must be a whole number, 0 or more"},
	    {"hops: [[0, 1]", "hops: [[0, %s]", "8: \"%s\" must be a whole number from 0 to 255"},
	    {"hit: {value: 10, unit: cycles", "hit: {value: 10, unit: %s",
	     "17: \"hit\" is in \"%s\"; its unit must be cycles or ns"},
	    {"name: m", "name: %s", "1: \"name\" is \"%s\"; it must be text of at most 63 bytes"},
	};
	char much[3000], shown[64], to[4096], expected[512];

	(void)state;
	memset(much, 'x', sizeof(much) - 1);
	much[sizeof(much) - 1] = '\0';
	snprintf(shown, sizeof(shown), "%.60s...", much);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		struct machine *machine;
		struct message why = {""};
		char *text, *filled = strdup(places[i].expected);

		text = fixture_replace(strdup(places[i].to), "%s", much);
		snprintf(to, sizeof(to), "%s", text);
		free(text);
		text = fixture_replace(fixture_machine(), places[i].from, to);
		fixture_write("machines/m.yaml", text);
		free(text);
		assert_int_equal(machine_load(&machine, "m", &why), -EINVAL);
		while (strstr(filled, "%s"))
			filled = fixture_replace(filled, "%s", shown);
		snprintf(expected, sizeof(expected), "%s", filled);
		free(filled);
		fixture_expect(&why, "machines/m.yaml", expected);
	}
}

static void refuses_what_is_no_file(void **state)
{
	static const struct {
		const char *name, *expected;
	} files[] = {
	    {"pipe", " is a pipe; it must be a file"},
	    {"folder", " is a folder; it must be a file"},
	    {"loop", ": Too many levels of symbolic links"},
	};
	char path[128], expected[256];

	(void)state;
	snprintf(path, sizeof(path), "%s/machines/pipe.yaml", fixture_folder);
	assert_int_equal(mkfifo(path, 0666), 0);
	snprintf(path, sizeof(path), "%s/machines/folder.yaml", fixture_folder);
	assert_int_equal(mkdir(path, 0777), 0);
	snprintf(path, sizeof(path), "%s/machines/loop.yaml", fixture_folder);
	assert_int_equal(symlink("loop.yaml", path), 0);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct machine *machine;
		struct message why = {""};

		snprintf(path, sizeof(path), "%s/machines/%s.yaml", fixture_folder, files[i].name);
		snprintf(expected, sizeof(expected), "%s%s", path, files[i].expected);
		assert_true(machine_load(&machine, files[i].name, &why) < 0);
		assert_string_equal(why.text, expected);
		assert_true(machine_load(&machine, path, &why) < 0);
		assert_string_equal(why.text, expected);
	}
}

static void tells_that_the_given_folder_is_missing(void **state)
{
	struct machine *machine;
	struct message why = {""};

	(void)state;
	setenv("SOFTFAULT_PATH", "/nowhere/at/all", 1);
	assert_int_equal(machine_load(&machine, "m", &why), -EINVAL);
	assert_string_equal(
	    why.text,
	    "SOFTFAULT_PATH names /nowhere/at/all, which is no folder that can be read; it must name "
	    "one that has experiments and machines in it, or not be set");
}

static void refuses_what_is_no_mapping(void **state)
{
	static const struct mistake files[] = {
	    {NULL, "", "1: the file is empty; its first key would be \"name\""},
	    {NULL, "# nothing\n", "1: the file is empty; its first key would be \"name\""},
	    {NULL, "\n- a\n- b\n", "2: the file must hold keys and values, such as \"name: uv\""},
	    {NULL, "name: m\n---\nname: n\n", "3: a second document begins; a file holds one"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct machine *machine;
		struct message why = {""};

		fixture_write("machines/m.yaml", files[i].to);
		assert_int_equal(machine_load(&machine, "m", &why), -EINVAL);
		fixture_expect(&why, "machines/m.yaml", files[i].expected);
	}
}

static void lists_the_machines_there_are(void **state)
{
	struct machine *machine;
	struct message why = {""};
	char *text = fixture_machine();

	(void)state;
	fixture_write("machines/m.yaml", text);
	fixture_write("machines/other.yaml", text);
	free(text);
	assert_int_equal(machine_load(&machine, "othre", &why), -ENOENT);
	assert_string_equal(
	    why.text, "there is no machine called \"othre\"; did you mean \"other\"? there are: m, other");
	assert_int_equal(machine_load(&machine, "/nowhere/m.yaml", &why), -ENOENT);
	assert_string_equal(why.text, "there is no file /nowhere/m.yaml");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(shortens_what_was_written, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(refuses_what_is_no_file, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(tells_that_the_given_folder_is_missing, fixture_open,
					    fixture_close),
	    cmocka_unit_test_setup_teardown(reads_what_stands_there, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(turns_nanoseconds_into_cycles, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(makes_hops_of_blades, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(finds_an_idle_home, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(counts_seats, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(tells_each_mistake_with_its_line, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(refuses_what_is_no_mapping, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(lists_the_machines_there_are, fixture_open, fixture_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
