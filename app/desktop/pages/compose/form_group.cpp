#include "pages/compose/form_group.h"

#include <QApplication>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QPushButton>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>

#include "common/strings.h"
#include "pages/compose/completion.h"
#include "pages/compose/field_row.h"
#include "theme/icons.h"
#include "widgets/as_written.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

bool holdsOthers(const Field& field) {
    if (field.type == FieldType::section || field.type == FieldType::map) return true;
    if (field.type != FieldType::list) return false;
    const FieldType item = field.item->type;
    return item == FieldType::section || item == FieldType::any;
}

bool isSweep(const YamlPath& path) { return !path.empty() && path.front().key == "sweep"; }

QString spoken(const std::string& key) {
    QString text = qs(key).replace(QLatin1Char('_'), QLatin1Char(' '));
    return text;
}

QString itemTitle(const YamlNode* node, std::size_t index) {
    for (const char* key : {"name", "method", "view", "path"})
        if (const YamlNode* named = node && node->kind == YamlNode::Kind::map ? node->find(key) : nullptr; named && !named->text.empty())
            return qs(named->text);
    return QString::number(index + 1);
}

}  // namespace

FormGroup::FormGroup(FormContext& context, YamlPath path, const QString& title, int depth, QWidget* parent)
    : QWidget(parent),
      m_context(context),
      m_path(std::move(path)),
      m_depth(depth),
      m_header(new QToolButton),
      m_summary(new ElidedLabel),
      m_body(new QWidget),
      m_bodyLayout(new QVBoxLayout(m_body)) {
    setObjectName(QStringLiteral("group:") + qs(yaml_path_text(m_path)));
    buildHeader(title);
    m_body->hide();
    refresh();
}

bool FormGroup::isMember() const {
    if (m_path.size() < 2) return false;
    const auto holder = m_context.field({m_path.begin(), m_path.end() - 1});
    return m_path.back().is_item || (holder && holder->type == FieldType::map);
}

/// A name may hold what a button reads as the mark of a mnemonic.
void FormGroup::setTitle(const QString& title) {
    m_header->setText(asWritten(title));
    m_header->setAccessibleName(title);
}

void FormGroup::buildHeader(const QString& title) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);
    auto* row = new QHBoxLayout;
    row->setSpacing(6);
    setTitle(title);
    m_header->setObjectName(QStringLiteral("open:") + qs(yaml_path_text(m_path)));
    m_header->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    m_header->setIconSize({12, 12});
    m_header->setCheckable(false);
    if (m_depth == 0) m_header->setStyleSheet(QStringLiteral("font-weight: 600;"));
    m_summary->setProperty("role", QStringLiteral("secondary"));
    row->addWidget(m_header);
    row->addWidget(m_summary, 1);
    if (isMember()) {
        const bool named = !m_path.back().is_item && !isSweep(m_path);
        if (named) {
            auto* rename = new QToolButton;
            rename->setIcon(icon(QStringLiteral("note")));
            rename->setToolTip(tr("Rename"));
            rename->setAccessibleName(tr("Rename %1").arg(title));
            rename->setObjectName(QStringLiteral("rename:") + qs(yaml_path_text(m_path)));
            connect(rename, &QToolButton::clicked, this, &FormGroup::rename);
            row->addWidget(rename);
        }
        auto* removing = new QToolButton;
        removing->setIcon(icon(QStringLiteral("trash")));
        removing->setToolTip(tr("Remove"));
        removing->setAccessibleName(tr("Remove %1").arg(title));
        removing->setObjectName(QStringLiteral("remove:") + qs(yaml_path_text(m_path)));
        connect(removing, &QToolButton::clicked, this, &FormGroup::remove);
        row->addWidget(removing);
    }
    outer->addLayout(row);
    m_bodyLayout->setContentsMargins(m_depth == 0 ? 20 : 16, 4, 0, 8);
    m_bodyLayout->setSpacing(4);
    outer->addWidget(m_body);
    connect(m_header, &QToolButton::clicked, this, [this] { setOpen(!m_open); });
    if (const auto field = m_context.field(m_path))
        m_header->setToolTip(qs(describeField(*field)).toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")));
}

void FormGroup::setOpen(bool open) {
    m_open = open;
    m_body->setVisible(open);
    refresh();
    if (open) Q_EMIT opened();
}

QList<FormGroup::Part> FormGroup::parts() const {
    QList<Part> parts;
    const auto field = m_context.field(m_path);
    if (!field) return parts;
    const YamlNode* node = m_context.node(m_path);
    const auto add = [&](YamlPath path, const QString& title) {
        const auto inner = m_context.field(path);
        if (!inner) return;
        const bool group = holdsOthers(*inner);
        parts.append({path, title, group,
                      yaml_path_text(path) + (group ? "{" : "=") +
                          (group ? "" : std::to_string(static_cast<int>(inner->type)) + join(inner->choices, ","))});
    };
    if (field->type == FieldType::section)
        for (const Field& inner : field->section->fields) add(deeper(m_path, inner.key), spoken(inner.key));
    if (field->type == FieldType::map && node)
        for (const auto& entry : node->entries) add(deeper(m_path, entry.key), qs(entry.key));
    if (field->type == FieldType::list && node)
        for (std::size_t i = 0; i < node->items.size(); ++i) add(deeper(m_path, YamlStep::item(i)), itemTitle(&node->items[i], i));
    return parts;
}

void FormGroup::refresh() {
    if (m_open) {
        const QList<Part> now = parts();
        std::string signature;
        for (const Part& part : now) signature += part.signature + "\n";
        if (!m_built || signature != m_signature) {
            m_signature = signature;
            rebuild(now);
        } else {
            for (FieldRow* row : m_rows) row->refresh();
            for (FormGroup* group : m_groups) group->refresh();
        }
    }
    showHeader();
}

QString FormGroup::focused() const {
    const QWidget* widget = QApplication::focusWidget();
    return widget && m_body->isAncestorOf(widget) ? widget->objectName() : QString();
}

/// The widgets of before have the same names until they are deleted.
bool FormGroup::focus(const QString& name) {
    for (int i = 0; i < m_bodyLayout->count(); ++i) {
        QWidget* part = m_bodyLayout->itemAt(i)->widget();
        QWidget* found = part && part->objectName() != name ? part->findChild<QWidget*>(name) : part;
        if (!found) continue;
        found->setFocus(Qt::OtherFocusReason);
        return true;
    }
    return false;
}

/// Which groups were open, and where the keyboard is, stays as it was.
void FormGroup::rebuild(const QList<Part>& now) {
    const QString before = focused();
    QStringList open;
    for (const FormGroup* group : m_groups)
        if (group->isOpen()) open << group->objectName();
    setUpdatesEnabled(false);
    while (QLayoutItem* item = m_bodyLayout->takeAt(0)) {
        if (item->widget()) {
            item->widget()->hide();
            item->widget()->deleteLater();  // the change may come from one of them
        }
        delete item;
    }
    m_rows.clear();
    m_groups.clear();
    m_built = true;
    for (const Part& part : now) addPart(part);
    for (FormGroup* group : m_groups)
        if (open.contains(group->objectName())) group->setOpen(true);
    addButtons();
    if (!before.isEmpty() && !focus(before)) focus(QStringLiteral("add:") + qs(yaml_path_text(m_path)));  // what had it is gone
    setUpdatesEnabled(true);
}

void FormGroup::addPart(const Part& part) {
    if (part.group) {
        auto* group = new FormGroup(m_context, part.path, part.title, m_depth + 1);
        m_groups.append(group);
        m_bodyLayout->addWidget(group);
        return;
    }
    auto* row = new FieldRow(m_context, part.path, *m_context.field(part.path));
    m_rows.append(row);
    m_bodyLayout->addWidget(row);
}

void FormGroup::addButtons() {
    const auto field = m_context.field(m_path);
    if (!field || (field->type != FieldType::map && field->type != FieldType::list)) return;
    const QString key = m_path.empty() ? QString() : spoken(m_path.back().key);
    const QString what = isSweep(m_path)                 ? tr("Add a setting to vary…")
                         : field->type == FieldType::map ? tr("Add to %1…").arg(key)
                                                         : tr("Add to %1").arg(key);
    auto* button = new QPushButton(what);
    button->setProperty("link", true);
    button->setObjectName(QStringLiteral("add:") + qs(yaml_path_text(m_path)));
    connect(button, &QPushButton::clicked, this, &FormGroup::add);
    m_bodyLayout->addWidget(button, 0, Qt::AlignLeft);
}

/// The least that a new member says: a method where it needs one.
std::string FormGroup::newItem() const {
    const auto* guide = m_context.document.guide();
    if (isSweep(m_path)) return "[]";
    if (!guide || m_path.empty()) return "{}";
    const bool variants = m_path.front().key == "variants", analyses = m_path.front().key == "analyses";
    if (!variants && !analyses) return m_path.back().key == "tasks" ? "{type: retrieval}" : "{source: debian}";
    const auto names = guide->catalogue().names(variants ? ExtensionKind::variant : ExtensionKind::analysis);
    return names.empty() ? "{}" : "{method: " + yaml_text(names.front()) + "}";
}

void FormGroup::add() {
    const auto field = m_context.field(m_path);
    if (!field) return;
    if (field->type == FieldType::list) {
        m_context.document.append(m_path, newItem());
        return;
    }
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("nameDialog"));
    dialog->setWindowTitle(tr("Add to %1").arg(spoken(m_path.back().key)));
    dialog->setLabelText(isSweep(m_path) ? tr("Setting to vary") : tr("Name"));
    if (isSweep(m_path)) {
        const std::string nothing = "sweep:\n  ";
        QStringList keys;
        for (const Completion& one : completeAt(nothing, nothing.size(), *m_context.document.guide(), m_context.document.tree()).items)
            keys << qs(one.text).section(QLatin1Char(':'), 0, 0);
        dialog->setComboBoxEditable(true);
        dialog->setComboBoxItems(keys);
    }
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& name) {
        const YamlPath path = deeper(m_path, name.trimmed().toStdString());
        if (m_context.document.has(path))
            Q_EMIT m_context.document.refused(tr("%1 is there already; choose another name.").arg(qs(yaml_path_text(path))));
        else if (!name.trimmed().isEmpty())
            m_context.document.set(path, newItem());
    });
    dialog->open();
}

void FormGroup::rename() {
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("nameDialog"));
    dialog->setWindowTitle(tr("Rename"));
    dialog->setLabelText(tr("Name"));
    dialog->setTextValue(qs(m_path.back().key));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& name) {
        if (!name.trimmed().isEmpty() && name.trimmed() != qs(m_path.back().key))
            m_context.document.rename(m_path, name.trimmed().toStdString());
    });
    dialog->open();
}

void FormGroup::remove() { m_context.document.remove(m_path); }

/// What a closed group holds, in a few words.
QString FormGroup::summary() const {
    const YamlNode* node = m_context.node(m_path);
    const auto field = m_context.field(m_path);
    if (!node || !field) return field && field->type == FieldType::section ? tr("defaults") : QString();
    QStringList words;
    if (node->kind == YamlNode::Kind::sequence)
        for (std::size_t i = 0; i < node->items.size(); ++i) words << itemTitle(&node->items[i], i);
    for (const auto& entry : node->entries) {
        const bool named = field->type == FieldType::map;
        if (named)
            words << qs(entry.key);
        else if (entry.value.kind == YamlNode::Kind::scalar)
            words << (entry.key == "method" || entry.key == "source" || entry.key == "type" || entry.key == "view"
                          ? qs(entry.value.text)
                          : spoken(entry.key) + QLatin1Char(' ') + qs(entry.value.text));
    }
    return words.join(QStringLiteral(" · "));
}

void FormGroup::showHeader() {
    m_header->setIcon(icon(m_open ? QStringLiteral("arrow-down") : QStringLiteral("arrow-right")));
    if (m_path.size() > 1 && m_path.back().is_item) setTitle(itemTitle(m_context.node(m_path), m_path.back().index));
    const Problem* problem = m_context.problemAt(m_path, !m_open);
    auto* summaryLabel = static_cast<ElidedLabel*>(m_summary);
    const QString role = problem ? QStringLiteral("error") : QStringLiteral("secondary");
    if (summaryLabel->property("role").toString() != role) {
        summaryLabel->setProperty("role", role);
        summaryLabel->style()->unpolish(summaryLabel);
        summaryLabel->style()->polish(summaryLabel);
    }
    summaryLabel->setFullText(problem ? QStringLiteral("⚠ ") + qs(problem->message) : m_open ? QString() : summary());
}

bool FormGroup::filter(const QString& text) {
    if (text.isEmpty()) {
        for (FieldRow* row : m_rows) row->show();
        for (FormGroup* group : m_groups) group->filter(text);
        show();
        return true;
    }
    // What could match decides whether the body is made at all.
    if (!m_open) setOpen(true);
    bool any = m_header->accessibleName().contains(text, Qt::CaseInsensitive);
    const bool all = any;
    for (FieldRow* row : m_rows) {
        const bool match = all || row->matches(text);
        row->setVisible(match);
        any = any || match;
    }
    for (FormGroup* group : m_groups) any = group->filter(text) || any;
    setVisible(any);
    return any;
}

QWidget* FormGroup::reveal(const YamlPath& path) {
    if (!isBelow(path, m_path)) return nullptr;
    if (!m_open) setOpen(true);
    for (FormGroup* group : m_groups)
        if (QWidget* found = group->reveal(path)) return found;
    for (FieldRow* row : m_rows)
        if (isBelow(path, row->path())) return row->control();
    return m_header;
}

}  // namespace faceter::desktop
