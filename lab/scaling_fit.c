/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <math.h>

#include "lab/scaling.h"

/* Below this a part of the law makes no difference on any machine there is. */
#define PART_MIN 1e-9

#define STEPS_MAX 400

double scaling_law_at(const struct scaling_law *law, double cpus)
{
	return law->lambda * cpus / (1 + law->sigma * (cpus - 1) + law->kappa * cpus * (cpus - 1));
}

struct data {
	const struct scaling_point *points;
	size_t count;
};

/* The unknowns are log lambda and the roots of sigma and kappa, so that none can go below 0. */
static struct scaling_law law_of(const gsl_vector *unknowns)
{
	double sigma = gsl_vector_get(unknowns, 1), kappa = gsl_vector_get(unknowns, 2);

	return (struct scaling_law){exp(gsl_vector_get(unknowns, 0)), sigma * sigma, kappa * kappa, 0};
}

static int residuals(const gsl_vector *unknowns, void *argument, gsl_vector *result)
{
	const struct data *data = argument;
	struct scaling_law law = law_of(unknowns);

	for (size_t i = 0; i < data->count; i++) {
		const struct scaling_point *point = &data->points[i];

		gsl_vector_set(result, i,
			       log(scaling_law_at(&law, point->cpus) / point->operations_per_second));
	}
	return GSL_SUCCESS;
}

/* Descends from one start. Writes the law and returns the sum of squares; infinity when it does not work. */
static double descend(struct data *data, double sigma, double kappa, struct scaling_law *law)
{
	double start[3] = {log(data->points[0].operations_per_second / data->points[0].cpus), sqrt(sigma),
			   sqrt(kappa)};
	gsl_multifit_nlinear_parameters parameters = gsl_multifit_nlinear_default_parameters();
	gsl_multifit_nlinear_fdf function = {.f = residuals, .n = data->count, .p = 3, .params = data};
	gsl_vector_view view = gsl_vector_view_array(start, 3);
	gsl_multifit_nlinear_workspace *work =
	    gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &parameters, function.n, function.p);
	double squares = INFINITY;
	int info;

	if (!work)
		return INFINITY;
	if (!gsl_multifit_nlinear_init(&view.vector, &function, work)) {
		gsl_multifit_nlinear_driver(STEPS_MAX, 1e-12, 1e-12, 0, NULL, NULL, &info, work);
		gsl_blas_ddot(gsl_multifit_nlinear_residual(work), gsl_multifit_nlinear_residual(work),
			      &squares);
		*law = law_of(gsl_multifit_nlinear_position(work));
	}
	gsl_multifit_nlinear_free(work);
	return isfinite(squares) ? squares : INFINITY;
}

int scaling_fit_law(const struct scaling_point *points, size_t count, struct scaling_law *law)
{
	static const double starts[][2] = {{1e-4, 1e-8}, {0.01, 1e-5}, {0.1, 1e-3}, {0.5, 0.1}};
	struct data data = {points, count};
	gsl_error_handler_t *handler = gsl_set_error_handler_off();
	double best = INFINITY;

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct scaling_law found = {0};
		double squares = descend(&data, starts[i][0], starts[i][1], &found);

		if (squares < best) {
			best = squares;
			*law = found;
		}
	}
	gsl_set_error_handler(handler);
	if (!isfinite(best))
		return -EDOM;
	if (law->sigma < PART_MIN)
		law->sigma = 0;
	if (law->kappa < PART_MIN)
		law->kappa = 0;
	law->peak = law->kappa > 0 && law->sigma < 1 ? sqrt((1 - law->sigma) / law->kappa) : 0;
	return 0;
}
