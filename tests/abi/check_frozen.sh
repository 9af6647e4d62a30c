#!/usr/bin/env bash
# check_frozen.sh INCLUDE: do the headers of the plugin ABI still say what was frozen for their
# version? Comments and line breaks may change; anything else needs a new ATOLL_ABI_MINOR, and
# functions keep their ids even then. Exit status 77 (skipped) where this version is not frozen yet.
# Needs $CC.
set -euo pipefail
here=$(dirname "$0")
number() { sed -n "s/^#define ATOLL_ABI_$1 \([0-9]*\)\$/\1/p" "$2/atoll/abi/base.h"; }
frozen=$here/v$(number MAJOR "$1").$(number MINOR "$1")
# The functions of every version that is frozen keep their ids.
ids() { sed -En 's/^ATOLL_FUNCTION\( *([0-9]+), *(\w+),.*/\1 \2/p' "$1/atoll/lists/functions.inc"; }
for copy in "$here/v$(number MAJOR "$1")".*/; do
  [ -d "$copy" ] || continue
  moved=$(comm -23 <(ids "$copy" | sort) <(ids "$1" | sort))
  [ -z "$moved" ] || { echo "no longer as in $copy:"; echo "$moved"; exit 1; } >&2
done
if [ ! -d "$frozen" ]; then
  echo "not frozen yet: no $frozen (tools/freeze_abi.sh makes it when the version is released)"
  exit 77
fi
# Everything a plugin sees: declarations, macros, and the lists but for their texts.
said() {
  ${CC:-cc} -std=c11 -I"$1" -E -dD -P - <<'END' | tr -s '[:space:]' '\n' | grep -v '^$'
#include "atoll/plugin.h"
#include "atoll/half.h"
#define ATOLL_FUNCTION(id, name, SIGNATURE, RULE, DOMAIN, ATTRIBUTES, PROPERTIES, doc) id name SIGNATURE RULE DOMAIN ATTRIBUTES PROPERTIES
#include "atoll/lists/functions.inc"
#define ATOLL_DEVICE_FUNCTION(id, name, PARAMS, REQUIRED, doc) id name PARAMS REQUIRED
#include "atoll/lists/device_functions.inc"
#define ATOLL_DTYPE(id, ENUM, identifier, name, size, KIND, PART, alias) id name size KIND PART
#include "atoll/lists/dtypes.inc"
END
}
diff <(said "$frozen") <(said "$1") ||
  { echo "these differ from $frozen: raise ATOLL_ABI_MINOR (abi/base.h)" >&2; exit 1; }
diff <(cd "$frozen/atoll" && find . -name '*.inc' | sort) \
  <(cd "$1/atoll" && find . -name '*.inc' | sort)
echo "as frozen"
