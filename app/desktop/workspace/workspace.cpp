#include "workspace/workspace.h"

#include <fmt/format.h>

#include <QJsonArray>
#include <algorithm>
#include <utility>

#include "actions/run_actions.h"
#include "common/hash.h"
#include "experiment/run_models.h"
#include "record/models_by_run.h"

namespace faceter::desktop {

namespace {

QString inProject(const ProjectSession* session, const QString& name) {
    return session ? qs(session->folder().string()) + QLatin1Char('\n') + name : QString();
}

}  // namespace

QString groupKey(const RunInfo& run) { return qs(run.group()); }

Workspace::Workspace(QObject* parent) : QObject(parent), m_actions(std::make_unique<RunActions>(*this)) {}
Workspace::~Workspace() = default;

void Workspace::openProject(const std::filesystem::path& folder) {
    if (m_session && m_session->folder() == absolute_path(folder)) return m_session->refresh();
    closeProject();
    m_session = std::make_unique<ProjectSession>(folder);
    use_runs_as_models(folder);
    connect(m_session.get(), &ProjectSession::runsChanged, this, &Workspace::takeRuns);
    connect(m_session.get(), &ProjectSession::problem, this, &Workspace::storeProblem);
    connect(m_session.get(), &ProjectSession::warned, this, &Workspace::warned);
    connect(m_session.get(), &ProjectSession::settled, this, &Workspace::settled);
    Q_EMIT projectChanged();
}

void Workspace::closeProject() {
    if (!m_session) return;
    Q_EMIT projectClosing();
    use_run_models({});
    ProjectSession::retire(std::move(m_session), this);
    m_experiment.clear();
    m_experimentChosen = false;
    m_wantedExperiment.reset();
    m_revealed.clear();
    m_currentRun.clear();
    m_baseline.clear();
    m_hidden.clear();
    m_asked.clear();
    m_coloursOfAll.clear();
    m_shownRuns.clear();
    Q_EMIT projectChanged();
}

RunsSnapshotPtr Workspace::runs() const {
    static const RunsSnapshotPtr none = std::make_shared<RunsSnapshot>();
    return m_session ? m_session->runs() : none;
}

QStringList Workspace::experiments() const {
    QStringList names;
    const RunsSnapshotPtr snapshot = runs();
    for (auto run = snapshot->runs.rbegin(); run != snapshot->runs.rend(); ++run)
        if (const QString name = qs(run->info.experiment); !names.contains(name)) names << name;
    return names;
}

void Workspace::setExperiment(const QString& name) {
    m_experimentChosen = true;
    m_wantedExperiment.reset();
    m_revealed.clear();
    if (name == m_experiment) return;
    m_experiment = name;
    m_baseline.clear();
    learnShown();
    Q_EMIT experimentChanged();
    Q_EMIT baselineChanged();
    Q_EMIT shownChanged();
}

/// What was chosen before, or the newest when the project was opened: what comes later, maybe from elsewhere, takes nobody's place. True
/// where it is another one than so far.
bool Workspace::chooseExperiment() {
    const QStringList all = experiments();
    if (m_experimentChosen || all.isEmpty()) return false;
    m_experimentChosen = m_wantedExperiment && (m_wantedExperiment->isEmpty() || all.contains(*m_wantedExperiment));
    if (!m_experimentChosen && !m_session->isLooking() && all.contains(m_experiment)) return false;
    const QString now = m_experimentChosen ? *std::exchange(m_wantedExperiment, std::nullopt) : all.first();
    return std::exchange(m_experiment, now) != now;
}

void Workspace::takeRuns() {
    learnGroups();
    const bool moved = chooseExperiment();
    learnShown();
    if (moved) Q_EMIT experimentChanged();
    Q_EMIT runsChanged();
    std::uint64_t shown = 0;
    for (const RunGroupRef& group : shownGroups())
        for (const RunRow* run : group.runs)
            shown = hash64(fmt::format("{}{}{}", run->info.id, is_over(run->state.phase) ? "!" : "", run->num_scores), shown);
    const QStringList now = shown == 0 ? QStringList() : QStringList(QString::number(shown));  // the ids of ten thousand runs are some MB
    if (moved || now != m_shownRuns) Q_EMIT shownChanged();
    m_shownRuns = now;
    if (!m_currentRun.isEmpty()) Q_EMIT currentRunChanged();
    showRevealed();
}

void Workspace::reveal(const QString& run) {
    setCurrentRun(run);
    m_revealed = run;
    showRevealed();
}

/// A run that was launched just now is in no snapshot yet.
void Workspace::showRevealed() {
    const RunsSnapshotPtr snapshot = runs();
    const int place = snapshot->find(m_revealed.toStdString());
    if (place < 0) return;
    m_revealed.clear();
    const QString experiment = qs(snapshot->runs[static_cast<std::size_t>(place)].info.experiment);
    if (!m_experiment.isEmpty() && m_experiment != experiment) setExperiment(experiment);
}

/// Colours are given out in the order in which groups appear and are kept, also while another project is open: neither a new group repaints
/// the others, nor one that was deleted and comes back.
void Workspace::learnGroups() {
    const RunsSnapshotPtr snapshot = runs();
    for (const RunRow& run : snapshot->runs) {
        const QString key = inProject(m_session.get(), groupKey(run.info));
        if (m_colours.contains(key)) continue;
        int& next = m_nextColour[inProject(m_session.get(), qs(run.info.experiment))];
        // The untrained start model is grey: the place of grey in the palette.
        m_colours[key] = run.info.is_baseline() ? 7 : next++;
        if (next % 8 == 7) ++next;
    }
}

/// Where groups of all experiments stand together each has a colour of its own, the first of the palette where they suffice. One that has a
/// colour keeps it while that is so.
void Workspace::learnShown() {
    if (!m_experiment.isEmpty()) return;
    const RunsSnapshotPtr hold = runs();
    const std::vector<RunGroupRef> shown = shownGroups();
    const int enough = std::max(8, static_cast<int>(shown.size()) * 8 / 7 + 1);
    QHash<QString, int> colours;
    for (const RunGroupRef& group : shown)
        if (const auto known = m_coloursOfAll.constFind(group.key); known != m_coloursOfAll.cend() && *known < enough)
            colours[group.key] = *known;
    QSet<int> taken(colours.cbegin(), colours.cend());
    for (const RunGroupRef& group : shown) {
        if (colours.contains(group.key)) continue;
        const bool start = group.runs.front()->info.is_baseline();
        int place = start ? 7 : 0;  // start models are grey here, too
        while (taken.contains(place) || (!start && place % 8 == 7)) place += start ? 8 : 1;
        colours[group.key] = place;
        taken.insert(place);
    }
    m_coloursOfAll = colours;
}

std::vector<RunGroupRef> Workspace::groups() const {
    const RunsSnapshotPtr snapshot = runs();
    bool anyFull = false;
    QSet<QString> plain;  // groups that have a run which is neither archived nor a trial
    for (const RunRow& run : snapshot->runs) {
        if (run.info.smoke || run.archived || !isWanted(run)) continue;
        anyFull = true;
        if (!m_asked.isEmpty()) plain.insert(groupKey(run.info));
    }
    std::vector<RunGroupRef> groups;
    QHash<QString, std::size_t> places;
    for (const RunRow& run : snapshot->runs) {
        if (!isWanted(run)) continue;
        const QString key = groupKey(run.info);
        const bool aside = run.archived || (run.info.smoke && anyFull);
        if (aside && (!m_asked.contains(key) || plain.contains(key))) continue;
        const auto place = places.constFind(key);
        if (place == places.cend()) {
            places.insert(key, groups.size());
            QString label = qs(run.info.variant);
            if (!run.info.point.empty()) label += QStringLiteral(" · ") + qs(run.info.point);
            if (m_experiment.isEmpty()) label = qs(run.info.experiment) + QStringLiteral(" · ") + label;
            groups.push_back({key, label, colourOf(run.info), {&run}});
        } else {
            groups[*place].runs.push_back(&run);
        }
    }
    return groups;
}

std::vector<RunGroupRef> Workspace::shownGroups() const {
    std::vector<RunGroupRef> shown = groups();
    std::erase_if(shown, [&](const RunGroupRef& group) { return !isShown(group.key); });
    return shown;
}

void Workspace::setShown(const QString& group, bool shown) {
    if (isShown(group) == shown) return;
    if (shown)
        m_hidden.remove(group);
    else
        m_hidden.insert(group);
    learnShown();
    Q_EMIT shownChanged();
}

void Workspace::showOnly(const QStringList& wanted) {
    const QSet<QString> asked(wanted.begin(), wanted.end());
    const bool same = asked == m_asked;
    m_asked = asked;
    QSet<QString> hidden;
    for (const RunGroupRef& group : groups())
        if (!asked.contains(group.key)) hidden.insert(group.key);
    if (same && hidden == m_hidden) return;
    m_hidden = hidden;
    learnShown();
    Q_EMIT shownChanged();
}

QJsonObject Workspace::choice() const {
    const auto list = [](const QSet<QString>& groups) { return QJsonArray::fromStringList(QStringList(groups.begin(), groups.end())); };
    QJsonObject choice{{QStringLiteral("hidden"), list(m_hidden)}, {QStringLiteral("asked"), list(m_asked)}};
    if (m_experimentChosen || m_wantedExperiment) choice[QStringLiteral("experiment")] = m_wantedExperiment.value_or(m_experiment);
    return choice;
}

void Workspace::restoreChoice(const QJsonObject& choice) {
    const auto groups = [&](const QString& key) {
        QSet<QString> set;
        for (const QJsonValue& group : choice[key].toArray()) set.insert(group.toString());
        return set;
    };
    m_hidden = groups(QStringLiteral("hidden"));
    m_asked = groups(QStringLiteral("asked"));
    if (const QJsonValue experiment = choice[QStringLiteral("experiment")]; experiment.isString())
        m_wantedExperiment = experiment.toString();
    m_shownRuns = QStringList(QString());  // what comes next is another choice than what was shown
}

int Workspace::colourOf(const RunInfo& run) const {
    const QString key = groupKey(run);
    if (m_experiment.isEmpty())
        if (const auto shown = m_coloursOfAll.constFind(key); shown != m_coloursOfAll.cend()) return *shown;
    return m_colours.value(inProject(m_session.get(), key));
}

void Workspace::setCurrentRun(const QString& id) {
    if (id == m_currentRun) return;
    m_currentRun = id;
    Q_EMIT currentRunChanged();
}

const RunRow* Workspace::current() const {
    const RunsSnapshotPtr snapshot = runs();
    const int place = snapshot->find(m_currentRun.toStdString());
    return place < 0 ? nullptr : &snapshot->runs[static_cast<std::size_t>(place)];
}

void Workspace::setBaseline(const QString& group) {
    if (group == m_baseline) return;
    m_baseline = group;
    Q_EMIT baselineChanged();
}

}  // namespace faceter::desktop
