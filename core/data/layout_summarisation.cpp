#include "data/folder_layout.h"

// MTEB summarisation: {text, human_summaries, machine_summaries, relevance}, one relevance for each machine summary.

namespace faceter {
namespace {

void evaluation(FolderContext& context, EvaluationSet& set) {
    SummarisationData data;
    context.read(context.need_split(context.split), [&](const Record& record) {
        const auto human = record.texts("human_summaries"), machine = record.texts("machine_summaries");
        SummarisationData::Item item;
        item.relevance = record.numbers("relevance");
        if (item.relevance.size() != machine.size())
            throw BadRecord{"'machine_summaries' and 'relevance' differ in length",
                            fmt::format("{} and {}", machine.size(), item.relevance.size())};
        if (human.empty() || machine.empty()) throw BadRecord{"a text has no human or no machine summary", ""};
        for (const std::string_view summary : human) item.human.push_back(data.texts.intern(summary));
        for (const std::string_view summary : machine) item.machine.push_back(data.texts.intern(summary));
        data.items.push_back(std::move(item));
    });
    if (data.items.empty()) throw data_error("{}: no text in split '{}'", context.place(), context.split);
    context.report.counts["texts"] = data.items.size();
    set.data = std::move(data);
}

bool matches(const Record& record) { return record.find({"human_summaries"}) && record.find({"machine_summaries"}); }

const bool registered = register_layout({.task = "summarisation",
                                         .files = "test.jsonl {text, human_summaries, machine_summaries, relevance}",
                                         .matches = matches,
                                         .evaluation = evaluation});

}  // namespace
}  // namespace faceter
