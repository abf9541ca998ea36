#include "window/log_view.h"

#include <QComboBox>
#include <QFile>
#include <QFontDatabase>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QScrollBar>
#include <QVBoxLayout>

#include "widgets/labels.h"
#include "workspace/workspace.h"

namespace faceter::desktop {
namespace {

constexpr qint64 tail_bytes = 1 << 18;
constexpr int most_lines = 5000;
constexpr int follow_ms = 1000;

struct LogPart {
    QStringList lines;
    qint64 end = 0;
    QList<int> attempts, ranks;
    int attempt = 0;
};

/// What was added from `offset` on (the last part only of a long file), by whole lines.
LogPart readPart(const std::filesystem::path& folder, int attempt, int rank, qint64 offset) {
    const RunDirectory run(folder);
    LogPart part;
    for (const int number : run.attempts()) part.attempts << number;
    part.attempt = attempt > 0 || part.attempts.isEmpty() ? attempt : part.attempts.last();
    part.end = offset;
    if (part.attempt == 0) return part;
    for (int other = 0; other < 1024 && QFile::exists(qs(run.attempt_log(part.attempt, other).string())); ++other) part.ranks << other;
    QFile file(qs(run.attempt_log(part.attempt, rank).string()));
    if (!file.open(QIODevice::ReadOnly)) return part;
    if (file.size() - offset > tail_bytes) offset = file.size() - tail_bytes;
    file.seek(offset);
    QByteArray bytes = file.read(tail_bytes);
    const qsizetype whole = bytes.lastIndexOf('\n') + 1;
    bytes.truncate(whole);
    part.end = offset + whole;
    for (const QByteArray& line : bytes.split('\n'))
        if (!line.isEmpty()) part.lines << QString::fromUtf8(line).section(QLatin1Char('\r'), -1);
    return part;
}

void fillNumbers(QComboBox* box, const QString& word, const QList<int>& numbers) {
    if (box->count() == numbers.size() + (box->itemData(0).toInt() == 0 && word == QStringLiteral("attempt") ? 1 : 0)) return;
    const QSignalBlocker blocker(box);
    const QVariant before = box->currentData();
    box->clear();
    if (word == QStringLiteral("attempt")) box->addItem(QStringLiteral("newest attempt"), 0);
    for (const int number : numbers) box->addItem(QStringLiteral("%1 %2").arg(word).arg(number), number);
    box->setCurrentIndex(std::max(0, box->findData(before)));
}

}  // namespace

LogView::LogView(Workspace& workspace, QWidget* parent)
    : QWidget(parent),
      m_workspace(workspace),
      m_attempt(new QComboBox),
      m_rank(new QComboBox),
      m_level(new QComboBox),
      m_search(new QLineEdit),
      m_text(new QPlainTextEdit) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(8, 4, 8, 4);
    layout->setSpacing(4);
    auto* bar = new QHBoxLayout;
    m_level->addItems({tr("all lines"), tr("warnings and errors"), tr("errors")});
    m_level->setAccessibleName(tr("Level"));
    m_attempt->addItem(tr("newest attempt"), 0);
    m_attempt->setAccessibleName(tr("Attempt"));
    m_rank->addItem(tr("rank 0"), 0);
    m_rank->setAccessibleName(tr("Rank"));
    m_search->setPlaceholderText(tr("lines that contain"));
    m_search->setAccessibleName(tr("Lines that contain"));
    m_search->setClearButtonEnabled(true);
    for (QWidget* widget : std::initializer_list<QWidget*>{m_attempt, m_rank, m_level}) bar->addWidget(widget);
    bar->addWidget(m_search, 1);
    layout->addLayout(bar);
    m_text->setReadOnly(true);
    m_text->setObjectName(QStringLiteral("logText"));
    m_text->setAccessibleName(tr("Log of the selected run"));
    m_text->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    m_text->setMaximumBlockCount(most_lines);
    m_text->setPlaceholderText(tr("The log of the selected run appears here."));
    m_text->setMinimumHeight(24);
    layout->addWidget(m_text, 1);
    connect(&m_workspace, &Workspace::currentRunChanged, this, [this] {
        if (m_workspace.currentRun() != m_run) start();
    });
    for (QComboBox* box : {m_attempt, m_rank}) connect(box, &QComboBox::currentIndexChanged, this, &LogView::start);
    connect(m_level, &QComboBox::currentIndexChanged, this, &LogView::refilter);
    connect(m_search, &QLineEdit::textChanged, this, &LogView::refilter);
    connect(&m_timer, &QTimer::timeout, this, &LogView::follow);
    m_timer.start(follow_ms);
}

void LogView::start() {
    m_run = m_workspace.currentRun();
    m_offset = 0;
    ++m_generation;
    m_reading = false;
    m_lines.clear();
    m_text->clear();
    follow();
}

void LogView::follow() {
    ProjectSession* session = m_workspace.session();
    if (!session || m_run.isEmpty() || m_reading || !isVisible()) return;
    m_reading = true;
    const std::filesystem::path folder = session->folder() / "runs" / m_run.toStdString();
    ProjectSession::background([folder, attempt = m_attempt->currentData().toInt(), rank = m_rank->currentData().toInt(),
                                offset = m_offset] { return readPart(folder, attempt, rank, offset); })
        .then(this,
              [this, generation = m_generation](const LogPart& part) {
                  if (generation != m_generation) return;
                  m_reading = false;
                  m_offset = part.end;
                  fillNumbers(m_attempt, QStringLiteral("attempt"), part.attempts);
                  if (!part.ranks.isEmpty()) fillNumbers(m_rank, QStringLiteral("rank"), part.ranks);
                  show(part.lines);
              })
        .onFailed([this](const std::exception&) { m_reading = false; });
}

void LogView::show(const QStringList& lines) {
    if (lines.isEmpty()) return;
    m_lines += lines;
    if (m_lines.size() > most_lines) m_lines = m_lines.mid(m_lines.size() - most_lines);
    QScrollBar* bar = m_text->verticalScrollBar();
    const bool atEnd = bar->value() >= bar->maximum() - 4;
    QStringList passing;
    for (const QString& line : lines)
        if (passes(line)) passing << line;
    if (!passing.isEmpty()) m_text->appendPlainText(passing.join(QLatin1Char('\n')));
    if (atEnd) bar->setValue(bar->maximum());
}

bool LogView::passes(const QString& line) const {
    const bool error =
        line.contains(QStringLiteral("error"), Qt::CaseInsensitive) || line.contains(QStringLiteral("failed"), Qt::CaseInsensitive);
    const bool warning = line.contains(QStringLiteral("warning"), Qt::CaseInsensitive);
    if (m_level->currentIndex() == 1 && !error && !warning) return false;
    if (m_level->currentIndex() == 2 && !error) return false;
    return m_search->text().isEmpty() || line.contains(m_search->text(), Qt::CaseInsensitive);
}

void LogView::refilter() {
    const QStringList lines = m_lines;
    m_lines.clear();
    m_text->clear();
    show(lines);
}

}  // namespace faceter::desktop
