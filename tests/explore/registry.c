/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include "tests/explore/list.h"
#include "tests/explore/pair_list.h"
#include "vsmp/check.h"

#define DECLARE(name) extern const struct check name;
CHECKS(DECLARE)
#undef DECLARE

#define DECLARE(scene, first, second) extern const struct check pair_##scene##_##first##_##second##_check;
PAIRS(DECLARE)
OBJECT_PAIRS(DECLARE)
#undef DECLARE

const struct check *const checks[] = {
#define ROW(name) &name,
    CHECKS(ROW)
#undef ROW
#define ROW(scene, first, second) &pair_##scene##_##first##_##second##_check,
	PAIRS(ROW) OBJECT_PAIRS(ROW)
#undef ROW
	    NULL,
};
