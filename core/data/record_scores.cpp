#include "data/record_scores.h"

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

/// score, score_1 ... of a table's row that has a column for each negative.
std::vector<double> numbered(const Record& record, std::size_t num_negatives) {
    std::vector<double> scores{record.number("score")};
    for (std::size_t n = 1; n <= num_negatives; ++n) scores.push_back(record.number(fmt::format("score_{}", n)));
    return scores;
}

}  // namespace

std::vector<float> scores_of_record(const Record& record, std::size_t num_positives, std::size_t num_negatives) {
    const bool pair = num_positives == 1 && num_negatives == 0;
    std::vector<double> numbers;
    if (const Record::Member* scores = record.find({"scores"}))
        numbers = listed(record, *scores);
    else if (const Record::Member* score = record.find({"score"}); score && (pair || record.find({"score_1"})))
        numbers = numbered(record, num_negatives);
    else
        return {};
    if (numbers.size() != num_positives + num_negatives)
        throw BadRecord{"as many scores as texts are expected, the positives' first",
                        fmt::format("{} for {} positives and {} negatives", numbers.size(), num_positives, num_negatives)};
    std::vector<float> scores;
    for (const double number : numbers) scores.push_back(checked(number, "scores"));
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
