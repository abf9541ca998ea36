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

/// What was added to a file from `offset` on (the last part only of a long one), by whole lines.
QStringList linesFrom(QFile& file, qint64& offset) {
    QStringList lines;
    if (file.size() - offset > tail_bytes) offset = file.size() - tail_bytes;
    file.seek(offset);
    QByteArray bytes = file.read(tail_bytes);
    const qsizetype whole = bytes.lastIndexOf('\n') + 1;
    bytes.truncate(whole);
    offset += whole;
    for (const QByteArray& line : bytes.split('\n'))
        if (!line.isEmpty()) lines << QString::fromUtf8(line).section(QLatin1Char('\r'), -1);
    return lines;
}

/// `first`, where there is one, stands for 0.
void fillNumbers(QComboBox* box, const QString& text, const QString& first, const QList<int>& numbers) {
    if (box->count() == numbers.size() + (first.isEmpty() ? 0 : 1)) return;
    const QSignalBlocker blocker(box);
    const QVariant before = box->currentData();
    box->clear();
    if (!first.isEmpty()) box->addItem(first, 0);
    for (const int number : numbers) box->addItem(text.arg(number), number);
    box->setCurrentIndex(std::max(0, box->findData(before)));
}

}  // namespace

struct LogView::Part {
    QStringList lines;
    qint64 end = 0;
    QList<int> attempts, ranks;
    int attempt = 0;
    bool isAnew = false;  ///< another file than before, or one that was cut: from its beginning
};

/// `attempt` 0: the newest, which may be another than the one that was shown last.
LogView::Part LogView::readPart(const std::filesystem::path& folder, int attempt, int rank, int shownAttempt, qint64 offset) {
    const RunDirectory run(folder);
    Part part;
    for (const int number : run.attempts()) part.attempts << number;
    part.attempt = attempt > 0 || part.attempts.isEmpty() ? attempt : part.attempts.last();
    part.end = offset;
    if (part.attempt == 0) return part;
    for (int other = 0; other < 1024 && QFile::exists(qs(run.attempt_log(part.attempt, other).string())); ++other) part.ranks << other;
    QFile file(qs(run.attempt_log(part.attempt, rank).string()));
    if (!file.open(QIODevice::ReadOnly)) {
        part.attempt = shownAttempt;  // it has not begun to speak
        return part;
    }
    part.isAnew = part.attempt != shownAttempt || file.size() < offset;
    if (part.isAnew) part.end = 0;
    part.lines = linesFrom(file, part.end);
    return part;
}

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
    m_search->setObjectName(QStringLiteral("logSearch"));
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
    connect(&m_workspace, &Workspace::projectChanged, this, &LogView::start);
    for (QComboBox* box : {m_attempt, m_rank}) connect(box, &QComboBox::currentIndexChanged, this, &LogView::start);
    connect(m_level, &QComboBox::currentIndexChanged, this, &LogView::refilter);
    connect(m_search, &QLineEdit::textChanged, this, &LogView::refilter);
    connect(&m_timer, &QTimer::timeout, this, &LogView::follow);
    m_timer.start(follow_ms);
}

void LogView::start() {
    m_run = m_workspace.currentRun();
    ++m_generation;
    m_reading = false;
    clear();
    m_text->setPlaceholderText(tr("The log of the selected run appears here."));
    follow();
}

void LogView::clear() {
    m_offset = 0;
    m_shownAttempt = 0;
    m_lines.clear();
    m_text->clear();
}

void LogView::follow() {
    ProjectSession* session = m_workspace.session();
    if (!session || m_run.isEmpty() || m_reading || !isVisible()) return;
    m_reading = true;
    const std::filesystem::path folder = session->folder() / "runs" / m_run.toStdString();
    ProjectSession::background([folder, attempt = m_attempt->currentData().toInt(), rank = m_rank->currentData().toInt(),
                                shown = m_shownAttempt, offset = m_offset] { return readPart(folder, attempt, rank, shown, offset); })
        .then(this,
              [this, generation = m_generation](const Part& part) {
                  if (generation == m_generation) take(part);
              })
        .onFailed([this, generation = m_generation](const std::exception& error) {
            if (generation != m_generation) return;
            m_reading = false;
            m_text->setPlaceholderText(QString::fromUtf8(error.what()));
        });
}

void LogView::take(const Part& part) {
    m_reading = false;
    if (part.isAnew) clear();
    m_offset = part.end;
    m_shownAttempt = part.attempt;
    fillNumbers(m_attempt, tr("attempt %1"), tr("newest attempt"), part.attempts);
    if (!part.ranks.isEmpty()) fillNumbers(m_rank, tr("rank %1"), {}, part.ranks);
    show(part.lines);
    sayWhyEmpty();
}

/// Where no line stands, whether there is none, or none that was asked for.
void LogView::sayWhyEmpty() {
    if (m_run.isEmpty()) return;  // start() has said it
    m_text->setPlaceholderText(!m_lines.isEmpty()    ? tr("Of its %1 lines none is of this level and contains this.").arg(m_lines.size())
                               : m_shownAttempt == 0 ? tr("The selected run has written no log yet.")
                                                     : tr("The log of the selected run is empty."));
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
    sayWhyEmpty();
}

}  // namespace faceter::desktop
