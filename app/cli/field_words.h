#pragma once
#include <string>

#include "settings/schema.h"

namespace faceter::cli {

/// What a table of settings says of one: its default ("(required)" where it has none), and what it may be ("> 0, <= 2", "a | b").
std::string default_of(const Field& field);
std::string range_of(const Field& field);

}  // namespace faceter::cli
