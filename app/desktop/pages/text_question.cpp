#include "pages/text_question.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalBlocker>
#include <QVBoxLayout>
#include <algorithm>

#include "project/runs_snapshot.h"
#include "widgets/labels.h"

namespace faceter::desktop {
namespace {

constexpr int most_characters = 1'000'000;  // a field's own limit is 32,767: more that is pasted would be cut without a word

}  // namespace

TextQuestion::TextQuestion(const Texts& texts, QWidget* parent)
    : QWidget(parent),
      m_query(new WorkerQuery(this)),
      m_text(new QLineEdit),
      m_task(new QComboBox),
      m_ask(new QPushButton(texts.ask)),
      m_error(new ErrorBar),
      m_status(plainLabel()),
      m_method(texts.method),
      m_askText(texts.ask),
      m_hint(texts.hint) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    layout->addWidget(makeBar(texts));
    layout->addWidget(m_error);
    m_status->setObjectName(texts.id + QStringLiteral("Status"));
    m_status->setWordWrap(true);
    layout->addWidget(m_status);
    m_body = new QVBoxLayout;
    layout->addLayout(m_body);
    layout->addStretch(1);
    connectQuery();
}

QWidget* TextQuestion::makeBar(const Texts& texts) {
    auto* bar = new QWidget;
    m_bar = new QHBoxLayout(bar);
    m_bar->setContentsMargins(0, 0, 0, 0);
    m_bar->setSpacing(8);
    m_text->setObjectName(texts.id);
    m_text->setAccessibleName(texts.textName);
    m_text->setPlaceholderText(texts.placeholder);
    m_text->setClearButtonEnabled(true);
    m_text->setMaxLength(most_characters);
    m_task->setObjectName(texts.id + QStringLiteral("Task"));
    m_task->setAccessibleName(texts.taskName);
    m_task->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    m_ask->setObjectName(texts.id + QStringLiteral("Ask"));
    m_bar->addWidget(m_text, 1);
    m_bar->addWidget(m_task);
    m_bar->addWidget(m_ask);
    connect(m_text, &QLineEdit::returnPressed, this, &TextQuestion::ask);
    connect(m_ask, &QPushButton::clicked, this, &TextQuestion::ask);
    connect(m_task, &QComboBox::currentIndexChanged, this, &TextQuestion::askAgain);
    return bar;
}

void TextQuestion::connectQuery() {
    m_query->setTitle(m_text->accessibleName());
    connect(m_query, &WorkerQuery::answered, this, [this](const WorkerAnswer& answer) {
        try {
            take(*answer);
        } catch (const std::exception& error) {
            showError(QString::fromUtf8(error.what()));
        }
    });
    connect(m_query, &WorkerQuery::failed, this, &TextQuestion::showError);
    connect(m_query, &WorkerQuery::cancelled, this, [this] {  // in Activity
        hideAnswer();
        setStatus(tr("cancelled"));
    });
    connect(m_query, &WorkerQuery::progressed, this, [this](const WorkerProgress& progress) { setStatus(progress.what); });
    connect(m_query, &WorkerQuery::busyChanged, this, [this](bool busy) { m_ask->setText(busy ? tr("Asking…") : m_askText); });
}

/// What was answered before is of another text.
void TextQuestion::showError(const QString& message) {
    hideAnswer();
    setStatus(m_hint);
    m_error->setMessage(message);
}

void TextQuestion::addToBar(QWidget* widget) { m_bar->insertWidget(m_bar->count() - 1, widget); }
void TextQuestion::add(QWidget* widget) { m_body->addWidget(widget); }
void TextQuestion::setStatus(const QString& text) { m_status->setText(text); }
QString TextQuestion::text() const { return m_text->text(); }
void TextQuestion::setText(const QString& text) { m_text->setText(text); }

void TextQuestion::setModel(const QString& folder, const std::vector<std::string>& tasks) {
    {
        const QString task = m_task->currentText();
        const QSignalBlocker quiet(m_task);
        m_task->clear();
        for (const std::string& one : tasks) m_task->addItem(qs(one));
        m_task->setCurrentIndex(std::max(m_task->count() > 0 ? 0 : -1, m_task->findText(task)));
    }
    m_ask->setEnabled(!folder.isEmpty());
    if (folder == m_folder && !folder.isEmpty()) return;
    m_query->stop();
    m_folder = folder;
    m_error->setMessage({});
    hideAnswer();
    setStatus(folder.isEmpty() ? tr("The run has no model to ask: it is not done, or was taken in as results alone.") : m_hint);
    askAgain();
}

void TextQuestion::askAgain() {
    if (m_asked) ask();
}

void TextQuestion::ask() {
    if (m_folder.isEmpty()) return;
    m_error->setMessage({});
    if (m_text->text().trimmed().isEmpty()) {  // what is shown is of another text
        m_query->stop();
        hideAnswer();
        return setStatus(m_hint);
    }
    m_asked = true;
    m_query->ask(
        m_method,
        {{"model", m_folder.toStdString()}, {"task", m_task->currentText().toStdString()}, {"text", m_text->text().toStdString()}});
}

}  // namespace faceter::desktop
