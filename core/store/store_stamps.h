#pragma once
#include <cstdint>
#include <string>

namespace faceter {

/// What would differ with anything that is new in a run's folder: times and sizes of the places where something can be added, and of each
/// score, which may be written anew in its place.
struct RunStamps {
    std::string results, documents;  ///< of results/ and its files, of tables/ and figures/
    std::string record;              ///< of run.json, which may be damaged or put right later
    std::string all;
    bool settled = false;  ///< false: something changed so recently that a further change could hide behind the same time
};

/// The clock of files, in nanoseconds.
std::int64_t now_ns();
/// `folder` relative to the open folder `directory` (or AT_FDCWD). Eleven stat calls, a look into results/ and one for each file in it.
/// Stamps that are to stand for what was read before them are not settled either where something changed since the reading began, however
/// long ago that is.
RunStamps stamps_of(int directory, const std::string& folder, int attempt, std::int64_t reading_since = now_ns());
/// The same for one folder.
std::string folder_stamp(const std::string& folder, bool& settled);

}  // namespace faceter
