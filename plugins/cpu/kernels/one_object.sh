#!/bin/sh
# one_object.sh LIBRARY SYMBOL OUTPUT OBJCOPY COMPILER...
#
# Makes one object of a static library, whose one global symbol is SYMBOL. The levels' kernels have
# the same names, and the templates of the standard library that they contain, too: side by side in
# one file, all but one copy of each would be dropped, and might be the one that the processor lacks
# the instructions for.
set -e
library=$1 symbol=$2 output=$3 objcopy=$4
shift 4
"$@" -nostdlib -r -Wl,--force-group-allocation -Wl,--whole-archive "$library" -o "$output.all"
"$objcopy" --keep-global-symbol="$symbol" "$output.all" "$output"
rm "$output.all"
