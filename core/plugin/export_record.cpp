#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "common/hash.h"
#include "common/strings.h"
#include "plugin/export_check.h"

// prove_export(): the proof of one folder as a whole, and its record.

namespace faceter {
namespace {

constexpr int record_format = 1;

bool is_weights(const fs::path& file) {
    const std::string kind = file.extension().string();
    return kind == ".safetensors" || kind.starts_with(".onnx");
}

/// SHA-256 of every file of weights, or of every other that a model is read from, by its path inside the folder.
Json hashes(const fs::path& folder, bool of_weights) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && entry.path().filename() != "README.md" && is_weights(entry.path()) == of_weights)
            files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    Json all = Json::object();
    for (const fs::path& file : files) all[file.lexically_relative(folder).string()] = sha256_file(file);
    return all;
}

Json limits_json(const ExportLimits& limits) {
    Json json = {{"smallest_cosine", limits.smallest_cosine}};
    if (limits.largest_difference < std::numeric_limits<double>::max()) json["largest_difference"] = limits.largest_difference;
    return json;
}

Json difference_json(const ExportDifference& difference, const ExportLimits& limits) {
    return {{"by", difference.by},
            {"texts", difference.texts},
            {"largest_difference", difference.largest},
            {"smallest_cosine", difference.smallest_cosine},
            {"limits", limits_json(limits)}};
}

}  // namespace

void ExportProof::add(const ExportProof& other) {
    for (const ExportDifference& difference : other.verified) {
        const auto same = std::find_if(verified.begin(), verified.end(), [&](const auto& one) { return one.by == difference.by; });
        same == verified.end() ? verified.push_back(difference) : same->add(difference);
    }
    for (const auto& missing : other.not_verified)
        if (std::find(not_verified.begin(), not_verified.end(), missing) == not_verified.end()) not_verified.push_back(missing);
}

std::string ExportProof::lines() const {
    std::string cosines, differences;
    for (const ExportDifference& one : verified) {
        cosines += fmt::format("smallest cosine {:.7f} by {}\n", one.smallest_cosine, one.by);
        differences += fmt::format("verified: {}\n", one.sentence());
    }
    for (const auto& [by, why] : not_verified) differences += fmt::format("not verified by {}: {}\n", by, why);
    return cosines + differences;
}

void ExportRecord::take(const ExportDifference& difference, const ExportLimits& limits) {
    difference.require(limits);
    verified_.push_back(difference_json(difference, limits));
    proof_.verified.push_back(difference);
}

void ExportRecord::miss(const std::string& by, const std::string& why) { proof_.not_verified.emplace_back(by, why); }

ExportProof ExportRecord::write(const fs::path& folder, const Json& source) const {
    Json not_verified = Json::array();
    for (const auto& [by, why] : proof_.not_verified) not_verified.push_back({{"by", by}, {"why", why}});
    Json record = {{"faceter_export", record_format},
                   {"faceter", FACETER_VERSION},
                   {"written", utc_now()},
                   {"source", source},
                   {"weights_sha256", hashes(folder, true)},
                   {"files_sha256", hashes(folder, false)},
                   {"limits", limits_json({})},
                   {"verified", verified_},
                   {"not_verified", not_verified}};
    record.update(notes_);
    write_file_atomic(folder / "faceter_export.json", record.dump(2) + "\n");
    return proof_;
}

ExportProof prove_export(const ExportCheck& check, const fs::path& folder, const Json& source, const ExportStep& step) {
    ExportRecord record;
    step("opening it again and comparing");
    record.take(check.by_faceter(folder), {});
    std::string why;
    step("comparing in sentence-transformers");
    if (const auto difference = check.by_sentence_transformers(folder, why))
        record.take(*difference, {});
    else
        record.miss("sentence-transformers", why);
    return record.write(folder, source);
}

}  // namespace faceter
