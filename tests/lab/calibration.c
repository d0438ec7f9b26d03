/* SPDX-License-Identifier: MIT */
/*
 * The measured points of a calibration: reading them, keeping some of them; and the two machines that were
 * measured, at every point.
 */
#include "tests/lab/fixture.h"

#include <errno.h>
#include <math.h>

#include "lab/calibrate.h"

static const char right[] = "# measured\n"
			    "host,kind,ncores,mean_cycles\n"
			    "a,ww,1,30\n"
			    "b,ww,1,22\n"
			    "a,rw,3,119\n"
			    "a,rw,2,90\n"
			    "\n"
			    "a,ww,2,135.5\n";

static char *path(void)
{
	static char text[128];

	snprintf(text, sizeof(text), "%s/machines/data.csv", fixture_folder);
	return text;
}

static void reads_the_points_of_a_host(void **state)
{
	struct calibration calibration = {0};
	struct message why = {""};

	(void)state;
	fixture_write("machines/data.csv", right);
	if (calibration_read(&calibration, path(), "a", &why))
		fail_msg("%s", why.text);
	assert_int_equal(calibration.count, 4);
	assert_false(calibration.points[0].reads);
	assert_int_equal(calibration.points[1].cpus, 2);
	assert_true(calibration.points[1].measured_cycles == 135.5);
	assert_true(calibration.points[2].reads);
	assert_int_equal(calibration.points[2].cpus, 2);
	assert_int_equal(calibration.points[3].cpus, 3);
	calibration_free(&calibration);
	assert_int_equal(calibration_read(&calibration, path(), "c", &why), -ENOENT);
	calibration_free(&calibration);
}

static void tells_each_mistake_with_its_line(void **state)
{
	static const struct {
		const char *from, *to, *expected;
	} mistakes[] = {
	    {"host,kind", "host,sort", "2: the columns must be host,kind,ncores,mean_cycles"},
	    {"a,ww,1,30", "a,ww,1", NULL},
	    {"a,ww,1,30", "a,ww,1,30,4", NULL},
	    {"a,ww,1,30", "a,wr,1,30", NULL},
	    {"a,ww,1,30", "a,ww,0,30", NULL},
	    {"a,ww,1,30", "a,rw,1,30", NULL},
	    {"a,ww,1,30", "a,ww,5000,30", NULL},
	    {"a,ww,1,30", "a,ww,1,-30", NULL},
	    {"a,ww,1,30", "a,ww,1,inf", NULL},
	    {"a,ww,1,30", "a,ww,1,30x", NULL},
	    {"a,ww,1,30", "a,ww,1x,30", NULL},
	    {"a,ww,1,30", "a,ww,,30", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(mistakes); i++) {
		char *text = fixture_replace(strdup(right), mistakes[i].from, mistakes[i].to);
		struct calibration calibration = {0};
		struct message why = {""};

		fixture_write("machines/data.csv", text);
		free(text);
		assert_int_equal(calibration_read(&calibration, path(), "a", &why), -EINVAL);
		fixture_expect(
		    &why, "machines/data.csv",
		    mistakes[i].expected
			? mistakes[i].expected
			: "3: not a point; it must look like \"intel,ww,12,1159\" (kinds: ww, rw)");
		calibration_free(&calibration);
	}
}

static void thins_each_curve(void **state)
{
	(void)state;
	for (unsigned most = 0; most < 30; most++) {
		struct calibration_point points[30];
		struct calibration calibration = {.points = points, .count = 30};
		size_t adds = 0, reads = 0;

		for (size_t i = 0; i < 30; i++)
			points[i] = (struct calibration_point){
			    .reads = i >= 20, .cpus = (unsigned)(i < 20 ? i + 1 : i - 20 + 2)};
		calibration_thin(&calibration, most);
		for (size_t i = 0; i < calibration.count; i++) {
			const struct calibration_point *point = &calibration.points[i];

			adds += !point->reads;
			reads += point->reads;
			if (i && point->reads == point[-1].reads)
				assert_true(point->cpus > point[-1].cpus);
		}
		assert_int_equal(adds, most && most < 20 ? most : 20);
		assert_int_equal(reads, most && most < 10 ? most : 10);
		assert_int_equal(calibration.points[adds - 1].cpus, 20);
		assert_int_equal(calibration.points[calibration.count - 1].cpus, 11);
		if (most != 1)
			assert_int_equal(calibration.points[0].cpus, 1);
	}
}

/* The files of the source tree, which is the current folder of every test. */
static void both_machines_keep_to_their_curves(void **state)
{
	static const struct {
		const char *name;
		size_t adds, reads;
	} machines[] = {{"westmere-ex-80", 80, 79}, {"opteron-48", 48, 47}};

	(void)state;
	unsetenv("SOFTFAULT_PATH");
	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		struct calibration calibration = {0};
		struct machine *machine;
		struct message why = {""};
		size_t reads = 0;

		if (machine_load(&machine, machines[i].name, &why) ||
		    calibration_run(&calibration, machine, 0, 1, NULL, &why))
			fail_msg("%s", why.text);
		for (size_t j = 0; j < calibration.count; j++) {
			const struct calibration_point *point = &calibration.points[j];

			reads += point->reads;
			if (!(fabs(point->simulated_cycles / point->measured_cycles - 1) <= 0.25))
				fail_msg("%s, %s, %u CPUs: %g cycles, measured %g", machines[i].name,
					 point->reads ? "reads" : "adds", point->cpus,
					 point->simulated_cycles, point->measured_cycles);
		}
		assert_int_equal(calibration.count - reads, machines[i].adds);
		assert_int_equal(reads, machines[i].reads);
		assert_true(calibration.worst_percent > 0 &&
			    calibration.worst_percent <= CALIBRATION_PERCENT_MAX);
		calibration_free(&calibration);
		machine_free(machine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(reads_the_points_of_a_host, fixture_open, fixture_close),
	    cmocka_unit_test_setup_teardown(tells_each_mistake_with_its_line, fixture_open, fixture_close),
	    cmocka_unit_test(thins_each_curve),
	    cmocka_unit_test(both_machines_keep_to_their_curves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
