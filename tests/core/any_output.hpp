#pragma once

#include "atoll/settings.hpp"

// While it lives, outputs of this thread take results of any kind, as assign() does.
struct AnyOutput : Atoll::ScopedSettings {
    AnyOutput() : ScopedSettings([](Atoll::Settings &s) { s.lossy = Atoll::Lossy::allow; }) {}
};
