// Ids of the module `linalg`: for its implementations.
#pragma once

#include "atoll/plugin.hpp"

enum {
    LINALG_solve = 0,
    LINALG_qr = 1,
    LINALG_dct = 2,
    LINALG_smooth = 3,
    LINALG_generator = 4,
    LINALG_uniform = 5,
};
// qr's mode.
enum { LINALG_reduced = 0, LINALG_complete = 1 };
