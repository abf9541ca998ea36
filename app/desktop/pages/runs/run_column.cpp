#include "pages/runs/run_column.h"

#include <QCoreApplication>

#include "project/runs_snapshot.h"
#include "store/series_value.h"

namespace faceter::desktop {
namespace {

using Kind = RunColumn::Kind;

struct Plain {
    Kind kind;
    const char* id;
    const char* title;
    const char* toolTip;
};

constexpr Plain plain[] = {
    {Kind::name, "name", "run", "Short name, unique in the project, and sweep point; the colour is the run's on every page"},
    {Kind::state, "state", "state", "Where the run is, from its heartbeat"},
    {Kind::experiment, "experiment", "experiment", ""},
    {Kind::variant, "variant", "variant", ""},
    {Kind::method, "method", "method", ""},
    {Kind::point, "point", "sweep point", ""},
    {Kind::key_settings, "key", "key settings", "The settings that differ between the runs of an experiment"},
    {Kind::seed, "seed", "seeds", ""},
    {Kind::score, "score", "mean score", "Mean of the main scores over data sets, percent"},
    {Kind::loss, "loss", "loss", "The last training loss"},
    {Kind::step, "step", "step", ""},
    {Kind::time, "time", "time, place", "Time taken, time left or what went wrong; when and where it was started"},
    {Kind::created, "created", "made", "When the run was made"},
    {Kind::attempts, "attempts", "attempts", "How often it was started or resumed"},
    {Kind::tags, "tags", "tags", ""},
    {Kind::note, "note", "note", ""},
};

struct Keyed {
    Kind kind;
    const char* prefix;
};
constexpr Keyed keyed[] = {{Kind::task_type, "type:"}, {Kind::set, "set:"}, {Kind::setting, "setting:"}, {Kind::series, "series:"}};

const Plain* find(Kind kind) {
    for (const Plain& one : plain)
        if (one.kind == kind) return &one;
    return nullptr;
}

QString translated(const char* text) { return QCoreApplication::translate("RunColumn", text); }

QString seriesTitle(const std::string& key) {
    const SeriesValue value = SeriesValue::parse(key).value_or(SeriesValue{key});
    switch (value.which) {
        case SeriesValue::Which::last:
            return translated("%1 (last)").arg(qs(value.series));
        case SeriesValue::Which::best:
            return translated("%1 (best)").arg(qs(value.series));
        case SeriesValue::Which::min:
            return translated("%1 (least)").arg(qs(value.series));
        case SeriesValue::Which::max:
            return translated("%1 (most)").arg(qs(value.series));
        case SeriesValue::Which::at:
            break;
    }
    return translated("%1 (step %2)").arg(qs(value.series)).arg(value.step);
}

}  // namespace

QString RunColumn::id() const {
    for (const Keyed& one : keyed)
        if (one.kind == kind) return QLatin1String(one.prefix) + qs(key);
    return QLatin1String(find(kind)->id);
}

QString RunColumn::title() const {
    if (const Plain* one = find(kind)) return translated(one->title);
    if (kind == Kind::series) return seriesTitle(key);
    if (kind != Kind::setting) return qs(key);
    // The last part says it nearly always; the tooltip has all of it.
    return qs(key.substr(key.rfind('.') == std::string::npos ? 0 : key.rfind('.') + 1));
}

QString RunColumn::toolTip() const {
    if (const Plain* one = find(kind)) return *one->toolTip ? translated(one->toolTip) : title();
    if (kind == Kind::series) return translated("A run's series: %1").arg(title());
    if (kind == Kind::task_type) return translated("%1: mean of the main scores over its data sets, percent").arg(qs(key));
    return kind == Kind::set ? translated("%1: main score, percent").arg(qs(key)) : qs(key);
}

bool RunColumn::isNumber() const {
    return isScore() || kind == Kind::loss || kind == Kind::step || kind == Kind::attempts || kind == Kind::series;
}

int RunColumn::direction() const {
    if (kind != Kind::series) return isScore() ? 1 : 0;
    const auto value = SeriesValue::parse(key);
    return value && value->which == SeriesValue::Which::best ? value->direction() : 0;
}

std::optional<RunColumn> RunColumn::fromId(const QString& id) {
    for (const Plain& one : plain)
        if (id == QLatin1String(one.id)) return RunColumn{one.kind, {}};
    for (const Keyed& one : keyed)
        if (id.startsWith(QLatin1String(one.prefix))) {
            RunColumn column{one.kind, id.mid(static_cast<qsizetype>(qstrlen(one.prefix))).toStdString()};
            if (column.kind == Kind::series && !SeriesValue::parse(column.key)) return std::nullopt;
            return column;
        }
    return std::nullopt;
}

}  // namespace faceter::desktop
