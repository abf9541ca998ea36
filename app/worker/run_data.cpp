#include "run_data.h"

#include <fmt/format.h>

#include <algorithm>

#include "data/leaves.h"
#include "data/overlap.h"
#include "plugin/loader.h"
#include "record/journal.h"

namespace faceter::worker {
namespace {

std::string text_of(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// A set as it was read: of which use, and what it held.
struct DataRead {
    explicit DataRead(const Json& event) : use(text_of(event, "use")), task(text_of(event, "task")), name(text_of(event, "name")) {
        if (const auto card = event.find("card"); card != event.end() && card->is_object()) fingerprint = text_of(*card, "fingerprint");
    }
    bool same_place(const DataRead& other) const { return use == other.use && task == other.task && name == other.name; }
    std::string use, task, name, fingerprint;
};

/// Of one attempt, which reads them ahead of its stages. Older versions kept no fingerprints.
std::vector<DataRead> data_read(const fs::path& journal) {
    std::vector<DataRead> read;
    for (JournalReader reader(journal); const auto event = reader.next();) {
        if (event->type == "stage_started") break;
        if (event->type == "data") read.emplace_back(event->fields);
    }
    std::erase_if(read, [](const DataRead& one) { return one.fingerprint.empty(); });
    return read;
}

}  // namespace

void RunData::read_training() {
    run_.journal->phase("read training data");
    for (const Task& task : read_tasks(run_.settings.at("tasks")))
        for (const Json& entry : task.train) {
            try {
                add_training_sets(load_training_sets(run_.request(entry), task.type), task);
            } catch (const DataUnavailable& error) {
                run_.warn(error.what());
            }
        }
}

void RunData::add_training_sets(std::vector<TrainingSet> sets, const Task& task) {
    for (TrainingSet& set : sets) {
        const auto own = own_instructions(set);
        if (own && is_instructed(*own) && task.query_instruction.empty() && task.document_instruction.empty())
            throw settings_error(
                "tasks.{}: its data set '{}' brings instructions of its own, but the task has none, which texts from elsewhere would need; "
                "give it 'instructions'",
                task.name, set.name);
        set.task = task.name;
        for (const std::string& warning : warnings_of(set.card)) run_.warn(warning);
        note("training", task.name, set.name, set.card);
        training_.push_back(std::move(set));
    }
}

void RunData::read_evaluation() {
    run_.journal->phase("read evaluation data");
    for (const Json& entry : run_.settings.at("evaluation").at("datasets")) {
        try {
            evaluation_.push_back(load_evaluation_set(run_.request(entry)));
        } catch (const DataUnavailable& error) {
            run_.warn(error.what());
            continue;
        }
        for (const std::string& warning : warnings_of(evaluation_.back().card)) run_.warn(warning);
        note("evaluation", evaluation_.back().task_type, evaluation_.back().name, evaluation_.back().card);
    }
}

void RunData::read_validation() {
    for (const Task& task : read_tasks(run_.settings.at("tasks")))
        for (const Json& entry : task.validation) {
            run_.journal->phase("read validation data");
            try {
                validation_.push_back(load_evaluation_set(run_.request(entry)));
            } catch (const DataUnavailable& error) {
                run_.warn(error.what());
                continue;
            }
            for (const std::string& warning : warnings_of(validation_.back().card)) run_.warn(warning);
            validation_.back().routing.task = task.name;
            note("validation", task.name, validation_.back().name, validation_.back().card);
        }
}

void RunData::read_analyses() {
    const Json analyses = json_or<Json>(run_.settings, "analyses", Json::array(), "settings");
    if (!analyses.empty()) run_.journal->phase("read the texts of analyses");
    for (const Json& settings : analyses) {
        const Json entry = json_or<Json>(settings, "texts", Json(), "analyses");
        analyses_.push_back({registry().make_analysis(json_at<std::string>(settings, "method", "analyses"), settings), {}});
        try {
            analyses_.back().texts = entry.is_null() ? std::vector<std::string>() : load_texts(run_.request(entry));
        } catch (const DataUnavailable& error) {
            run_.warn(error.what());
        }
    }
}

void RunData::note(const char* use, const std::string& task, const std::string& name, const Json& card) {
    read_.push_back({{"use", use}, {"task", task}, {"name", name}, {"card", card}});
    run_.journal->event("data", read_.back());
}

/// Against the newest attempt before this one that read a set of the name, or several.
void RunData::warn_of_changes() const {
    if (!run_.is_root()) return;
    std::vector<DataRead> open(read_.begin(), read_.end());
    std::erase_if(open, [](const DataRead& one) { return one.fingerprint.empty(); });
    std::vector<int> earlier = run_.run.attempts();
    std::erase_if(earlier, [&](int attempt) { return attempt >= run_.journal->attempt(); });
    for (; !earlier.empty() && !open.empty(); earlier.pop_back()) {
        const std::vector<DataRead> before = data_read(run_.run.attempt_journal(earlier.back()));
        std::erase_if(open, [&](const DataRead& now) {
            const auto same = [&](const DataRead& one) { return one.same_place(now); };
            const bool known = std::any_of(before.begin(), before.end(), same);
            const auto equal = [&](const DataRead& one) { return one.same_place(now) && one.fingerprint == now.fingerprint; };
            if (known && std::none_of(before.begin(), before.end(), equal))
                run_.warn(
                    fmt::format("{} data '{}' ({}) are not those that attempt {} read, which the run goes on from; 'faceter rerun' makes "
                                "one of what is "
                                "there now alone",
                                now.use, now.name, now.task, earlier.back()));
            return known;
        });
    }
}

void RunData::warn_of_overlap() const {
    for (const Overlap& overlap : count_overlap(training_, evaluation_)) run_.warn(describe_overlap(overlap));
}

}  // namespace faceter::worker
