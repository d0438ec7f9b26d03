/* SPDX-License-Identifier: MIT */
#include "lab/number.h"

#include <math.h>
#include <stdio.h>

struct number number_text(double value)
{
	double size = fabs(value);
	struct number number;

	if (size == 0)
		snprintf(number.text, sizeof(number.text), "0");
	else if (size >= 1e12 || size < 1e-4)
		snprintf(number.text, sizeof(number.text), "%.3g", value);
	else
		snprintf(number.text, sizeof(number.text), "%.*f",
			 size >= 99.95     ? 0
			 : size >= 9.995   ? 1
			 : size >= 0.9995  ? 2
			 : size >= 0.09995 ? 3
					   : 4,
			 value);
	return number;
}

struct number number_percent(double percent)
{
	struct number number;

	snprintf(number.text, sizeof(number.text), "%.2f", percent);
	return number;
}
