/* Which of the toys a plugin is. */
__attribute__((visibility("hidden"))) const char toy_kind[] = KIND;
