// What most tests of the core include, parsed once. They include what they use all the same: builds
// with -Db_pch=false need it.
#include "../core/support.hpp"
#include "../core/views.hpp"

#include <algorithm>
#include <functional>
#include <thread>
