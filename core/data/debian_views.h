#pragma once
#include <string>
#include <vector>

#include "data/debian_packages.h"
#include "data/entry.h"
#include "data/training_builder.h"

namespace faceter {

/// One task made of the packages, while it is built.
struct DebianContext {
    std::shared_ptr<const DebianPackages> index;
    DataEntry entry;
    DebianSplit split = DebianSplit::train;
    DataReport report;

    std::string_view text(std::uint32_t id) const { return index->text(id); }
    /// The packages of a split that views may use, in the order of the lists.
    std::vector<const DebianPackage*> packages(DebianSplit of) const;
    /// Whether it is of a section that the entry names, or the entry names none.
    bool in_sections(const DebianPackage& package) const;
};

/// A view: what task it is by nature, and how it is trained and scored. A member is null where it cannot.
struct DebianView {
    std::string name, task, summary;
    bool needs_tags = false;
    TrainingSet (*training)(DebianContext& context, const std::string& name, const std::string& task, Json origin) = nullptr;
    /// Fills set.data for set.task_type.
    void (*evaluation)(DebianContext& context, EvaluationSet& set) = nullptr;
    std::vector<std::string> evaluated_as = {};  ///< task types that `evaluation` knows
};
bool register_debian_view(DebianView view);
const std::vector<DebianView>& debian_views();

}  // namespace faceter
