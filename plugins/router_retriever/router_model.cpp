#include "router_model.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <chrono>
#include <limits>

#include "common/error.h"
#include "common/hash.h"
#include "common/lock_file.h"
#include "common/strings.h"
#include "data/sources.h"
#include "eval/projection.h"
#include "plugin/own_manifest.h"
#include "record/run_directory.h"
#include "settings/check.h"

namespace faceter {
namespace {

/// The lock of a router's folder: shared by those that read it, exclusive for one that changes it.
void take(LockFile& lock, const fs::path& folder, LockFile::Kind kind) {
    if (lock.try_lock(kind, std::chrono::seconds(5)) != LockOutcome::held) return;
    throw failure("{}: is {} by another process; nothing was changed, try again when it is done", folder.string(),
                  kind == LockFile::Kind::read ? "being changed" : "in use");
}

fs::path gate_folder(const fs::path& folder, const std::string& name) { return folder / "gates" / safe_file_name(name); }

void write_gate(const fs::path& folder, const EmbeddingModel& model, std::size_t index) {
    const fs::path place = gate_folder(folder, model.encoders.front()->adapters()[index].name);
    make_directories(place);
    model.encoders.front()->write_adapter(index, place);
}

Json read_description(const fs::path& folder) { return read_json(folder / "router.json", 1 << 26); }

/// A router.json with the variant's settings that it does not have.
Json settings_in(const Json& description) { return filled_in(plugin_manifest().variants.front().schema, description); }

std::shared_ptr<RouterModel> read_router(EmbeddingModel& model, const fs::path& folder) {
    const Json json = read_description(folder);
    const std::string name = (folder / "router.json").string();
    const std::string base = model.base_fingerprint(), wanted = json_at<std::string>(json, "base_fingerprint", name);
    if (base != wanted)
        throw data_error(
            "{}: its gates and pilots were made for another base model (weights {}, here {}); put the model back that it was written with, "
            "or build the router again",
            name, wanted.substr(0, 12), base.substr(0, 12));
    Library library = Library::read(folder, json_at<std::string>(json, "library", name), json);
    for (const GateInfo& gate : library.gates)
        model.encoders.front()->add_adapter(gate.name, AdapterFolder::open(gate_folder(folder, gate.name)));
    const Json settings = settings_in(json);
    const bool adapted = json_or<bool>(json, "documents_adapted", false, name), with_base = json_at<bool>(settings, "base_gate", name);
    return std::make_shared<RouterModel>(std::move(library), RouterSettings::from_json(settings), with_base, adapted);
}

std::string next_stem(const std::string& stem) {
    const auto number = parse_int(stem.substr(stem.rfind('-') + 1));
    return fmt::format("library-{}", number.value_or(0) + 1);
}

/// The order that leaves a whole router at every instant: the new library, then router.json, then what is no longer needed.
void replace_library(const fs::path& folder, const RouterModel& router, const std::string& old_stem) {
    const std::string stem = next_stem(old_stem);
    router.library().write(folder, stem);
    write_file_atomic(folder / "router.json", router.to_json(stem).dump(1) + "\n");
    std::error_code ignored;
    for (const char* ending : {".safetensors", ".jsonl"}) fs::remove(folder / (old_stem + ending), ignored);
}

void check_stem(const std::string& stem, const fs::path& folder) {
    if (!stem.starts_with("library-") || safe_file_name(stem) != stem)
        throw data_error("{}: library is {}; expected a name such as library-1", (folder / "router.json").string(), faceter::quoted(stem));
}

/// Without a slash at its end, so that its last part is a folder's name.
fs::path whole_path(const fs::path& folder) { return absolute_path(folder / "x").parent_path(); }

std::string add_gate(EmbeddingModel& model, const fs::path& folder, const Json& change) {
    const Json json = read_description(folder);
    const auto stem = json_at<std::string>(json, "library", "router.json");
    check_stem(stem, folder);
    const auto old = read_router(model, folder);
    Library library = old->library();
    const fs::path source = whole_path(json_at<std::string>(change, "gate", "router add"));
    const auto name = json_or<std::string>(change, "name", source.filename().string(), "router add"),
               domain = json_or<std::string>(change, "domain", name, "router add");
    for (const auto& [what, given] : {std::pair("--name", name), std::pair("--domain", domain)})
        if (trim(given).empty()) throw usage_error("router add: {} is empty; give the gate one", what);
    for (const GateInfo& gate : library.gates)
        if (gate.name == name || safe_file_name(gate.name) == safe_file_name(name))
            throw usage_error("there is a gate {} already; give another --name, or remove that first", faceter::quoted(gate.name));
    if (old->documents_adapted())
        throw usage_error(
            "this router's gates change documents too, whose texts it does not keep; train it again with the further gate (variant.gates)");
    const std::size_t index = model.encoders.front()->add_adapter(name, AdapterFolder::open(source));
    library.gates.push_back({name, domain, "gate", 0, source.string()});
    const int expert = static_cast<int>(index) + 1;
    for (Domain& known : library.domains) score_domain(known, model, expert);
    if (const Json train = json_or<Json>(change, "train", nullptr, "router add"); !train.is_null()) {
        const TrainingSet set = load_training_set({train, fs::current_path()}, "retrieval");
        for (const Domain& known : library.domains)
            if (known.name == domain)
                throw usage_error("the library has instances of domain {} already; leave --train out", faceter::quoted(domain));
        Domain fresh = make_domain(domain, {&set}, old->settings().library_examples, old->settings().seed);
        if (!library.domains.empty()) {
            fresh.query_instruction = library.domains.front().query_instruction;
            fresh.document_instruction = library.domains.front().document_instruction;
        }
        const auto texts = document_texts({&set});
        for (int e = 0; e <= static_cast<int>(library.gates.size()); ++e) score_domain(fresh, model, e, false, texts);
        library.domains.push_back(std::move(fresh));
    }
    const RouterModel changed(std::move(library), old->settings(), old->with_base(), old->documents_adapted());
    write_gate(folder, model, index);
    replace_library(folder, changed, stem);
    return fmt::format("added gate '{}': {} gates, {} domains", name, changed.candidates().size(), changed.library().domains.size());
}

at::Tensor without_column(const at::Tensor& table, std::int64_t column) {
    return at::cat({table.narrow(1, 0, column), table.narrow(1, column + 1, table.size(1) - column - 1)}, 1).contiguous();
}

std::string remove_gate(EmbeddingModel& model, const fs::path& folder, const Json& change) {
    const auto stem = json_at<std::string>(read_description(folder), "library", "router.json");
    check_stem(stem, folder);
    const auto old = read_router(model, folder);
    Library library = old->library();
    const auto name = json_at<std::string>(change, "gate", "router remove");
    const int expert = library.expert_named(name);
    library.gates.erase(library.gates.begin() + (expert - 1));
    for (Domain& domain : library.domains) {
        domain.scores = without_column(domain.scores, expert);
        domain.margins = without_column(domain.margins, expert);
    }
    const RouterModel changed(std::move(library), old->settings(), old->with_base(), old->documents_adapted());
    const fs::path kept =
        folder / "removed" /
        fmt::format("{}-{}", safe_file_name(name), sha256_file(gate_folder(folder, name) / "adapter_model.safetensors").substr(0, 8));
    make_directories(kept.parent_path());
    replace_library(folder, changed, stem);
    std::error_code ignored;
    fs::remove_all(kept, ignored);
    rename_synced(gate_folder(folder, name), kept);
    return fmt::format("removed gate '{}'; it lies in {}", name, kept.string());
}

}  // namespace

RouterModel::RouterModel(Library library, RouterSettings settings, bool with_base, bool documents_adapted)
    : library_(std::move(library)),
      settings_(std::move(settings)),
      with_base_(with_base),
      documents_adapted_(documents_adapted),
      candidates_(library_.candidates(with_base)),
      router_(make_query_router(library_, candidates_, settings_)) {}

std::vector<Path> RouterModel::choose(const at::Tensor& base) const {
    std::vector<Path> paths;
    for (const int expert : router_->choose(base)) paths.push_back(path_of(expert));
    return paths;
}

std::optional<Path> RouterModel::always() const {
    if (settings_.kind != "fixed") return std::nullopt;
    return path_of(settings_.fixed_gate == "base" ? 0 : library_.expert_named(settings_.fixed_gate));
}

namespace {

/// The candidate with the highest value but for the chosen one; null where the router has no values.
Json next_gate(const Json& values, const std::string& chosen) {
    Json next;
    double highest = -std::numeric_limits<double>::infinity();
    for (const auto& [name, value] : values.items())
        if (const double own = value.get<double>(); name != chosen && own > highest) highest = own, next = name;
    return next;
}

/// Pilots and the text in the plane of the pilots' principal components, so that pilots stay where they are whatever the text.
void add_places(const at::Tensor& base, const PilotLibrary& pilots, Json& json) {
    std::vector<at::Tensor> rows;
    for (const Pilot& pilot : pilots.pilots) rows.push_back(pilot.embedding);
    const at::Tensor all = at::stack(rows).to(at::kDouble);
    const Projection plane = project_to_plane(all);
    for (std::size_t p = 0; p < rows.size(); ++p) {
        json["pilots"][p]["x"] = plane.x[p];
        json["pilots"][p]["y"] = plane.y[p];
    }
    const at::Tensor own = base.to(at::kDouble) - all.mean(0);
    const auto along = [&](int axis) {
        return own.dot(at::tensor(plane.axes[static_cast<std::size_t>(axis)], at::kDouble)).item<double>();
    };
    json["place"] = {{"x", along(0)}, {"y", along(1)}};
}

}  // namespace

Json RouterModel::explain(const at::Tensor& base) const {
    Json json = {{"gate", library_.name_of(router_->choose(base.unsqueeze(0)).front())}, {"router", settings_.kind}};
    json["values"] = router_->explain(base, library_);
    json["next_gate"] = next_gate(json["values"], json["gate"].get<std::string>());
    if (settings_.kind != "pilot") return json;
    const PilotLibrary pilots = build_pilots(library_, candidates_, settings_);
    const at::Tensor similar = similarities_to(base.unsqueeze(0), pilots.pilots, settings_.cosine)[0];
    for (std::size_t p = 0; p < pilots.pilots.size(); ++p)
        json["pilots"].push_back({{"gate", library_.name_of(pilots.pilots[p].expert)},
                                  {"domain", library_.domains[pilots.pilots[p].domain].name},
                                  {"instances", pilots.pilots[p].instances},
                                  {"similarity", similar[static_cast<std::int64_t>(p)].item<double>()}});
    add_places(base, pilots, json);
    return json;
}

Json RouterModel::describe() const { return to_json(""); }

Json RouterModel::to_json(const std::string& stem) const {
    Json json = {{"method", router_method_name}};
    json.update(settings_.to_json());
    json["library_examples"] = settings_.library_examples;
    json["base_gate"] = with_base_;
    json["documents_adapted"] = documents_adapted_;
    if (!stem.empty()) json["library"] = stem;
    json.update(library_.description());
    if (settings_.kind == "pilot") json["provenance"] = build_pilots(library_, candidates_, settings_).to_json(library_);
    return json;
}

void RouterModel::write(const fs::path& folder, const EmbeddingModel& model) const {
    for (std::size_t i = 0; i < library_.gates.size(); ++i) write_gate(folder, model, i);
    library_.write(folder, "library-1");
    write_file_atomic(folder / "router.json", to_json("library-1").dump(1) + "\n");
}

std::string RouterModel::fingerprint() const {
    std::string all = settings_.to_json().dump() + library_.description().dump() + (with_base_ ? "base" : "");
    for (const Domain& domain : library_.domains)
        for (const at::Tensor& table : {domain.base, domain.scores, domain.margins}) {
            const at::Tensor values = table.contiguous();
            all += hash128({static_cast<const char*>(values.data_ptr()), static_cast<std::size_t>(values.nbytes())}).hex();
        }
    return hash128(all).hex();
}

std::shared_ptr<const ExpertRouter> open_router_model(EmbeddingModel& model, const fs::path& folder) {
    LockFile lock(folder);
    take(lock, folder, LockFile::Kind::read);
    return read_router(model, folder);
}

std::string edit_router_model(EmbeddingModel& model, const fs::path& folder, const Json& change) {
    LockFile lock(folder);
    take(lock, folder, LockFile::Kind::change);
    const auto action = json_at<std::string>(change, "action", "router");
    return action == "add" ? add_gate(model, folder, change) : remove_gate(model, folder, change);
}

}  // namespace faceter
