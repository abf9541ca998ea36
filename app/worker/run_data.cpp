#include "run_data.h"

#include "data/leaves.h"
#include "data/overlap.h"

namespace faceter::worker {

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
        for (const Json& warning : json_or<Json>(set.card, "warnings", Json::array(), "card")) run_.warn(warning.get<std::string>());
        run_.journal->event("data", {{"use", "training"}, {"task", task.name}, {"name", set.name}, {"card", set.card}});
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
        for (const Json& warning : json_or<Json>(evaluation_.back().card, "warnings", Json::array(), "card"))
            run_.warn(warning.get<std::string>());
        run_.journal->event("data", {{"use", "evaluation"},
                                     {"task", evaluation_.back().task_type},
                                     {"name", evaluation_.back().name},
                                     {"card", evaluation_.back().card}});
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
            validation_.back().routing.task = task.name;
            run_.journal->event(
                "data", {{"use", "validation"}, {"task", task.name}, {"name", validation_.back().name}, {"card", validation_.back().card}});
        }
}

void RunData::warn_of_overlap() const {
    for (const Overlap& overlap : count_overlap(training_, evaluation_)) run_.warn(describe_overlap(overlap));
}

}  // namespace faceter::worker
