#include "data/record_scores.h"

#include <algorithm>
#include <cmath>

namespace faceter {
namespace {

float checked(double score, std::string_view member) {
    const auto value = static_cast<float>(score);
    if (!std::isfinite(value)) throw BadRecord{fmt::format("a number of member '{}' is not finite", member), ""};
    return value;
}

std::vector<double> listed(const Record& record, const Record::Member& scores) {
    return scores.kind == Record::Kind::list ? record.numbers(scores.key) : std::vector<double>{record.number(scores.key)};
}

std::string name_of_score(std::size_t number) { return fmt::format("score_{}", number); }

/// Of a table's row that has a column for each negative, and one for the score of each.
bool has_numbered(const Record& record, std::span<const std::size_t> numbers) {
    return std::any_of(numbers.begin(), numbers.end(), [&](std::size_t n) { return record.find({name_of_score(n)}) != nullptr; });
}

/// score, and score_1 ... of the negatives.
std::vector<double> numbered(const Record& record, std::span<const std::size_t> numbers) {
    std::vector<double> scores{record.number("score")};
    for (const std::size_t number : numbers) scores.push_back(record.number(name_of_score(number)));
    return scores;
}

}  // namespace

std::vector<float> scores_of_record(const Record& record, std::size_t num_positives, std::span<const std::size_t> numbers) {
    const bool pair = num_positives == 1 && numbers.empty();
    std::vector<double> given;
    if (const Record::Member* scores = record.find({"scores"}))
        given = listed(record, *scores);
    else if (const Record::Member* score = record.find({"score"}); score && (pair || has_numbered(record, numbers)))
        given = numbered(record, numbers);
    else
        return {};
    if (given.size() != num_positives + numbers.size())
        throw BadRecord{"as many scores as texts are expected, the positives' first",
                        fmt::format("{} for {} positives and {} negatives", given.size(), num_positives, numbers.size())};
    std::vector<float> scores;
    for (const double score : given) scores.push_back(checked(score, "scores"));
    return scores;
}

std::vector<float> scores_of_example(const std::vector<float>& scores, std::size_t positive, std::size_t num_positives,
                                     std::size_t num_negatives) {
    if (scores.empty()) return {};
    std::vector<float> own{scores[positive]};
    for (std::size_t n = 0; n < num_negatives; ++n) own.push_back(scores[num_positives + n]);
    return own;
}

}  // namespace faceter
