#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/encoder_config.h"

/// Which members of a config.json a family knows: what is left over is told, and what would change a model's numbers is refused.
namespace faceter {

/// The members that the families `types` read, or whose values make no difference to an embedding; names separated by blanks. A file that
/// defines one makes it known.
struct FamilyMembers {
    FamilyMembers(std::initializer_list<const char*> types, const char* members);
};

/// Errors (data): a member by which other families' code computes otherwise, with a value that asks for it, in a family that has no such
/// part.
void refuse_foreign_members(const Json& config, const std::string& type, std::string_view name);

/// Errors (data): rotary positions of a family that has them by kind of block, said in a way that transformers' code for such families
/// passes over: rope_parameters that do not name the kinds, rope_scaling without rope_type.
void refuse_rotary_without_kinds(const Json& config, std::string_view name);

/// The members of a configuration that are neither the family's nor of no account to an encoder, in order.
std::vector<std::string> unknown_members(const Json& config, const std::string& type);

/// Members under the names that a family has for them, where the configuration has those that most families share, such as hidden_size for
/// dim: transformers takes either, and the shared one where both stand. Pairs of a shared name and the family's own.
Json under_own_names(const Json& config, std::initializer_list<std::pair<const char*, const char*>> names);

/// Of a configuration whose type is not known: the nearest of `known`, by its name or else by its members; empty where none is near.
std::string nearest_family(const Json& config, const std::string& type, const std::vector<std::string>& known);

}  // namespace faceter
