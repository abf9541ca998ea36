#include "pages/compare/compare_inspector.h"

#include <QVBoxLayout>
#include <algorithm>

#include "figure/elided_name.h"
#include "project/runs_snapshot.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

constexpr std::size_t mostSettings = 40, mostNotes = 12;

/// Not there, or there and empty: settings_difference() takes these for one another, too.
bool isNothing(const std::string& value) { return value == "—" || value == "null" || value == "[]" || value == "{}"; }

/// "off → on" against the baseline; of the others' values those that are not the baseline's.
QString valuesText(const SettingDifference& setting, std::size_t baseline) {
    const std::string& own = setting.values[baseline];
    QStringList others;
    for (const std::string& value : setting.values)
        if (value != own && !(isNothing(own) && isNothing(value)) && !others.contains(qs(value))) others << qs(value);
    return qs(setting.values[baseline]) + QStringLiteral(" → ") + others.join(QStringLiteral(" | "));
}

}  // namespace

CompareInspector::CompareInspector(QWidget* parent) : QWidget(parent), m_layout(new QVBoxLayout(this)) {
    setObjectName(QStringLiteral("compareInspector"));
    m_layout->setContentsMargins(0, 0, 0, 12);
    m_layout->setSpacing(4);
}

void CompareInspector::clear() {
    while (QLayoutItem* item = m_layout->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

void CompareInspector::addHeading(const QString& text) {
    if (m_layout->count() > 0) m_layout->addSpacing(12);
    m_layout->addWidget(headingLabel(text));
}

void CompareInspector::addText(const QString& text, const QString& name) {
    QLabel* label = secondaryLabel(text);
    label->setToolTip(name.toHtmlEscaped());
    label->setWordWrap(true);
    label->setMinimumWidth(1);  // a name without a space makes the panel no wider
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    m_layout->addWidget(label);
}

void CompareInspector::addSettings(const CompareData& data, const Comparison& comparison) {
    addHeading(tr("Differences in settings"));
    const SettingsDifference difference = settings_difference(data.settings);
    for (std::size_t i = 0; i < difference.differing.size() && i < mostSettings; ++i) {
        m_layout->addWidget(new ElidedLabel(qs(difference.differing[i].key), Qt::ElideLeft));
        addText(valuesText(difference.differing[i], comparison.baseline.value_or(0)));
    }
    if (difference.differing.size() > mostSettings) addText(tr("and %1 more").arg(difference.differing.size() - mostSettings));
    addText(tr("other settings equal: %1").arg(difference.equal));
}

void CompareInspector::addTest(const Comparison& comparison, const ComparisonView& view) {
    if (!view.baseline) return;
    const CompareTestInfo& info = compare_test_info(view.choice.test);
    addHeading(tr("The test"));
    addText(qs(fmt::format("{}. {} {}", view.test_sentence, info.speaks_for, info.assumption)));
    for (std::size_t i = 0; i < view.gains.size(); ++i) {
        if (i == *view.baseline) continue;
        const TestOutcome& outcome = view.gains[i].outcome;
        const QString whole = qs(comparison.groups[i].name), name = nameInWords(whole, fontMetrics());
        const std::string says =
            outcome.has_p() ? fmt::format("mean {}, p = {:.3g}, adjusted {:.3g}, n = {}{}", gainText(outcome), outcome.p,
                                          outcome.p_adjusted, outcome.n, outcome.n < 5 ? " (few: hardly any difference can be seen)" : "")
                            : fmt::format("no test, {}", outcome.reason);
        addText(name + QStringLiteral(": ") + qs(says), name == whole ? QString() : whole);
    }
}

/// A project of thousands of runs has thousands: a label each takes the interface half a second. The exports have all of them.
void CompareInspector::addNotes(const std::vector<std::string>& notes) {
    for (std::size_t i = 0; i < std::min(notes.size(), mostNotes); ++i) addText(qs(notes[i]));
    if (notes.size() > mostNotes) addText(tr("and %1 more").arg(notes.size() - mostNotes));
}

void CompareInspector::show(const CompareData& data, const Comparison& comparison, const ComparisonView& view) {
    clear();
    addSettings(data, comparison);
    addTest(comparison, view);
    if (!data.ranks.empty()) {
        addHeading(tr("Ranks"));
        addText(qs(data.ranks));
    }
    addHeading(tr("Test data seen in training"));
    if (data.overlaps.empty()) addText(tr("no run warns of any"));
    for (const std::string& overlap : data.overlaps) addText(qs(overlap));
    if (!data.notes.empty() || !comparison.notes.empty()) addHeading(tr("Notes"));
    addNotes(data.notes);
    addNotes(comparison.notes);
}

}  // namespace faceter::desktop
