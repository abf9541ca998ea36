#include "window/run_details.h"

#include <cmath>
#include <map>

namespace faceter::desktop {
namespace {

std::string meansByTaskType(const std::vector<ResultRow>& results) {
    std::map<std::string, std::pair<double, int>> sums;
    for (const ResultRow& result : results) {
        if (!std::isfinite(result.score)) continue;
        auto& [sum, count] = sums[result.task_type];
        sum += result.score;
        ++count;
    }
    std::string text;
    for (const auto& [type, mean] : sums) text += fmt::format("{}{} {:.2f}", text.empty() ? "" : " · ", type, mean.first / mean.second);
    return text;
}

/// The machine and the warnings stand in the journal of the newest attempt.
void readJournal(const std::filesystem::path& folder, RunDetails& details) {
    const RunDirectory run(folder);
    const std::vector<int> attempts = run.attempts();
    if (attempts.empty()) return;
    for (JournalReader journal(run.attempt_journal(attempts.back())); const auto event = journal.next();) {
        const Json& fields = event->fields;
        if (event->type == "attempt_started" && fields.contains("machine")) details.machine = fields["machine"];
        if (event->type == "warning" && fields.contains("message") && fields["message"].is_string())
            details.warnings.push_back(fields["message"]);
    }
}

}  // namespace

RunDetails readRunDetails(Store& store, const std::filesystem::path& project, const std::string& run) {
    RunDetails details;
    details.settings = store.settings(run);
    details.cost = store.cost(run);
    details.best = meansByTaskType(store.results(run));
    try {
        readJournal(project / "runs" / run, details);
    } catch (const std::exception&) {
        // A run folder that has gone meanwhile: the row says so soon.
    }
    return details;
}

}  // namespace faceter::desktop
