// The same assertions as C++: both languages must see the same layout.
#include "layout.c"
