#include "pages/compose/estimate_panel.h"

#include <QPushButton>
#include <QVBoxLayout>

#include "project/runs_snapshot.h"
#include "widgets/data_table.h"
#include "widgets/labels.h"
#include "widgets/table_model.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

constexpr std::size_t most_groups = 12;  // each takes some seconds; further ones are like these
constexpr int probe_steps = 4;
constexpr double bytes_per_gib = 1 << 30;

double secondsOf(const Json& answer) { return answer.at("seconds").get<double>(); }

Json withoutSeed(Json settings) {
    settings.erase("seed");
    return settings;
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

EstimatePanel::EstimatePanel(ExperimentDocument& document, QWidget* parent)
    : WorkerPanel(document, tr("Estimate"), tr("Tries a few real steps of each variant and tells parameters, steps, memory and time."),
                  parent),
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
    column()->addWidget(m_table, 1);
    column()->addWidget(m_total);
    m_table->hide();
}

void EstimatePanel::ask(const Experiment& experiment) {
    m_groups.clear();
    m_next = 0;
    for (const ResolvedRun& run : experiment.runs()) {
        const QString name = qs(run.variant) + (run.point.empty() ? QString() : QStringLiteral(" · ") + qs(run.point));
        const auto same = std::find_if(m_groups.begin(), m_groups.end(), [&](const Group& group) { return group.name == name; });
        if (same != m_groups.end())
            ++same->runs;
        else
            m_groups.push_back({name, run.settings, 1, nullptr});
    }
    m_total->clear();
    show();
    askNext();
}

std::vector<std::optional<Forecast>> EstimatePanel::forecasts(const Experiment& experiment) const {
    std::vector<std::optional<Forecast>> all;
    for (const ResolvedRun& run : experiment.runs()) {
        std::optional<Forecast>& forecast = all.emplace_back();
        for (const Group& group : m_groups)
            if (!group.answer.is_null() && withoutSeed(group.settings) == withoutSeed(run.settings))
                forecast = Forecast{secondsOf(group.answer), group.answer.at("memory_bytes").get<double>() / bytes_per_gib};
    }
    return all;
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
    Table table = emptyTable();
    double seconds = 0;
    qint64 memory = 0, available = 0;
    int runs = 0;
    for (const Group& group : m_groups) {
        if (group.answer.is_null()) continue;
        addRow(table, group.name.toStdString(), group.runs, group.answer);
        seconds += secondsOf(group.answer) * group.runs;
        memory = std::max(memory, group.answer.at("memory_bytes").get<qint64>());
        available = group.answer.at("memory_available_bytes").get<qint64>();
        runs += group.runs;
    }
    const bool any = !table.rows.empty();
    m_table->setVisible(any);
    m_model->setTable(std::move(table));
    m_table->fitColumns(220);
    if (!any) return;
    QString text =
        tr("%1 runs one after another: about %2, up to %3 of memory (%4 are free). The time of evaluation is that of embedding its texts.")
            .arg(runs)
            .arg(durationText(seconds), bytesText(memory), bytesText(available));
    if (memory > available) text += tr(" That is more than is free: take a smaller batch or a gradient cache.");
    m_total->setText(text);
}

}  // namespace faceter::desktop
