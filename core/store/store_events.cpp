#include "store/store_events.h"

#include "common/error.h"

namespace faceter {
namespace {

std::vector<StoredEvent> read_journals(const fs::path& folder, std::string_view type) {
    std::vector<StoredEvent> events;
    const RunDirectory run(folder);
    for (const int attempt : run.attempts())
        for (JournalReader journal(run.attempt_journal(attempt)); auto event = journal.next();)
            if (event->type == type) events.push_back({attempt, std::move(event->fields)});
    return events;
}

}  // namespace

StoredEvents::StoredEvents(const Store& store) {
    if (store.file().empty()) return;
    database_ = std::make_unique<Database>(store.file());
    statement_ = std::make_unique<Statement>(
        *database_, "SELECT attempt, fields FROM events WHERE run = ? AND rank = 0 AND type = ? ORDER BY attempt, seq");
}

StoredEvents::~StoredEvents() = default;

std::vector<StoredEvent> StoredEvents::of(const fs::path& run_folder, std::string_view type) {
    if (!statement_) return read_journals(run_folder, type);
    std::vector<StoredEvent> events;
    const std::string run = run_folder.filename().string();
    statement_->bind(run, type);
    while (statement_->next())
        events.push_back({static_cast<int>(statement_->integer(0)), parse_json(statement_->text(1), run + ": an event of its journal")});
    statement_->reset();
    return events;
}

}  // namespace faceter
