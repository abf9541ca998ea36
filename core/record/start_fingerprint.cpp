#include "record/start_fingerprint.h"

#include "record/journal.h"

namespace faceter {
namespace {

/// What an attempt says before its first stage.
struct Beginning {
    bool resumed = false;
    std::string start_model;
};

Beginning read_beginning(const fs::path& journal) {
    Beginning found;
    for (JournalReader reader(journal); const auto event = reader.next();) {
        const auto text = [&](const char* key) { return json_or<std::string>(event->fields, key, "", journal.string()); };
        if (event->type == "attempt_started") found.resumed = !text("from_checkpoint").empty();
        if (event->type == "start_model") found.start_model = text("fingerprint");
        if (event->type == "start_model" || event->type == "stage_started") break;
    }
    return found;
}

}  // namespace

std::string noted_start_model(const fs::path& journal) { return read_beginning(journal).start_model; }

std::string began_from(const RunDirectory& run) {
    for (std::vector<int> attempts = run.attempts(); !attempts.empty(); attempts.pop_back())
        if (const Beginning found = read_beginning(run.attempt_journal(attempts.back())); !found.resumed && !found.start_model.empty())
            return found.start_model;
    return "";
}

}  // namespace faceter
