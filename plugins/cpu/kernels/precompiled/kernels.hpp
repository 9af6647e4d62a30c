// What most kernels include, parsed once. They include what they use all the same: builds with
// -Db_pch=false need it.
#include "../loops.h"
#include "../parallel.h"
#include "../product_vectors.h"
#include "../space.h"

#include <algorithm>
#include <cmath>
