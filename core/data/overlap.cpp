#include "data/overlap.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"

namespace faceter {
namespace {

using TextSet = std::unordered_set<Hash128, Hash128Hasher>;

TextSet hashes_of_training(const TrainingSet& set) {
    TextSet hashes;
    for (std::uint32_t id = 0; id < set.texts.size(); ++id)
        if (const std::string form = overlap_form(set.texts[id]); !form.empty()) hashes.insert(hash128(form));
    return hashes;
}

/// Different held-out texts: hash -> the first text that has it.
std::unordered_map<Hash128, std::string_view, Hash128Hasher> hashes_of_evaluation(const EvaluationSet& set) {
    std::unordered_map<Hash128, std::string_view, Hash128Hasher> hashes;
    for (const std::string_view text : held_out_texts(set))
        if (const std::string form = overlap_form(text); !form.empty()) hashes.try_emplace(hash128(form), text);
    return hashes;
}

}  // namespace

std::string overlap_form(std::string_view text) {
    std::string form;
    form.reserve(text.size());
    for (const char c : text) {
        if (c >= 'A' && c <= 'Z')
            form += static_cast<char>(c - 'A' + 'a');
        else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || static_cast<unsigned char>(c) >= 0x80)
            form += c;
    }
    return form;
}

std::vector<Overlap> count_overlap(std::span<const TrainingSet> training, std::span<const EvaluationSet> evaluation) {
    std::vector<TextSet> trained;
    for (const TrainingSet& set : training) trained.push_back(hashes_of_training(set));
    std::vector<Overlap> found;
    for (const EvaluationSet& set : evaluation) {
        const auto held_out = hashes_of_evaluation(set);
        for (std::size_t i = 0; i < training.size(); ++i) {
            Overlap overlap{training[i].name, set.name, 0, trained[i].size(), held_out.size(), {}};
            std::string_view example;
            for (const auto& [hash, text] : held_out)
                if (trained[i].contains(hash) && (overlap.shared_texts++ == 0 || text < example)) example = text;
            overlap.example = example;
            if (overlap.shared_texts > 0) found.push_back(std::move(overlap));
        }
    }
    std::stable_sort(found.begin(), found.end(), [](const Overlap& a, const Overlap& b) { return a.shared_texts > b.shared_texts; });
    return found;
}

std::string describe_overlap(const Overlap& overlap) {
    return fmt::format("{} of {} test texts of '{}' stand in the training set '{}' too, for example {}", overlap.shared_texts,
                       overlap.evaluation_texts, overlap.evaluation, overlap.training, faceter::quoted(overlap.example, 60));
}

}  // namespace faceter
