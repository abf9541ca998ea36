#include "widgets/texts.h"

#include <QCoreApplication>
#include <QDateTime>
#include <cmath>

#include "figure/format.h"
#include "project/runs_snapshot.h"

namespace faceter::desktop {

QString seriesText(double value) { return QString::number(value, 'g', 5); }
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Texts", text); }

QString as(ColumnKind kind, double value, int decimals = 2) {
    Column column;
    column.kind = kind;
    column.decimals = decimals;
    return qs(format_value(column, value));
}

QString momentOf(const QDateTime& moment) {
    const qint64 days = moment.date().daysTo(QDate::currentDate());
    const QString time = moment.toString(QStringLiteral("HH:mm"));
    if (days == 0) return tr("today %1").arg(time);
    if (days == 1) return tr("yesterday %1").arg(time);
    return moment.toString(QStringLiteral("yyyy-MM-dd HH:mm"));
}

}  // namespace

QString durationText(double seconds) { return as(ColumnKind::duration, seconds); }
QString countText(std::int64_t count) { return as(ColumnKind::count, static_cast<double>(count)); }
QString bytesText(std::int64_t bytes) { return as(ColumnKind::bytes, static_cast<double>(bytes)); }
QString scoreText(double percent) { return std::isfinite(percent) ? as(ColumnKind::number, percent) : QStringLiteral("—"); }

QString momentText(double seconds) { return momentOf(QDateTime::fromMSecsSinceEpoch(static_cast<qint64>(seconds * 1000))); }
QString momentText(const std::string& utc) {
    const QDateTime moment = QDateTime::fromString(qs(utc), Qt::ISODate);
    return moment.isValid() ? momentOf(moment.toLocalTime()) : qs(utc);
}

double secondsLeft(const RunState& state) {
    if (state.phase != RunPhase::running || state.steps_per_s <= 0 || state.total_steps <= state.step) return -1;
    return static_cast<double>(state.total_steps - state.step) / state.steps_per_s;
}

QString progressText(const RunState& state) {
    if (!state.cause.empty() && state.phase != RunPhase::running && state.phase != RunPhase::done) return qs(state.cause);
    if (state.phase == RunPhase::done) return durationText(state.active_s);
    if (state.phase == RunPhase::queued) return tr("waits for its turn");
    QString text;
    if (state.total_steps > 0) text = tr("step %1 / %2").arg(countText(state.step), countText(state.total_steps));
    const double left = secondsLeft(state);
    if (state.doing == "train" && left >= 0)
        text += QStringLiteral(" · ") + tr("%1 left").arg(durationText(left));
    else if (!state.doing.empty())
        text = (text.isEmpty() ? QString() : text + QStringLiteral(" · ")) + qs(state.doing);
    return text;
}

}  // namespace faceter::desktop
