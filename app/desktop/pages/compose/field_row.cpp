#include "pages/compose/field_row.h"

#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QStyle>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "pages/compose/completion.h"
#include "theme/icons.h"
#include "widgets/as_written.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

constexpr int label_width = 104;

QString htmlOf(const std::string& text) {
    return QStringLiteral("<p style='white-space:pre-wrap'>") + qs(text).toHtmlEscaped() + QStringLiteral("</p>");
}

QString spoken(const std::string& key) { return qs(key).replace(QLatin1Char('_'), QLatin1Char(' ')); }

bool isNumber(const Field& field) { return field.type == FieldType::integer || field.type == FieldType::real; }

bool isStructure(const YamlNode& node) { return node.kind == YamlNode::Kind::sequence || node.kind == YamlNode::Kind::map; }

/// An item of "1, 2, 3": as it stands in the file where it is one item there, too.
QString shownItem(const YamlNode& item) {
    const bool bare = item.kind == YamlNode::Kind::scalar && !item.quoted && !item.text.empty() &&
                      item.text.find_first_of(",[]{}:#") == std::string::npos;
    return qs(bare ? item.text : yaml_inline(yaml_to_json(item)));
}

/// What a control shows of a value: a list as "1, 2, 3", whole where it may be anything or its items are no scalars.
QString shownText(const YamlNode& node, FieldType type) {
    if (node.kind == YamlNode::Kind::null) return QStringLiteral("null");
    if (node.kind == YamlNode::Kind::scalar) return qs(node.text);
    const bool nested = std::any_of(node.items.begin(), node.items.end(), isStructure);
    if (node.kind == YamlNode::Kind::map || type == FieldType::any || nested) return qs(yaml_inline(yaml_to_json(node)));
    QStringList parts;
    for (const YamlNode& item : node.items) parts << shownItem(item);
    return parts.join(QStringLiteral(", "));
}

}  // namespace

FieldRow::FieldRow(FormContext& context, YamlPath path, Field field, QWidget* parent)
    : QWidget(parent), m_context(context), m_path(std::move(path)), m_field(std::move(field)), m_problem(plainLabel()) {
    setObjectName(QStringLiteral("row:") + qs(yaml_path_text(m_path)));
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(2);
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    outer->addLayout(row);
    const QString name = m_path.back().is_item ? QString::number(m_path.back().index + 1) : spoken(m_path.back().key);
    auto* label = new ElidedLabel(name);
    label->setFixedWidth(label_width);
    row->addWidget(label);
    if (m_field.type == FieldType::choice || m_field.type == FieldType::boolean)
        buildChoice();
    else
        buildLine();
    control()->setObjectName(fieldObjectName(m_path));
    control()->setAccessibleName(name);
    control()->setAccessibleDescription(qs(m_field.description));
    control()->installEventFilter(this);
    control()->setMinimumWidth(60);
    row->addWidget(control(), 1);
    if (m_field.type == FieldType::path) row->addWidget(pathButton());
    if (m_line && takesPrompt(m_path)) row->addWidget(m_prompts = promptButton());
    if (!m_field.unit.empty()) row->addWidget(secondaryLabel(qs(m_field.unit)));
    m_problem->setProperty("role", QStringLiteral("error"));
    m_problem->setObjectName(QStringLiteral("problem:") + qs(yaml_path_text(m_path)));
    m_problem->setWordWrap(true);
    m_problem->setContentsMargins(label_width + 8, 0, 0, 2);
    m_problem->hide();
    outer->addWidget(m_problem);
    setToolTip(htmlOf(describeField(m_field)));
    refresh();
}

QWidget* FieldRow::control() const { return m_line ? static_cast<QWidget*>(m_line) : m_combo; }

void FieldRow::buildChoice() {
    m_combo = new QComboBox;
    m_combo->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_combo->setMinimumContentsLength(6);
    m_combo->addItem(m_field.required ? tr("choose…")
                                      : qs(defaultText(m_field)) + (defaultText(m_field) == "not set" ? QString() : tr(" (default)")));
    std::vector<std::string> choices = m_field.choices;
    if (m_field.type == FieldType::boolean) choices = {"true", "false"};
    for (const std::string& one : choices) m_combo->addItem(qs(one), qs(one));
    connect(m_combo, &QComboBox::activated, this, &FieldRow::commitChoice);
}

void FieldRow::buildLine() {
    m_line = new QLineEdit;
    m_line->setPlaceholderText(qs(defaultText(m_field)));
    connect(m_line, &QLineEdit::textEdited, this, &FieldRow::commitText);
    connect(m_line, &QLineEdit::editingFinished, this, [this] { m_joining = false; });
}

QToolButton* FieldRow::pathButton() {
    auto* browse = new QToolButton;
    browse->setText(QStringLiteral("…"));
    browse->setAccessibleName(tr("Choose a file or folder"));
    browse->setObjectName(QStringLiteral("browse:") + qs(yaml_path_text(m_path)));
    browse->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(browse);  // no dialog of Qt offers both
    menu->addAction(tr("A file…"), this, [this] { choosePath(false); })->setObjectName(QStringLiteral("chooseFile"));
    menu->addAction(tr("A folder…"), this, [this] { choosePath(true); })->setObjectName(QStringLiteral("chooseFolder"));
    browse->setMenu(menu);
    return browse;
}

/// What the start model's release says stands in front of texts, to choose from.
QToolButton* FieldRow::promptButton() {
    auto* button = new QToolButton;
    button->setText(QStringLiteral("…"));
    button->setToolTip(tr("Prompts of the start model"));
    button->setAccessibleName(tr("Choose a prompt of the start model"));
    button->setObjectName(QStringLiteral("prompts:") + qs(yaml_path_text(m_path)));
    button->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(button);
    connect(menu, &QMenu::aboutToShow, this, [this, menu] {
        menu->clear();
        for (const auto& [name, text] : m_context.document.report().prompts) {
            const QString shown = asWritten(qs(name) + QStringLiteral(":  ") + qs(text).simplified());
            menu->addAction(shown, this, [this, value = yaml_text(text, "\"")] { m_context.document.set(m_path, value); });
        }
    });
    button->setMenu(menu);
    return button;
}

/// A path below the experiment's folder is written relative to it, so that the folder can be moved.
void FieldRow::choosePath(bool folder) {
    const QString file = m_context.document.file();
    const QString base = file.isEmpty() ? QDir::homePath() : QFileInfo(file).absolutePath();
    auto* dialog =
        new QFileDialog(this, folder ? tr("Choose a folder") : tr("Choose a file"), QFileInfo(QDir(base), m_line->text()).absolutePath());
    dialog->setObjectName(QStringLiteral("pathDialog"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(folder ? QFileDialog::Directory : QFileDialog::ExistingFile);
    dialog->setOption(QFileDialog::ShowDirsOnly, folder);
    connect(dialog, &QFileDialog::fileSelected, this, [this, base, saved = !file.isEmpty()](const QString& chosen) {
        const QString relative = QDir(base).relativeFilePath(chosen);
        m_line->setText(saved && !relative.startsWith(QStringLiteral("..")) ? relative : chosen);
        commitText(m_line->text());
    });
    dialog->open();
}

/// YAML for what was typed: numbers and lists as they stand, text quoted where it must be.
std::string FieldRow::valueFor(const QString& text) const {
    const std::string typed = text.toStdString();
    const YamlNode* before = m_context.node(m_path);
    const bool list = m_field.type == FieldType::list || m_field.type == FieldType::any || m_field.type == FieldType::map;
    const bool bracketed = text.trimmed().startsWith(QLatin1Char('[')) || text.trimmed().startsWith(QLatin1Char('{'));
    if (list) try {
            const std::string source = bracketed || m_field.type == FieldType::any ? typed : "[" + typed + "]";
            return yaml_inline(yaml_to_json(parse_yaml(source, "value")));
        } catch (const std::exception&) {
            return yaml_text(typed);
        }
    if (isNumber(m_field) || (m_field.nullable && text.trimmed() == QStringLiteral("null"))) {
        const QByteArray trimmed = text.trimmed().toUtf8();
        YamlNode scalar;
        scalar.kind = YamlNode::Kind::scalar;
        scalar.text = trimmed.toStdString();
        if (!scalar_to_json(scalar).is_string()) return scalar.text;
    }
    return yaml_text(typed, before && before->quoted ? "\"" : "");
}

/// Whether what is typed means the value, spelled as it may be.
bool FieldRow::says(const YamlNode& value) const {
    try {
        return yaml_to_json(parse_yaml(valueFor(m_line->text()), "value")) == yaml_to_json(value);
    } catch (const std::exception&) {
        return false;
    }
}

void FieldRow::commitText(const QString& text) {
    if (m_refreshing) return;
    if (text.trimmed().isEmpty()) {
        m_joining = false;
        if (m_context.document.has(m_path)) m_context.document.remove(m_path);
        return;
    }
    // What is typed in one go is undone in one go.
    m_joining = m_context.document.set(m_path, valueFor(text), m_joining);
}

void FieldRow::commitChoice() {
    const QString value = m_combo->currentData().toString();
    if (value.isEmpty() && m_context.document.has(m_path))
        m_context.document.remove(m_path);
    else if (!value.isEmpty())
        m_context.document.set(m_path, m_field.type == FieldType::boolean ? value.toStdString() : yaml_text(value.toStdString()));
    Q_EMIT chosen();
}

void FieldRow::refresh() {
    m_refreshing = true;
    const YamlNode* node = m_context.node(m_path);
    const QString text = node ? shownText(*node, m_field.type) : QString();
    if (m_line) showLine(node, text);
    if (m_combo) {
        int index = node ? m_combo->findData(text) : 0;
        if (index < 0) {  // a value that is none: shown as it is, with its problem below
            m_combo->addItem(text, text);
            index = m_combo->count() - 1;
        }
        m_combo->setCurrentIndex(index);
    }
    if (m_prompts) m_prompts->setVisible(!m_context.document.report().prompts.empty());
    showProblem();
    m_refreshing = false;
}

/// What is being typed stays as it is typed. Parts with settings of their own are no matter for a line.
void FieldRow::showLine(const YamlNode* node, const QString& text) {
    const bool typed = node && m_joining && m_line->hasFocus() && says(*node);
    if (!typed && m_line->text().trimmed() != text.trimmed()) {
        m_line->setText(text);
        if (!m_line->hasFocus()) m_line->setCursorPosition(0);
    }
    const bool whole = node && m_field.type == FieldType::any && isStructure(*node) && !m_joining;
    m_line->setReadOnly(whole);
    m_line->setToolTip(whole ? tr("These parts are changed in the text.") : QString());
}

void FieldRow::showProblem() {
    const Problem* problem = m_context.problemAt(m_path, true);
    const bool was = control()->property("invalid").toBool();
    m_problem->setText(problem ? QStringLiteral("⚠ ") + qs(problem->message) : QString());
    m_problem->setVisible(problem != nullptr);
    if (was == (problem != nullptr)) return;
    control()->setProperty("invalid", problem != nullptr);
    control()->style()->unpolish(control());
    control()->style()->polish(control());
}

bool FieldRow::matches(const QString& filter) const {
    return spoken(m_field.key).contains(filter, Qt::CaseInsensitive) || qs(m_field.key).contains(filter, Qt::CaseInsensitive) ||
           qs(m_field.description).contains(filter, Qt::CaseInsensitive);
}

bool FieldRow::eventFilter(QObject* watched, QEvent* event) {
    // Scrolling the form must not change what the pointer passes.
    if (event->type() == QEvent::Wheel && m_combo && !m_combo->hasFocus()) {
        event->ignore();
        return true;
    }
    if (event->type() != QEvent::KeyPress && event->type() != QEvent::ShortcutOverride) return QWidget::eventFilter(watched, event);
    auto* key = static_cast<QKeyEvent*>(event);
    const bool undo = key->matches(QKeySequence::Undo), redo = key->matches(QKeySequence::Redo);
    if (!undo && !redo) return QWidget::eventFilter(watched, event);
    event->accept();
    if (event->type() == QEvent::ShortcutOverride) return true;
    m_joining = false;
    if (undo)
        m_context.document.text().undo();
    else
        m_context.document.text().redo();
    return true;
}

}  // namespace faceter::desktop
