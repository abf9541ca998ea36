#pragma once
#include <chrono>

#include "common/error.h"
#include "common/file.h"

namespace faceter {

/// The store cannot be written, or opened: its disk is full, a quota is used up, it is another user's. It holds nothing that the run
/// directories do not: who only reads goes on with a store in memory (Database of no file), which lasts as long as the program.
class Unwritable : public Error {
  public:
    explicit Unwritable(const std::string& message) : Error(ExitCode::failed, message) {}
};

/// The file is damaged, or none of ours: no single run is to blame.
class DamagedStore : public Error {
  public:
    explicit DamagedStore(const std::string& message) : Error(ExitCode::data, message) {}
};

/// Another program holds it, and let nobody in for as long as we wait.
class BusyStore : public Error {
  public:
    explicit BusyStore(const std::string& message) : Error(ExitCode::failed, message) {}
};

/// How long this process waits for one who holds a store before it is a BusyStore: 20 s where nothing else is said.
void set_store_wait(std::chrono::milliseconds wait);

/// What keeps a store that is there from being opened; empty where nothing is known.
std::string why_closed(const fs::path& file);

}  // namespace faceter
