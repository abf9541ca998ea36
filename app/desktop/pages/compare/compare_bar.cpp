#include "pages/compare/compare_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QMenu>
#include <QToolButton>

#include "project/runs_snapshot.h"
#include "widgets/flow_layout.h"
#include "widgets/menu_heading.h"
#include "widgets/name_box.h"

namespace faceter::desktop {
namespace {

struct Format {
    TableFormat format;
    const char* title;
};
constexpr Format formats[] = {{TableFormat::csv, "CSV"},
                              {TableFormat::tsv, "TSV"},
                              {TableFormat::md, "Markdown"},
                              {TableFormat::latex, "LaTeX (booktabs)"},
                              {TableFormat::json, "JSON"}};

QComboBox* box(const QString& name, const QString& accessible, const QString& lead = {}) {
    auto* made = new NameBox;
    made->setLead(lead);
    made->setObjectName(name);
    made->setAccessibleName(accessible);
    made->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    made->setMaximumWidth(210);
    return made;
}

QToolButton* menuButton(const QString& text, const QString& name) {
    auto* button = new QToolButton;
    button->setText(text);
    button->setProperty("role", QStringLiteral("button"));
    button->setObjectName(name);
    button->setPopupMode(QToolButton::InstantPopup);
    button->setFocusPolicy(Qt::StrongFocus);
    button->setMenu(new QMenu(button));
    return button;
}

}  // namespace

CompareBar::CompareBar(std::vector<PublishedTable> published, QWidget* parent)
    : QWidget(parent),
      m_tables(std::move(published)),
      m_actions(new QWidget),
      m_baseline(box(QStringLiteral("compareBaseline"), tr("Baseline"), tr("Baseline: %1").arg(QString()))),
      m_test(box(QStringLiteral("compareTest"), tr("Test behind the stars"))),
      m_value(box(QStringLiteral("compareValue"), tr("Which seed is shown"))),
      m_published(box(QStringLiteral("comparePublished"), tr("Published figures"))) {
    auto* layout = new FlowLayout(this);
    for (QComboBox* one : {m_baseline, m_test, m_value, m_published}) layout->addWidget(one);
    for (QComboBox* one : {m_baseline, m_test, m_published})  // names may be longer than the box
        connect(one, &QComboBox::currentTextChanged, one, [one](const QString& text) { one->setToolTip(text.toHtmlEscaped()); });
    connect(m_value, &QComboBox::currentTextChanged, m_value,
            [this](const QString& text) { m_value->setToolTip(tr("%1: what is shown of a group; tests take all its seeds").arg(text)); });
    auto* actions = new QHBoxLayout(m_actions);
    actions->setContentsMargins(0, 0, 0, 0);
    actions->addWidget(makeCopy());
    actions->addWidget(makeExport());
    fillTests();
    fillPublished();
    connect(m_baseline, &QComboBox::currentIndexChanged, this, &CompareBar::baselineChosen);
    connect(m_test, &QComboBox::currentIndexChanged, this, &CompareBar::choiceChanged);
    connect(m_value, &QComboBox::currentIndexChanged, this, &CompareBar::choiceChanged);
    connect(m_published, &QComboBox::currentIndexChanged, this, &CompareBar::publishedChanged);
}

void CompareBar::fillTests() {
    for (const CompareTestInfo& info : compare_tests()) {
        m_test->addItem(qs(info.title), qs(info.name));
        m_test->setItemData(m_test->count() - 1, qs(fmt::format("{} {}", info.speaks_for, info.assumption)).toHtmlEscaped(),
                            Qt::ToolTipRole);
    }
    for (const SeedValue value : {SeedValue::mean, SeedValue::best, SeedValue::last})
        m_value->addItem(qs(seed_value_name(value)).replace(0, 1, qs(seed_value_name(value)).left(1).toUpper()));
}

void CompareBar::fillPublished() {
    m_published->addItem(tr("Published: none"));
    for (const PublishedTable& table : m_tables) {
        m_published->addItem(qs(table.heading()), qs(table.id()));
        m_published->setItemData(m_published->count() - 1, qs(table.source() + ": " + table.caption).toHtmlEscaped(), Qt::ToolTipRole);
    }
    m_published->setMaxVisibleItems(16);
    m_published->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);  // long names of tables must not press the others
    m_published->setMinimumContentsLength(11);
}

QToolButton* CompareBar::makeCopy() {
    QToolButton* button = menuButton(tr("Copy"), QStringLiteral("compareCopy"));
    for (const Format& format : formats)
        if (format.format != TableFormat::json && format.format != TableFormat::csv)
            button->menu()->addAction(tr("Table as %1").arg(QString::fromLatin1(format.title)), this,
                                      [this, format] { Q_EMIT copyAsked(format.format); });
    return button;
}

QToolButton* CompareBar::makeExport() {
    QToolButton* button = menuButton(tr("Export"), QStringLiteral("compareExport"));
    const std::pair<ComparisonLayout, QString> layouts[] = {{ComparisonLayout::sets_down, tr("As shown, data sets down")},
                                                            {ComparisonLayout::groups_down, tr("As faceter compare, groups down")}};
    for (const auto& [layout, title] : layouts) {
        addHeading(*button->menu(), title);
        for (const Format& format : formats) {
            QAction* action = button->menu()->addAction(QString::fromLatin1(format.title) + QStringLiteral("…"));
            action->setToolTip(title);
            action->setObjectName(QStringLiteral("compareExport-%1-%2")
                                      .arg(layout == ComparisonLayout::sets_down ? QStringLiteral("sets") : QStringLiteral("groups"),
                                           qs(table_format_names()[static_cast<std::size_t>(format.format)])));
            connect(action, &QAction::triggered, this, [this, layout = layout, format] { Q_EMIT exportAsked(layout, format.format); });
        }
    }
    return button;
}

void CompareBar::setGroups(const Comparison& comparison, std::optional<std::size_t> baseline) {
    const QSignalBlocker quiet(m_baseline);
    m_baseline->clear();
    for (const RunGroup& group : comparison.groups) m_baseline->addItem(tr("Baseline: %1").arg(qs(group.name)));
    m_baseline->setCurrentIndex(baseline ? static_cast<int>(*baseline) : -1);
    m_baseline->setToolTip(m_baseline->currentText().toHtmlEscaped());
}

void CompareBar::setBaselineOnly(bool only) {
    for (QComboBox* one : {m_test, m_value, m_published}) one->setVisible(!only);
}

int CompareBar::baseline() const { return m_baseline->currentIndex(); }
CompareTest CompareBar::test() const { return compare_tests()[static_cast<std::size_t>(std::max(0, m_test->currentIndex()))].test; }
SeedValue CompareBar::value() const { return static_cast<SeedValue>(std::max(0, m_value->currentIndex())); }
QString CompareBar::publishedId() const { return m_published->currentData().toString(); }

std::vector<PublishedColumn> CompareBar::published() const {
    std::vector<PublishedColumn> columns;
    for (const PublishedTable& table : m_tables)
        if (qs(table.id()) == publishedId())
            for (std::size_t model = 0; model < table.models.size(); ++model) columns.push_back({table, model});
    return columns;
}

void CompareBar::restore(const QString& test, int value, const QString& published) {
    if (const int at = m_test->findData(test); at >= 0) m_test->setCurrentIndex(at);
    if (value >= 0 && value < m_value->count()) m_value->setCurrentIndex(value);
    if (const int at = m_published->findData(published); at >= 0 && !published.isEmpty()) m_published->setCurrentIndex(at);
}

}  // namespace faceter::desktop
