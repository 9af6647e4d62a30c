// What most sources on the public API include, parsed once. They include what they use all the
// same: builds with -Db_pch=false need it.
#include "atoll/atoll.hpp"

#include <algorithm>

#include <fmt/format.h>
