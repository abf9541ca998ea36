#include "help/manual.h"

#include <QRegularExpression>
#include <algorithm>

#include "common/file.h"

namespace faceter::desktop {
namespace {

constexpr std::size_t most_bytes = 4 << 20;
constexpr qsizetype excerpt_before = 40, excerpt_length = 140;
const QString contents_file = QStringLiteral("README.md");

/// "## Three kinds of chance" -> "Three kinds of chance"; empty: no heading.
QString headingOf(const QString& line) {
    static const QRegularExpression heading(QStringLiteral("^#{1,6} +(.*)$"));
    return heading.match(line).captured(1).trimmed();
}

/// A line of shell that begins with # is no heading.
std::vector<ManualSection> sectionsOf(const QString& markdown) {
    std::vector<ManualSection> sections;
    bool inCode = false;
    for (const QString& line : markdown.split(QLatin1Char('\n'))) {
        if (line.startsWith(QLatin1String("```"))) inCode = !inCode;
        const QString heading = inCode ? QString() : headingOf(line);
        if (!heading.isEmpty())
            sections.push_back({heading, {}});
        else if (!sections.empty())
            sections.back().text += line + QLatin1Char('\n');
    }
    return sections;
}

ManualChapter readChapter(const std::filesystem::path& folder, const QString& file) {
    ManualChapter chapter{file, {}, QString::fromStdString(read_file(folder / file.toStdString(), most_bytes)), {}};
    chapter.sections = sectionsOf(chapter.markdown);
    chapter.title = chapter.sections.empty() ? file : chapter.sections.front().heading;
    return chapter;
}

bool holdsAll(const QString& text, const QStringList& words) {
    return std::all_of(words.begin(), words.end(), [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

QString excerptOf(const QString& text, const QStringList& words) {
    static const QRegularExpression markup(QStringLiteral("\\]\\([^)]*\\)|[*`\\[\\]|]|```\\w*"));
    const QString plain = QString(text).remove(markup).simplified();
    qsizetype first = plain.size();
    for (const QString& word : words)
        if (const qsizetype at = plain.indexOf(word, 0, Qt::CaseInsensitive); at >= 0) first = std::min(first, at);
    const qsizetype start = first == plain.size() ? 0 : std::max<qsizetype>(0, first - excerpt_before);
    const QString cut = plain.mid(start, excerpt_length);
    return (start > 0 ? QStringLiteral("…") : QString()) + cut + (start + cut.size() < plain.size() ? QStringLiteral("…") : QString());
}

}  // namespace

Manual Manual::read(const std::filesystem::path& folder) {
    Manual manual;
    manual.m_chapters.push_back(readChapter(folder, contents_file));
    static const QRegularExpression link(QStringLiteral("\\]\\(([\\w-]+\\.md)\\)"));
    for (auto match = link.globalMatch(manual.m_chapters.front().markdown); match.hasNext();)
        if (const QString file = match.next().captured(1); !manual.chapter(file)) manual.m_chapters.push_back(readChapter(folder, file));
    return manual;
}

const ManualChapter* Manual::chapter(const QString& file) const {
    const auto found =
        std::find_if(m_chapters.begin(), m_chapters.end(), [&](const ManualChapter& chapter) { return chapter.file == file; });
    return found == m_chapters.end() ? nullptr : &*found;
}

std::vector<ManualHit> Manual::search(const QString& query) const {
    const QStringList words = query.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
    std::vector<ManualHit> hits;
    if (words.isEmpty()) return hits;
    const auto inHeading = [&](const ManualHit& hit) { return holdsAll(hit.heading, words); };
    for (const ManualChapter& chapter : m_chapters)
        for (const ManualSection& section : chapter.sections)
            if (holdsAll(section.heading + QLatin1Char('\n') + section.text, words))
                hits.push_back({chapter.file, chapter.title, section.heading, excerptOf(section.text, words)});
    std::stable_partition(hits.begin(), hits.end(), inHeading);
    return hits;
}

}  // namespace faceter::desktop
