/* The smallest file that looks like a plugin: test_elf_note.cpp reads its note, nothing loads it.
 */
#include "atoll/abi/note.h"

ATOLL_PLUGIN_NOTE("note-module_1", 5, 7);

int atoll_note_module = 1;
