// What most sources of the kit include, parsed once. They include what they use all the same:
// builds with -Db_pch=false need it.
#include "../suites.hpp"
#include "atoll/atoll.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>
