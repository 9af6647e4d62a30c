// What most sources of the core include, parsed once. They include what they use all the same:
// builds with -Db_pch=false need it.
#include "base/throw_error.hpp"
#include "call/context.hpp"
#include "call/pipeline.hpp"
#include "objects/objects.hpp"
#include "runtime/registry.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>

#include <fmt/format.h>
