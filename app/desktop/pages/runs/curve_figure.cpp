#include "pages/runs/curve_figure.h"

#include <algorithm>

namespace faceter::desktop {
namespace {

constexpr int columns = 240;  // of a card 800 px wide: one every 3 px

}  // namespace

std::string defaultSeries(const std::vector<std::string>& names) {
    for (const std::string& name : names)
        if (name.starts_with("score/")) return name;
    return std::find(names.begin(), names.end(), "loss") != names.end() || names.empty() ? "loss" : names.front();
}

CurveAnswer readCurves(Store& store, const std::vector<CurveGroup>& groups, const std::string& wanted) {
    CurveAnswer answer;
    answer.names = curveNames(store, groups);
    const bool known = std::find(answer.names.begin(), answer.names.end(), wanted) != answer.names.end();
    CurveRequest request;
    answer.series = known ? wanted : defaultSeries(answer.names);
    request.series = {answer.series};
    request.groups = groups;
    request.columns = columns;
    answer.figure = readCurve(store, request).figure;
    return answer;
}

}  // namespace faceter::desktop
