#pragma once
#include <optional>
#include <string>
#include <vector>

#include "data/sources.h"

namespace faceter {

/// What stands in front of the texts of a data set that brings instructions of its own (MEDI, Super-NaturalInstructions), in place of its
/// task's.
struct SetInstructions {
    std::string query, document, negative;
};
/// A set's own instructions; nothing where its task's count. They are part of its card, so that the journal shows them.
std::optional<SetInstructions> own_instructions(const TrainingSet& set);
/// Whether anything stands in front of one of its sides.
bool is_instructed(const SetInstructions& instructions);
void give_instructions(TrainingSet& set, const SetInstructions& instructions);
/// An instruction as it is put in front of a text: with a blank between them.
std::string with_blank(std::string instruction);
/// The entry's `instructions` with {leaf} replaced; nothing where the entry has none.
std::optional<SetInstructions> entry_instructions(const Json& entry, const std::string& leaf);

/// A source whose one entry holds many data sets, each a leaf of the task tree: hundreds of tasks of an instruction corpus. As a DataSource
/// it gives all of them as one set (`in_one`), and their texts; it has nothing to evaluate with: `no_evaluation` says why and what does.
struct LeafSource {
    std::string name, summary;
    std::vector<TrainingSet> (*training)(const DataRequest& request, const std::string& task) = nullptr;
    TrainingSet (*in_one)(const DataRequest& request, const std::string& task) = nullptr;
    std::string no_evaluation;
};
/// Registers the DataSource of that name as well.
bool register_leaf_source(LeafSource source);

/// Whether an entry holds many data sets.
bool has_leaves(const DataRequest& request);
/// The data of an entry in one set, that of a leaf source under its task's instructions. Errors as those of load_training_set.
TrainingSet load_as_one(const DataRequest& request, const std::string& task);
/// The data sets of an entry: one, or, of a leaf source, one a leaf. Errors as those of load_training_set.
std::vector<TrainingSet> load_training_sets(const DataRequest& request, const std::string& task);

}  // namespace faceter
