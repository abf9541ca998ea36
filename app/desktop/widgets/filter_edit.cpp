#include "widgets/filter_edit.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QStringListModel>
#include <QStyle>
#include <QTimer>
#include <QVBoxLayout>

#include "project/runs_snapshot.h"
#include "theme/theme.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

constexpr int narrowest = 200;
constexpr int pause_ms = 250;  // a person who types on is not told about half an expression

/// Characters of `text` that hold its first `bytes` bytes.
qsizetype charactersIn(const std::string& text, std::size_t bytes) { return qs(text.substr(0, bytes)).size(); }

}  // namespace

FilterEdit::FilterEdit(const QString& name, QWidget* parent)
    : QWidget(parent),
      m_edit(new QLineEdit),
      m_error(plainLabel()),
      m_completer(new QCompleter(this)),
      m_words(new QStringListModel(this)),
      m_pause(new QTimer(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(4);
    QFont font = QFontDatabase::systemFont(QFontDatabase::FixedFont);
    font.setPixelSize(Theme::tableFont().pixelSize());
    m_edit->setFont(font);
    setMinimumWidth(narrowest);
    m_edit->setObjectName(name);
    m_edit->setAccessibleName(tr("Filter expression"));
    m_edit->setPlaceholderText(tr("filter, as in  variant = mote and retrieval > 60"));
    m_edit->setToolTip(
        tr("Names of columns, task types, data sets and settings; = != < <= > >= ~ (contains) in (a, b); and, or, not. Ctrl+Space "
           "completes."));
    m_edit->setClearButtonEnabled(true);
    m_edit->installEventFilter(this);
    m_error->setObjectName(name + QStringLiteral("Error"));
    m_error->setProperty("role", QStringLiteral("error"));
    m_error->setWordWrap(true);
    m_error->hide();
    layout->addWidget(m_edit);
    layout->addWidget(m_error);
    m_completer->setModel(m_words);
    m_completer->setCompletionMode(QCompleter::UnfilteredPopupCompletion);
    m_completer->setWidget(m_edit);
    m_completer->popup()->setObjectName(name + QStringLiteral("Words"));
    m_pause->setSingleShot(true);
    m_pause->setInterval(pause_ms);
    connect(m_completer, qOverload<const QString&>(&QCompleter::activated), this, &FilterEdit::insertWord);
    connect(m_pause, &QTimer::timeout, this, &FilterEdit::apply);
    connect(m_edit, &QLineEdit::textEdited, this, &FilterEdit::typed);
    connect(m_edit, &QLineEdit::textChanged, this, [this] { m_pause->start(); });  // the clear button edits without textEdited
    connect(m_edit, &QLineEdit::returnPressed, this, &FilterEdit::apply);
}

void FilterEdit::setText(const QString& text) {
    m_edit->setText(text);
    apply();
}

void FilterEdit::setNames(std::shared_ptr<const FilterNames> names) {
    m_names = std::move(names);
    if (m_names && !m_edit->text().isEmpty()) {
        m_read.clear();  // a name may have become known
        apply();
    }
}

QString FilterEdit::error() const { return m_error->isHidden() ? QString() : m_error->text(); }

void FilterEdit::apply() {
    m_pause->stop();
    const QString text = m_edit->text();
    if (!m_names && !text.isEmpty()) return;  // setNames() will read it
    if (text == m_read && error().isEmpty()) return;
    try {
        m_filter = text.isEmpty() ? Filter() : Filter::parse(text.toStdString(), *m_names);
        m_read = text;
        setError({});
        Q_EMIT filterChanged();
    } catch (const std::exception& error) {
        setError(QString::fromUtf8(error.what()));
    }
}

void FilterEdit::setError(const QString& message) {
    // The line and the caret under it repeat what stands in the field.
    m_error->setText(message.section(QLatin1Char('\n'), 0, 0));
    m_error->setVisible(!message.isEmpty());
    if (m_edit->property("invalid").toBool() == !message.isEmpty()) return;
    m_edit->setProperty("invalid", !message.isEmpty());
    m_edit->style()->unpolish(m_edit);
    m_edit->style()->polish(m_edit);
}

void FilterEdit::typed() {
    Q_EMIT textEdited();
    complete(false);
}

bool FilterEdit::isSettled() const { return !m_pause->isActive() && (m_edit->text() == m_read || !error().isEmpty()); }

void FilterEdit::complete(bool asked) {
    if (!m_names) return;
    const std::string text = m_edit->text().toStdString();
    const auto cursor = m_edit->text().left(m_edit->cursorPosition()).toUtf8().size();
    m_completions = completions(text, static_cast<std::size_t>(cursor), *m_names);
    QStringList words;
    for (const std::string& word : m_completions.words) words << qs(word);
    const QString typed = qs(text.substr(m_completions.begin, m_completions.end - m_completions.begin));
    const bool done = words.size() == 1 && words.first().compare(typed, Qt::CaseInsensitive) == 0;
    if (words.isEmpty() || (!asked && (typed.isEmpty() || done))) {
        m_completer->popup()->hide();
        return;
    }
    m_words->setStringList(words);
    QRect place = m_edit->inputMethodQuery(Qt::ImCursorRectangle).toRect();
    place.setWidth(240);
    m_completer->complete(place);
}

void FilterEdit::insertWord(const QString& word) {
    const std::string text = m_edit->text().toStdString();
    const qsizetype begin = charactersIn(text, m_completions.begin), end = charactersIn(text, m_completions.end);
    m_edit->setText(m_edit->text().left(begin) + word + QLatin1Char(' ') + m_edit->text().mid(end).trimmed());
    m_edit->setCursorPosition(static_cast<int>(begin + word.size()) + 1);
    Q_EMIT textEdited();
}

bool FilterEdit::eventFilter(QObject* watched, QEvent* event) {
    if (watched == m_edit && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const bool asks = (key->key() == Qt::Key_Space && key->modifiers() == Qt::ControlModifier) ||
                          (key->key() == Qt::Key_Down && !m_completer->popup()->isVisible());
        if (asks) {
            complete(true);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

}  // namespace faceter::desktop
