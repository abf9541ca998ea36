#include "pages/compose/estimate_panel.h"

#include <QPushButton>
#include <QVBoxLayout>
#include <map>

#include "pages/compose/negatives_text.h"
#include "pages/compose/run_list_model.h"
#include "project/runs_snapshot.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/table_model.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr std::size_t most_groups = 12;  // each takes some seconds; further ones are like these
constexpr int probe_steps = 4;
constexpr qsizetype most_lines = 4;
constexpr double bytes_per_gib = 1 << 30;

double secondsOf(const Json& answer) { return answer.at("seconds").get<double>(); }

Json withoutSeed(Json settings) {
    settings.erase("seed");
    return settings;
}

QString groupName(const ResolvedRun& run) {
    return qs(run.variant) + (run.point.empty() ? QString() : QStringLiteral(" · ") + qs(run.point));
}

double trainingSeconds(const Json& answer) {
    double seconds = 0;
    for (const Json& stage : answer.at("stages")) seconds += stage.at("seconds").get<double>();
    return seconds;
}

std::string durationOrDash(double seconds) { return seconds > 0 ? durationText(seconds).toStdString() : "—"; }

/// The most that a stage takes of a GPU, as set and with activations made again; with a GPU here, the largest batch that fits.
std::string onGpuText(const Json& answer) {
    const Json* most = nullptr;
    for (const Json& stage : answer.at("stages"))
        if (const auto found = stage.find("on_gpu"); found != stage.end() && found->is_object())
            if (!most || found->at("bytes") > most->at("bytes")) most = &*found;
    if (!most) return "—";
    const auto bytes = [&](const char* name) { return bytesText(most->at(name).get<qint64>()); };
    QString text = EstimatePanel::tr("%1, %2 with activation checkpointing").arg(bytes("bytes_kept"), bytes("bytes_recomputed"));
    if (most->contains("largest_batch"))
        text += EstimatePanel::tr("; up to %1 pairs")
                    .arg(std::max(most->at("largest_batch").get<qint64>(), most->at("largest_batch_recomputed").get<qint64>()));
    return text.toStdString();
}

Table emptyTable() {
    Table table;
    table.name = "estimate";
    table.add_column("variant", ColumnKind::text);
    table.add_column("runs", ColumnKind::count);
    table.add_column("parameters", ColumnKind::count);
    table.add_column("active", ColumnKind::count);
    table.add_column("steps", ColumnKind::count);
    table.add_column("a step", ColumnKind::text);
    table.add_column("training", ColumnKind::text);
    table.add_column("evaluation", ColumnKind::text);
    table.add_column("memory", ColumnKind::text);
    table.add_column("on a GPU", ColumnKind::text);
    return table;
}

void addRow(Table& table, const std::string& name, int runs, const Json& answer) {
    double steps = 0, step = 0;
    for (const Json& stage : answer.at("stages")) {
        steps += stage.at("steps").get<double>();
        step = std::max(step, stage.at("seconds_per_step").get<double>());
    }
    table.add_row({Cell::of(name), Cell::of(static_cast<double>(runs)), Cell::of(answer.at("total_parameters").get<double>()),
                   Cell::of(answer.at("active_parameters").get<double>()), Cell::of(steps), Cell::of(durationOrDash(step)),
                   Cell::of(durationOrDash(trainingSeconds(answer))),
                   Cell::of(durationOrDash(answer.at("evaluation").at("seconds").get<double>())),
                   Cell::of(bytesText(answer.at("memory_bytes").get<qint64>()).toStdString()), Cell::of(onGpuText(answer))});
}

}  // namespace

EstimatePanel::EstimatePanel(ExperimentDocument& document, const RunListModel& runs, QWidget* parent)
    : WorkerPanel(document, tr("Estimate"), tr("Tries a few real steps of each variant and tells parameters, steps, memory and time."),
                  parent),
      m_runs(runs),
      m_negatives(plainLabel()),
      m_total(plainLabel()),
      m_table(new DataTable),
      m_model(new TableModel(this)) {
    setObjectName(QStringLiteral("estimatePanel"));
    askButton()->setObjectName(QStringLiteral("estimate"));
    cancelButton()->setObjectName(QStringLiteral("cancelEstimate"));
    m_table->setObjectName(QStringLiteral("estimateTable"));
    m_table->setAccessibleName(tr("Estimate"));
    m_total->setObjectName(QStringLiteral("estimateTotal"));
    m_total->setWordWrap(true);
    m_table->setModel(m_model);
    m_negatives->setObjectName(QStringLiteral("estimateNegatives"));
    m_negatives->setWordWrap(true);
    m_negatives->setProperty("role", QStringLiteral("secondary"));
    column()->addWidget(m_negatives);
    column()->addWidget(m_table, 1);
    column()->addWidget(m_total);
    column()->addStretch();
    connect(&m_runs, &RunListModel::ticksChanged, this, &EstimatePanel::takeTicks);
    takeTicks();
}

void EstimatePanel::ask(const Experiment&) {
    m_groups.clear();
    m_next = 0;
    for (const ResolvedRun* run : m_runs.ticked()) {
        const QString name = groupName(*run);
        if (std::none_of(m_groups.begin(), m_groups.end(), [&](const Group& group) { return group.name == name; }))
            m_groups.push_back({name, run->settings, nullptr});
    }
    m_total->clear();
    show();
    askNext();
}

/// Null: it was not tried.
const EstimatePanel::Group* EstimatePanel::groupOf(const ResolvedRun& run) const {
    const auto same = std::find_if(m_groups.begin(), m_groups.end(),
                                   [&](const Group& group) { return !group.answer.is_null() && group.name == groupName(run); });
    return same == m_groups.end() ? nullptr : &*same;
}

std::vector<std::optional<Forecast>> EstimatePanel::forecasts() const {
    std::vector<std::optional<Forecast>> all;
    for (const ResolvedRun* run : m_runs.ticked()) {
        std::optional<Forecast>& forecast = all.emplace_back();
        if (const Group* group = groupOf(*run); group && withoutSeed(group->settings) == withoutSeed(run->settings))
            forecast = Forecast{secondsOf(group->answer), group->answer.at("memory_bytes").get<double>() / bytes_per_gib};
    }
    return all;
}

void EstimatePanel::takeTicks() {
    const QString negatives = negativesText(m_runs.ticked());
    const QStringList lines = negatives.split(QLatin1Char('\n'));
    m_negatives->setText(tr("Negatives of each query:") + (lines.size() > 1 ? QStringLiteral("\n") : QStringLiteral(" ")) +
                         lines.mid(0, most_lines).join(QLatin1Char('\n')) +
                         (lines.size() > most_lines ? tr("\nand %1 more").arg(lines.size() - most_lines) : QString()));
    m_negatives->setToolTip(
        negatives.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")) + QStringLiteral("<p>") +
        tr("Processes that train together and a gradient cache share a batch out: its negatives stay those of the whole."));
    m_negatives->setVisible(!negatives.isEmpty());
    show();
}

void EstimatePanel::askNext() {
    if (m_next >= std::min(m_groups.size(), most_groups)) {
        finish(m_groups.size() > most_groups ? tr("The first %1 of %2 were tried.").arg(most_groups).arg(m_groups.size()) : QString());
        return show();
    }
    const Group& group = m_groups[m_next];
    call(QStringLiteral("estimate"), {{"settings", group.settings}, {"steps", probe_steps}}, group.name, [this](const Json& answer) {
        m_groups[m_next++].answer = answer;
        show();
        askNext();
    });
}

void EstimatePanel::show() {
    std::map<const Group*, int> runs;
    int untried = 0;
    for (const ResolvedRun* run : m_runs.ticked())
        if (const Group* group = groupOf(*run))
            ++runs[group];
        else
            ++untried;
    Table table = emptyTable();
    double seconds = 0;
    int tried = 0;
    qint64 memory = 0, available = 0;
    for (const Group& group : m_groups) {
        const int count = runs[&group];
        if (count == 0) continue;
        addRow(table, group.name.toStdString(), count, group.answer);
        seconds += secondsOf(group.answer) * count;
        memory = std::max(memory, group.answer.at("memory_bytes").get<qint64>());
        available = group.answer.at("memory_available_bytes").get<qint64>();
        tried += count;
    }
    const bool any = !table.rows.empty();
    m_table->setVisible(any);
    m_total->setVisible(any);
    m_model->setTable(std::move(table));
    m_table->fitColumns(220);
    if (!any) return;
    QString text =
        tr("%1 runs one after another: about %2, up to %3 of memory (%4 are free). The time of evaluation is that of embedding its texts.")
            .arg(tried)
            .arg(durationText(seconds), bytesText(memory), bytesText(available));
    if (untried > 0) text += tr(" Not tried: %1 of the ticked runs.").arg(untried);
    if (memory > available) text += tr(" That is more than is free: take a smaller batch or a gradient cache.");
    m_total->setText(text);
}

}  // namespace faceter::desktop
