#include "experiment/run_inputs.h"

#include <set>

#include "checkpoint/run_part.h"
#include "common/error.h"
#include "common/strings.h"
#include "experiment/experiment_schema.h"
#include "experiment/resolve.h"
#include "settings/core_settings.h"

namespace faceter {
namespace {

bool names_model(const Field& field) { return field.key == "model" || field.key == "teacher"; }

bool is_text(const Json& value) { return value.is_string() && !value.get_ref<const std::string&>().empty(); }

class Walk {
  public:
    Walk(const Catalogue& catalogue, const InputVisitor& visit) : catalogue_(catalogue), visit_(visit) {}

    void run(Json& settings) const {
        section(experiment_schema(), settings);
        if (settings["variant"]["method"] != start_variant) method(ExtensionKind::variant, settings["variant"]);
        recipe(settings);
        for (Json& stage : settings["stages"]) {
            section(stage_schema(), stage);
            recipe(stage);
        }
        for (Json& analysis : settings["analyses"]) method(ExtensionKind::analysis, analysis);
    }

  private:
    void recipe(Json& values) const {
        method(ExtensionKind::curriculum, values["curriculum"]);
        method(ExtensionKind::objective, values["objective"]);
    }

    void method(ExtensionKind kind, Json& values) const {
        const auto name = json_at<std::string>(values, "method", extension_kind_name(kind));
        const Catalogue::Entry* entry = catalogue_.find(kind, name);
        if (!entry)
            throw settings_error("unknown {} method {}{}; a plugin may be missing (faceter doctor, --plugin-dir)",
                                 extension_kind_name(kind), faceter::quoted(name), suggestion(name, catalogue_.names(kind)));
        section(kind == ExtensionKind::analysis ? analysis_schema(*entry) : method_schema(*entry), values);
    }

    void section(const Schema& schema, Json& values) const {
        if (!values.is_object()) return;
        for (const Field& field : schema.fields)
            // The suite's data sets stand among `datasets`, each with its own path.
            if (const auto value = values.find(field.key); value != values.end() && field.key != "data_root") visit(field, *value);
        if (const auto source = json_or<std::string>(values, "source", "", schema.name);
            source.starts_with("debian") && schema.find("path") && !is_text(values["path"]))
            visit_(InputKind::package_lists, values["path"]);
    }

    void visit(const Field& field, Json& value) const {
        if (field.type == FieldType::section) return section(*field.section, value);
        if (field.type == FieldType::list || field.type == FieldType::map) {
            for (Json& item : value) visit(*field.item, item);
            return;
        }
        if (!is_text(value)) return;
        if (field.type == FieldType::path)
            visit_(InputKind::data, value);
        else if (names_model(field))
            visit_(InputKind::model, value);
    }

    const Catalogue& catalogue_;
    const InputVisitor& visit_;
};

}  // namespace

void each_input(Json& settings, const Catalogue& catalogue, const InputVisitor& visit) { Walk(catalogue, visit).run(settings); }

void check_inputs(const Experiment& experiment, const Catalogue& catalogue) {
    std::set<std::string> seen;
    for (const ResolvedRun& run : experiment.runs()) {
        Json settings = run.settings;
        each_input(settings, catalogue, [&](InputKind kind, Json& value) {
            if (kind != InputKind::data || !seen.insert(value.get<std::string>()).second) return;
            const fs::path path = value.get<std::string>();
            if (!fs::exists(part_of_run(path)))
                throw data_error("{}: no such file or folder; {} names it for variant '{}', and paths are relative to the experiment file",
                                 path.string(), experiment.file().string(), run.variant);
        });
    }
}

}  // namespace faceter
