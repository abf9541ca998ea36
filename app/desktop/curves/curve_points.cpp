#include <unordered_map>

#include "common/strings.h"
#include "curves/curve_data.h"
#include "figure/escape.h"

namespace faceter::desktop {

std::string curvePointsCsv(Store& store, const CurveRequest& request) {
    std::unordered_map<std::string, std::uint64_t> seeds;
    for (const RunRow& run : store.runs()) seeds[run.info.id] = run.info.seed;
    const bool several = request.series.size() > 1;
    std::string csv =
        several ? "group,run,seed,series,step,time,value\r\n" : "group,run,seed,step,time," + escape_csv(join(request.series, "")) + "\r\n";
    for (const CurveGroup& group : request.groups)
        for (const std::string& run : group.runs)
            for (const std::string& series : request.series) {
                std::string head = fmt::format("{},{},{},", escape_csv(group.label), escape_csv(run), seeds[run]);
                if (several) head += escape_csv(series) + ",";
                for (const SeriesPoint& point : store.series(run, series))
                    csv += fmt::format("{}{},{},{}\r\n", head, point.step, format_double(point.time), format_double(point.value));
            }
    return csv;
}

}  // namespace faceter::desktop
