/* Files that the host must judge by their note alone, or that have nothing but a note. Built with
 *   OTHER_MAJOR  for an ABI that this host does not speak; opening it would end the process
 *   NO_QUERY     right, but without the one function that a plugin exports */
#include "atoll/plugin.h"

#include <stdlib.h>

#if defined(OTHER_MAJOR)
#undef ATOLL_ABI_MAJOR
#define ATOLL_ABI_MAJOR 2
ATOLL_PLUGIN_NOTE("other_major", 4, 0);

/* Runs when the file is opened: the host must not come so far. */
__attribute__((constructor)) static void opened(void) { abort(); }
#elif defined(NO_QUERY)
ATOLL_PLUGIN_NOTE("no_query", 4, 0);
#endif

ATOLL_EXPORT int atoll_strange_note = 1;
