// The C++ API except formatting (atoll/format.hpp, which requires fmt).
#pragma once

#if !defined(__cpp_exceptions)
#error "Atoll reports errors by C++ exceptions: remove -fno-exceptions"
#elif __cplusplus < 202002L
#error "Atoll needs C++20: compile with -std=c++20"
#else

#include "atoll/compositions.hpp"
#include "atoll/contraction.hpp"
#include "atoll/create.hpp"
#include "atoll/device.hpp"
#include "atoll/dlpack.hpp"
#include "atoll/dtype.hpp"
#include "atoll/error.hpp"
#include "atoll/functions.hpp"
#include "atoll/interpose.hpp"
#include "atoll/module.hpp"
#include "atoll/operations.hpp"
#include "atoll/plugins.hpp"
#include "atoll/range.hpp"
#include "atoll/scalar.hpp"
#include "atoll/selection.hpp"
#include "atoll/settings.hpp"
#include "atoll/storage.hpp"
#include "atoll/stream.hpp"
#include "atoll/tensor.hpp"

#endif
