/* A library that a plugin links and that is gone when the plugin is opened. */
int zoo_absent(void);
int zoo_absent(void) { return 1; }
