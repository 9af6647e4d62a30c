/* What of a bad plugin is known at compile time; the rest is one object for all of them.
 *
 *   NAME           which kind it is, and the name in its note
 *   NOTE_ISA, NOTE_SANITIZERS, NOTE_MAJOR, NOTE_MINOR, NOTE_HOST_MINOR   what the note says instead
 *   NEVER_OPENED   its constructor ends the process: the note must be enough
 */
#include "atoll/plugin.h"

#include <stdlib.h>

#ifdef NOTE_ISA
#undef ATOLL_ISA_LEVEL
#define ATOLL_ISA_LEVEL NOTE_ISA
#endif
#ifdef NOTE_SANITIZERS
#if ATOLL_SANITIZERS == 2
#undef ATOLL_SANITIZERS
#define ATOLL_SANITIZERS 1
#else
#undef ATOLL_SANITIZERS
#define ATOLL_SANITIZERS 2
#endif
#define NEVER_OPENED
#endif
#ifdef NOTE_MAJOR
#undef ATOLL_ABI_MAJOR
#define ATOLL_ABI_MAJOR NOTE_MAJOR
#define NEVER_OPENED
#endif
#ifdef NOTE_MINOR
#undef ATOLL_ABI_MINOR
#define ATOLL_ABI_MINOR NOTE_MINOR
#define NEVER_OPENED
#endif
#ifdef NOTE_HOST_MINOR
#define NEVER_OPENED
#else
#define NOTE_HOST_MINOR 0
#endif

ATOLL_PLUGIN_NOTE(NAME, ATOLL_CONTAINS_MODULES | ATOLL_CONTAINS_IMPLS, NOTE_HOST_MINOR);
#ifdef SECOND_NOTE
#define NEVER_OPENED
ATOLL_PLUGIN_NOTE("another", ATOLL_CONTAINS_MODULES | ATOLL_CONTAINS_IMPLS, 0);
#endif

#define HIDDEN __attribute__((visibility("hidden")))
HIDDEN extern const char zoo_kind[];
const char zoo_kind[] = NAME;

HIDDEN extern int (*const zoo_own_answer)(void);
#ifdef ANSWER
/* Exported, as a careless build does, and the same name in two plugins. */
__attribute__((visibility("default"))) int zoo_answer(void) { return ANSWER; }
int (*const zoo_own_answer)(void) = zoo_answer;
#else
int (*const zoo_own_answer)(void) = NULL;
#endif

#ifdef UNDEFINED_SYMBOL
extern int zoo_nowhere(void);
int zoo_calls_nowhere(void) { return zoo_nowhere(); }
#endif
#ifdef ABSENT_LIBRARY
extern int zoo_absent(void);
int zoo_calls_absent(void) { return zoo_absent(); }
#endif

#ifdef NEVER_OPENED
__attribute__((constructor)) static void opened(void) { abort(); }
#endif
