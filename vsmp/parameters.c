/* SPDX-License-Identifier: MIT */
#include "vsmp/parameters.h"

#include <string.h>

const struct vsmp_parameter_info vsmp_parameter_info[VSMP_PARAMETER_COUNT] = {
#define VSMP_PARAMETER_ROW(identifier, name, unit, low, high, what) \
	[VSMP_##identifier] = {name, VSMP_##unit, low, high, what},
    VSMP_PARAMETERS(VSMP_PARAMETER_ROW)
#undef VSMP_PARAMETER_ROW
};

int vsmp_parameter_find(const char *name)
{
	for (int i = 0; i < VSMP_PARAMETER_COUNT; i++)
		if (!strcmp(vsmp_parameter_info[i].name, name))
			return i;
	return -1;
}
