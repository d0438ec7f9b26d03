/* SPDX-License-Identifier: MIT */
/*
 * Calibration: the burst microbenchmark of machines/calibration/line-sharing.csv, replayed on the simulated
 * machine it was measured on, and both set side by side.
 */
#ifndef LAB_CALIBRATE_H
#define LAB_CALIBRATE_H

#include <jansson.h>
#include <stdio.h>

#include "lab/machine.h"

/* The worst point that a calibrated machine may have, in percent. */
#define CALIBRATION_PERCENT_MAX 25.0

struct calibration_point {
	bool reads; /* others read what CPU 0 has written; else all add */
	unsigned cpus;
	double measured_cycles, simulated_cycles;
	double error_percent; /* how far the simulated figure is off, with its sign */
};

struct calibration {
	const struct machine *machine;
	uint64_t seed;
	struct calibration_point *points; /* first those where all add */
	size_t count;
	double worst_percent, mean_percent; /* of the errors without their sign */
};

/*
 * Reads the measured points of `machine`, keeps `most` of each curve (0: all), evenly spread with the first
 * and the last among them, and replays each. Returns 0; -ENOENT with a message when the machine names no
 * measured data; -EINVAL with a located message; -EINTR after a signal; another error of a run.
 * calibration_free() frees the points, also after an error.
 */
int calibration_run(struct calibration *calibration, const struct machine *machine, unsigned most,
		    uint64_t seed, void (*progress)(size_t done, size_t count), struct message *why);
void calibration_free(struct calibration *calibration);

/* Reads the points of the CSV file at `path` that were measured on `host`. For calibration_run() and tests.
 */
int calibration_read(struct calibration *calibration, const char *path, const char *host,
		     struct message *why);

/* Keeps `most` points of each curve. For calibration_run() and tests. */
void calibration_thin(struct calibration *calibration, unsigned most);

/* The table for people, and the object for programs (NULL when out of memory). */
void calibration_print(FILE *out, unsigned width, const struct calibration *calibration);
json_t *calibration_json(const struct calibration *calibration);

#endif
