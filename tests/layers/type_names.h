#pragma once
#include <string>
#include <vector>

#include "common/file.h"

namespace faceter::layers {

/// One sentence for each struct, class, union and enum of core/, plugins/ and app/ whose full name another file gives to another type: the
/// linker keeps one of two functions that were made for both (a destructor, a vector's growth). Types of an unnamed namespace, of another
/// type or of a function are not among them.
std::vector<std::string> repeated_types(const fs::path& root);

}  // namespace faceter::layers
