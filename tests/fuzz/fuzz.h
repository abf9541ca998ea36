#pragma once
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "common/error.h"

/// A law that must hold whatever the input; not an assert, so that release builds check it too.
#define FUZZ_CHECK(condition)                                                                                \
    do {                                                                                                     \
        if (!(condition)) std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition), std::abort(); \
    } while (false)

/// Runs the reader on one input; a faceter::Error is the right answer to a bad one, anything else ends the program.
template <typename Reader>
int fuzz_one(const std::uint8_t* data, std::size_t size, const Reader& read) {
    try {
        read(std::string_view(reinterpret_cast<const char*>(data), size));
    } catch (const faceter::Error& error) {
        FUZZ_CHECK(*error.what() != '\0');
    }
    return 0;
}
