// Texts of others made fit to be shown.
#include "base/printable.hpp"

#include <doctest/doctest.h>

using Atoll::detail::printable;

TEST_CASE("what can be shown stays as it is") {
    for (const char *text : {"", "plain", "two\nlines\tand a tab", "Größe 3 µm", "☃ \U0001F600"})
        CHECK(printable(text) == text);
}

TEST_CASE("what steers a terminal is escaped") {
    CHECK(printable("\x1b[31mred\x7f\r\b") == "\\x1b[31mred\\x7f\\x0d\\x08");
    CHECK(printable("\xc2\x9b"
                    "31m") == "\\xc2\\x9b31m"); // C1: the same as ESC [
    CHECK(printable(std::string_view("\0x", 2)) == "\\x00x");
}

TEST_CASE("bytes that are not UTF-8 are escaped") {
    CHECK(printable("a\xffz") == "a\\xffz");
    CHECK(printable("cut \xe2\x98") == "cut \\xe2\\x98");
    CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");                   // overlong
    CHECK(printable("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");          // overlong
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");          // a surrogate
    CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80"); // past U+10FFFF
    CHECK(printable("\xef\xbf\xbf") == "\\xef\\xbf\\xbf"); // no character, nor valid in XML
}
