#include <fmt/format.h>

#include <algorithm>

#include "common/hash.h"
#include "common/strings.h"
#include "plugin/export_check.h"

// prove_export(): the proof of one folder as a whole, and its record.

namespace faceter {
namespace {

constexpr int record_format = 1;

/// SHA-256 of every weight file, by its path inside the folder.
Json weight_hashes(const fs::path& folder) {
    std::vector<fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
        if (entry.is_regular_file() && entry.path().extension() == ".safetensors") files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    Json hashes = Json::object();
    for (const fs::path& file : files) hashes[file.lexically_relative(folder).string()] = sha256_file(file);
    return hashes;
}

Json difference_json(const ExportDifference& difference) {
    return {{"by", difference.by},
            {"texts", difference.texts},
            {"largest_difference", difference.largest},
            {"smallest_cosine", difference.smallest_cosine}};
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

ExportProof prove_export(const ExportCheck& check, const fs::path& folder, const Json& source) {
    const ExportLimits limits;
    ExportProof proof;
    Json verified = Json::array(), not_verified = Json::array();
    const auto take = [&](const ExportDifference& difference) {
        difference.require(limits);
        verified.push_back(difference_json(difference));
        proof.verified.push_back(difference);
    };
    take(check.by_faceter(folder));
    std::string why;
    if (const auto difference = check.by_sentence_transformers(folder, why)) {
        take(*difference);
    } else {
        not_verified.push_back({{"by", "sentence-transformers"}, {"why", why}});
        proof.not_verified.emplace_back("sentence-transformers", why);
    }
    const Json record = {{"faceter_export", record_format},
                         {"faceter", FACETER_VERSION},
                         {"written", utc_now()},
                         {"source", source},
                         {"weights_sha256", weight_hashes(folder)},
                         {"limits", {{"largest_difference", limits.largest_difference}, {"smallest_cosine", limits.smallest_cosine}}},
                         {"verified", verified},
                         {"not_verified", not_verified}};
    write_file_atomic(folder / "faceter_export.json", record.dump(2) + "\n");
    return proof;
}

}  // namespace faceter
