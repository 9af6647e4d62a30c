// What most sources of the command include, parsed once. They include what they use all the same:
// builds with -Db_pch=false need it.
#include "json.hpp"
#include "terminal.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include <fmt/format.h>
