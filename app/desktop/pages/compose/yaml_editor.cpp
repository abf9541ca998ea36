#include "pages/compose/yaml_editor.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QFontDatabase>
#include <QHelpEvent>
#include <QPainter>
#include <QScrollBar>
#include <QStandardItemModel>
#include <QTextBlock>
#include <QToolTip>

#include "pages/compose/completion.h"
#include "pages/compose/yaml_highlighter.h"
#include "project/runs_snapshot.h"
#include "theme/theme.h"

namespace faceter::desktop {
namespace {

constexpr int insert_role = Qt::UserRole + 1;
constexpr int most_completion_bytes = 256 * 1024;

class Gutter : public QWidget {
  public:
    explicit Gutter(YamlEditor* editor) : QWidget(editor), m_editor(editor) { setAccessibleName(YamlEditor::tr("Line numbers")); }
    QSize sizeHint() const override { return {m_editor->gutterWidth(), 0}; }

  protected:
    void paintEvent(QPaintEvent* event) override { m_editor->paintGutter(event); }

  private:
    YamlEditor* m_editor;
};

}  // namespace

YamlEditor::YamlEditor(ExperimentDocument& document, QWidget* parent)
    : QPlainTextEdit(parent),
      m_document(document),
      m_gutter(new Gutter(this)),
      m_completer(new QCompleter(this)),
      m_completions(new QStandardItemModel(this)) {
    setObjectName(QStringLiteral("yamlEditor"));
    setAccessibleName(tr("Experiment as YAML"));
    setDocument(&document.text());
    setLineWrapMode(QPlainTextEdit::NoWrap);
    m_highlighter = new YamlHighlighter(&document.text());
    m_completer->setModel(m_completions);
    m_completer->setWidget(this);
    m_completer->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
    m_completer->popup()->setObjectName(QStringLiteral("completions"));
    connect(m_completer, qOverload<const QModelIndex&>(&QCompleter::activated), this,
            [this](const QModelIndex& index) { insertCompletion(index.data(insert_role).toString()); });
    connect(this, &QPlainTextEdit::blockCountChanged, this, [this] { setViewportMargins(gutterWidth(), 0, 0, 0); });
    connect(this, &QPlainTextEdit::updateRequest, this, [this](const QRect& rect, int dy) {
        if (dy)
            m_gutter->scroll(0, dy);
        else
            m_gutter->update(0, rect.y(), m_gutter->width(), rect.height());
    });
    connect(&m_document, &ExperimentDocument::checked, this, &YamlEditor::showProblems);
    connect(&Theme::instance(), &Theme::changed, this, &YamlEditor::dress);
    dress();
}

void YamlEditor::dress() {
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setPixelSize(Theme::tableFont().pixelSize());
    setFont(font);
    m_gutter->setFont(font);
    setStyleSheet(QStringLiteral("QPlainTextEdit { font-family: '%1'; font-size: %2px; border-radius: 0px; padding: 0px; }")
                      .arg(font.family(), QString::number(font.pixelSize())));
    setTabStopDistance(2 * fontMetrics().horizontalAdvance(QLatin1Char(' ')));
    setViewportMargins(gutterWidth(), 0, 0, 0);
    update();
}

int YamlEditor::gutterWidth() const {
    const int digits = std::max(2, static_cast<int>(QString::number(std::max(1, blockCount())).size()));
    return 14 + digits * fontMetrics().horizontalAdvance(QLatin1Char('9'));
}

void YamlEditor::resizeEvent(QResizeEvent* event) {
    QPlainTextEdit::resizeEvent(event);
    const QRect area = contentsRect();
    m_gutter->setGeometry(area.left(), area.top(), gutterWidth(), area.height());
}

void YamlEditor::paintGutter(QPaintEvent* event) {
    QPainter painter(m_gutter);
    const ThemeColours& colours = Theme::instance().colours();
    painter.fillRect(event->rect(), colours.window);
    painter.setFont(font());
    const int current = textCursor().blockNumber();
    QTextBlock block = firstVisibleBlock();
    double top = blockBoundingGeometry(block).translated(contentOffset()).top();
    for (; block.isValid() && top <= event->rect().bottom(); block = block.next()) {
        const double height = blockBoundingRect(block).height();
        bool wrong = false;
        for (const Problem& problem : m_document.report().problems)
            wrong = wrong || static_cast<int>(problem.line) == block.blockNumber() + 1;
        if (wrong) painter.fillRect(QRectF(0, top + 1, 3, height - 2), colours.error);
        painter.setPen(wrong ? colours.error : block.blockNumber() == current ? colours.text : colours.secondary);
        painter.drawText(QRectF(0, top, m_gutter->width() - 7, height), Qt::AlignRight | Qt::AlignVCenter,
                         QString::number(block.blockNumber() + 1));
        top += height;
    }
}

void YamlEditor::showProblems() {
    m_highlighter->setProblems(m_document.report().problems);
    m_gutter->update();
}

void YamlEditor::goTo(std::size_t line, std::size_t column) {
    const QTextBlock block = document()->findBlockByNumber(std::max(0, static_cast<int>(line) - 1));
    if (!block.isValid()) return;
    QTextCursor cursor(block);
    const QByteArray bytes = block.text().toUtf8();
    const auto characters = QString::fromUtf8(bytes.left(std::max<qsizetype>(0, static_cast<qsizetype>(column) - 1))).size();
    cursor.setPosition(block.position() + static_cast<int>(std::min<qsizetype>(characters, block.length() - 1)));
    setTextCursor(cursor);
    centerCursor();
    setFocus(Qt::OtherFocusReason);
}

std::size_t YamlEditor::byteAt(int position) const { return m_document.plainText().left(position).toStdString().size(); }

void YamlEditor::complete(bool asked) {
    const QString text = m_document.plainText();
    if (!m_document.guide() || text.size() > most_completion_bytes) return;
    const int position = textCursor().position();
    const std::string bytes = text.toStdString();
    const Completions found = completeAt(bytes, byteAt(position), *m_document.guide(), m_document.tree(), m_document.report().prompts);
    const std::string prefix = bytes.substr(found.begin, byteAt(position) - found.begin);
    const bool done = found.items.size() == 1 && found.items.front().text == prefix;
    if (found.items.empty() || done || (!asked && prefix.empty())) return m_completer->popup()->hide();
    m_completions->clear();
    for (const Completion& one : found.items) {
        auto* item = new QStandardItem(qs(one.text).trimmed() + (one.detail.empty() ? QString() : QStringLiteral("   ") + qs(one.detail)));
        item->setData(qs(one.text), insert_role);
        m_completions->appendRow(item);
    }
    m_completionBegin = static_cast<int>(QString::fromUtf8(bytes.data(), static_cast<qsizetype>(found.begin)).size());
    QRect place = cursorRect();
    place.translate(gutterWidth(), 0);
    place.setWidth(std::clamp(m_completer->popup()->sizeHintForColumn(0) + 24, 160, std::max(200, width() - 40)));
    m_completer->complete(place);
    m_completer->popup()->setCurrentIndex(m_completer->completionModel()->index(0, 0));
}

/// What a key does to the open list: takes what is chosen, or closes it.
bool YamlEditor::finishCompletion(int key) {
    const bool takes = key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Tab;
    if (!takes && key != Qt::Key_Escape) return false;
    const QModelIndex chosen = m_completer->popup()->currentIndex();
    m_completer->popup()->hide();
    if (takes && chosen.isValid()) insertCompletion(chosen.data(insert_role).toString());
    return true;
}

void YamlEditor::insertCompletion(const QString& text) {
    QTextCursor cursor = textCursor();
    const int end = cursor.position();
    cursor.setPosition(m_completionBegin);
    cursor.setPosition(end, QTextCursor::KeepAnchor);
    cursor.insertText(text);
    setTextCursor(cursor);
}

/// A new line begins where the last one does, deeper behind "key:".
void YamlEditor::breakLine() {
    const QString line = textCursor().block().text().left(textCursor().positionInBlock());
    int indent = 0;
    while (indent < line.size() && line[indent] == QLatin1Char(' ')) ++indent;
    if (line.trimmed().endsWith(QLatin1Char(':'))) indent += 2;
    insertPlainText(QLatin1Char('\n') + QString(indent, QLatin1Char(' ')));
    ensureCursorVisible();
}

/// Backspace among the spaces that begin a line goes back a level.
bool YamlEditor::takeIndent() {
    QTextCursor cursor = textCursor();
    const QString before = cursor.block().text().left(cursor.positionInBlock());
    if (cursor.hasSelection() || before.size() < 2 || !before.trimmed().isEmpty()) return false;
    cursor.movePosition(QTextCursor::Left, QTextCursor::KeepAnchor, before.size() % 2 == 0 ? 2 : 1);
    cursor.removeSelectedText();
    return true;
}

void YamlEditor::indent(int direction) {
    QTextCursor cursor = textCursor();
    if (direction > 0 && !cursor.hasSelection()) return insertPlainText(QStringLiteral("  "));
    QTextBlock block = document()->findBlock(cursor.selectionStart());
    const int end = cursor.selectionEnd();
    cursor.beginEditBlock();
    for (; block.isValid() && block.position() <= end; block = block.next()) {
        QTextCursor at(block);
        if (direction > 0)
            at.insertText(QStringLiteral("  "));
        else
            for (int i = 0; i < 2 && block.text().startsWith(QLatin1Char(' ')); ++i) at.deleteChar();
    }
    cursor.endEditBlock();
}

void YamlEditor::keyPressEvent(QKeyEvent* event) {
    const bool open = m_completer->popup()->isVisible();
    if (open && finishCompletion(event->key())) return;
    if (event->key() == Qt::Key_Space && event->modifiers() == Qt::ControlModifier) return complete(true);
    if (event->key() == Qt::Key_Backspace && event->modifiers() == Qt::NoModifier && takeIndent()) return;
    if (event->key() == Qt::Key_Tab || event->key() == Qt::Key_Backtab) {
        const bool forward = event->key() == Qt::Key_Tab;
        if (!event->modifiers().testFlag(Qt::ControlModifier)) return indent(forward ? 1 : -1);
        QWidget::focusNextPrevChild(forward);  // out of the text, for those without a mouse
        return;
    }
    // With Shift Qt would write a line separator, which is no line break to YAML.
    const bool breaks = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
    if (breaks && !(event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier))) return breakLine();
    QPlainTextEdit::keyPressEvent(event);
    const bool typed =
        !event->text().isEmpty() && event->text().front().isPrint() && !(event->modifiers() & (Qt::ControlModifier | Qt::AltModifier));
    if (typed || (open && event->key() == Qt::Key_Backspace))
        complete(false);
    else if (open)
        m_completer->popup()->hide();
}

/// What is wrong at a place, else what the setting there is.
QString YamlEditor::hintAt(const QPoint& position) const {
    const QTextCursor cursor = cursorForPosition(position);
    const std::size_t line = static_cast<std::size_t>(cursor.blockNumber()) + 1;
    for (const Problem& problem : m_document.report().problems)
        if (problem.line == line) return qs(problem.message);
    if (!m_document.guide() || !m_document.tree() || !m_document.isChecked()) return {};
    const auto column = static_cast<std::size_t>(cursor.block().text().left(cursor.positionInBlock()).toUtf8().size()) + 1;
    const auto field = m_document.guide()->at(yaml_path_at(*m_document.tree(), line, column), SchemaGuide::methodsIn(m_document.tree()));
    return field ? qs(describeField(*field)) : QString();
}

bool YamlEditor::viewportEvent(QEvent* event) {
    if (event->type() == QEvent::ToolTip) {
        auto* help = static_cast<QHelpEvent*>(event);
        const QString hint = hintAt(help->pos());
        QToolTip::showText(help->globalPos(), hint.toHtmlEscaped().replace(QLatin1Char('\n'), QStringLiteral("<br>")), this);
        return true;
    }
    return QPlainTextEdit::viewportEvent(event);
}

}  // namespace faceter::desktop
