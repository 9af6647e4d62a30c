/* The note and the name of a bad plugin, the rest of which is one object for many of them. */
#include "atoll/plugin.h"

ATOLL_PLUGIN_NOTE(NAME, ATOLL_CONTAINS_MODULES | ATOLL_CONTAINS_IMPLS, 0);

__attribute__((visibility("hidden"))) const char zoo_kind[] = NAME;
