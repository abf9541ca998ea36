#include "launch/forecast.h"

#include "common/error.h"

namespace faceter {
namespace {

constexpr std::uint64_t most_bytes = 1 << 16;

fs::path file_of(const RunDirectory& run) { return run.control() / "forecast.json"; }

}  // namespace

void write_forecast(const RunDirectory& run, const Forecast& forecast) {
    make_directories(run.control());
    write_file_atomic(file_of(run), Json{{"seconds", forecast.seconds}, {"memory_gib", forecast.memory_gib}}.dump() + "\n");
}

std::optional<Forecast> read_forecast(const RunDirectory& run) {
    std::error_code ignored;
    if (!fs::exists(file_of(run), ignored)) return std::nullopt;
    try {
        const Json json = read_json(file_of(run), most_bytes);
        return Forecast{json_at<double>(json, "seconds", "forecast.json"), json_at<double>(json, "memory_gib", "forecast.json")};
    } catch (const Error&) {
        return std::nullopt;
    }
}

}  // namespace faceter
