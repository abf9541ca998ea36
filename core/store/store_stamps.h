#pragma once
#include <cstdint>
#include <string>

namespace faceter {

/// What would differ with anything that is new in a run's folder: times and sizes of the places where something can be added, and of the
/// files that may be written anew in their places.
struct RunStamps {
    std::string results, documents;  ///< of results/, of tables/ and figures/, with their files
    std::string all;
    bool settled = false;  ///< false: something changed so recently that a further change could hide behind the same time
};

/// The clock of files, in nanoseconds.
std::int64_t now_ns();
/// `folder` relative to the open folder `directory` (or AT_FDCWD). Ten stat calls, and one for each score, table and figure. Stamps that
/// are to stand for what was read before them are not settled either where something changed since the reading began, however long ago.
RunStamps stamps_of(int directory, const std::string& folder, int attempt, std::int64_t reading_since = now_ns());
/// The same for one folder.
std::string folder_stamp(const std::string& folder, bool& settled);

}  // namespace faceter
