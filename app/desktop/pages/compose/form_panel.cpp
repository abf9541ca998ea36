#include "pages/compose/form_panel.h"

#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QTimer>
#include <QVBoxLayout>

#include "pages/compose/field_row.h"
#include "pages/compose/form_group.h"
#include "widgets/labels.h"
#include "widgets/scroll.h"

namespace faceter::desktop {

FormPanel::FormPanel(ExperimentDocument& document, QWidget* parent)
    : QWidget(parent), m_context{document, {}}, m_search(new QLineEdit), m_scroll(new QScrollArea), m_notice(plainLabel()) {
    setObjectName(QStringLiteral("composeForm"));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    m_search->setPlaceholderText(tr("Search settings"));
    m_search->setObjectName(QStringLiteral("searchSettings"));
    m_search->setClearButtonEnabled(true);
    m_search->setAccessibleName(tr("Search settings"));
    layout->addWidget(m_search);
    m_notice->setObjectName(QStringLiteral("formNotice"));
    m_notice->setProperty("role", QStringLiteral("error"));
    m_notice->setWordWrap(true);
    m_notice->hide();
    layout->addWidget(m_notice);
    auto* content = new QWidget;
    m_layout = new QVBoxLayout(content);
    m_layout->setContentsMargins(0, 4, 12, 12);
    m_layout->setSpacing(4);
    m_layout->addStretch(1);
    m_scroll->setWidget(content);
    setUpScroll(*m_scroll);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    layout->addWidget(m_scroll, 1);
    connect(m_search, &QLineEdit::textChanged, this, &FormPanel::search);
    connect(&document, &ExperimentDocument::checked, this, &FormPanel::refresh);
    connect(&document, &ExperimentDocument::refused, this, [this](const QString& message) {
        m_notice->setText(message);
        m_notice->show();
    });
}

/// The settings at the top of the file as rows, everything that holds others as a group.
void FormPanel::build() {
    for (const Field& field : m_context.document.guide()->root().section->fields) {
        const YamlPath path{field.key};
        const auto resolved = m_context.field(path);
        const bool group = resolved->type == FieldType::section || resolved->type == FieldType::map ||
                           (resolved->type == FieldType::list && resolved->item->type == FieldType::any);
        if (group) {
            QString title = qs(field.key);
            title[0] = title[0].toUpper();
            auto* made = new FormGroup(m_context, path, title, 0);
            m_groups.append(made);
            m_layout->insertWidget(m_layout->count() - 1, made);
        } else {
            auto* row = new FieldRow(m_context, path, *resolved);
            m_rows.append(row);
            m_layout->insertWidget(m_layout->count() - 1, row);
        }
    }
    setOpenGroups(m_open);
}

void FormPanel::refresh() {
    const CheckReport& report = m_context.document.report();
    m_context.problems = report.problems;
    const bool valid = report.tree != nullptr;
    m_notice->setText(
        valid || report.problems.empty()
            ? QString()
            : tr("The text is not valid YAML (line %1); the form shows its last valid state.").arg(report.problems.front().line));
    m_notice->setVisible(!m_notice->text().isEmpty());
    m_scroll->widget()->setEnabled(valid);
    if (m_groups.isEmpty()) return build();
    for (FieldRow* row : m_rows) row->refresh();
    for (FormGroup* group : m_groups) group->refresh();
    if (!m_search->text().isEmpty()) search(m_search->text());
}

void FormPanel::search(const QString& text) {
    const QString wanted = text.trimmed();
    if (!wanted.isEmpty() && m_beforeSearch.isEmpty()) m_beforeSearch = openGroups() << QStringLiteral("-");
    for (FieldRow* row : m_rows) row->setVisible(wanted.isEmpty() || row->matches(wanted));
    for (FormGroup* group : m_groups) group->filter(wanted);
    if (!wanted.isEmpty() || m_beforeSearch.isEmpty()) return;
    for (FormGroup* group : m_groups) group->setOpen(m_beforeSearch.contains(group->objectName()));
    m_beforeSearch.clear();
}

void FormPanel::reveal(const YamlPath& path, bool focus) {
    QWidget* found = nullptr;
    for (FieldRow* row : m_rows)
        if (isBelow(path, row->path())) found = row->control();
    for (FormGroup* group : m_groups)
        if (!found) found = group->reveal(path);
    if (!found) return;
    if (focus) found->setFocus(Qt::OtherFocusReason);
    // After the layout has given it its place.
    QTimer::singleShot(0, found, [this, found] { m_scroll->ensureWidgetVisible(found, 0, 60); });
}

QStringList FormPanel::openGroups() const {
    QStringList names;
    for (const FormGroup* group : m_groups)
        if (group->isOpen()) names << group->objectName();
    return names;
}

void FormPanel::setOpenGroups(const QStringList& names) {
    m_open = names;
    for (FormGroup* group : m_groups) group->setOpen(names.contains(group->objectName()));
}

}  // namespace faceter::desktop
