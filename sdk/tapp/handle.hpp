// Handles: they have no state.
#pragma once

#include "objects.hpp"

namespace Atoll::Tapp {

struct Handle {};

Table<Handle> &handles();

} // namespace Atoll::Tapp
