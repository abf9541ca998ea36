#pragma once
#include <memory>
#include <string_view>
#include <vector>

#include "record/run_directory.h"
#include "store/store.h"

namespace faceter {

struct StoredEvent {
    int attempt = 0;
    Json fields;
};

/// What runs said of themselves in their journals (journal.h), but for steps and heartbeats, from a store that has taken them in: on a
/// connection of its own, so that one question after the other costs a few rows.
class StoredEvents {
  public:
    explicit StoredEvents(const Store& store);
    ~StoredEvents();
    StoredEvents(const StoredEvents&) = delete;
    StoredEvents& operator=(const StoredEvents&) = delete;

    /// Of rank 0, in order. Where the store could not be written, the journals themselves are read.
    std::vector<StoredEvent> of(const fs::path& run_folder, std::string_view type);

  private:
    std::unique_ptr<Database> database_;
    std::unique_ptr<Statement> statement_;
};

}  // namespace faceter
