#include "pages/compose/yaml_highlighter.h"

#include <QRegularExpression>

#include "theme/theme.h"

namespace faceter::desktop {

YamlHighlighter::YamlHighlighter(QTextDocument* document) : QSyntaxHighlighter(document) {
    connect(&Theme::instance(), &Theme::changed, this, &QSyntaxHighlighter::rehighlight);
}

void YamlHighlighter::setProblems(const std::vector<Problem>& problems) {
    std::vector<std::size_t> lines;
    for (const std::vector<Problem>* some : std::initializer_list<const std::vector<Problem>*>{&m_problems, &problems})
        for (const Problem& problem : *some)
            if (problem.line > 0) lines.push_back(problem.line);
    m_problems = problems;
    for (const std::size_t line : lines)
        if (const QTextBlock block = document()->findBlockByNumber(static_cast<int>(line) - 1); block.isValid()) rehighlightBlock(block);
}

void YamlHighlighter::highlightBlock(const QString& text) {
    const ThemeColours& colours = Theme::instance().colours();
    static const QRegularExpression key(QStringLiteral("(?:^|[\\s{,\\[-])([A-Za-z_][\\w. /-]*?)(?=:(?:\\s|$))")),
        quoted(QStringLiteral("\"(?:[^\"\\\\]|\\\\.)*\"|'[^']*'")),
        number(QStringLiteral("(?<=[\\s\\[{,:])-?\\d[\\d.eE+-]*(?=\\s*(?:[,\\]}#]|$))")), comment(QStringLiteral("(?:^|\\s)#.*$"));
    const auto paint = [&](const QRegularExpression& pattern, int group, const QColor& colour) {
        for (auto match = pattern.globalMatch(text); match.hasNext();) {
            const auto one = match.next();
            setFormat(static_cast<int>(one.capturedStart(group)), static_cast<int>(one.capturedLength(group)), colour);
        }
    };
    paint(key, 1, colours.accent);
    paint(number, 0, colours.seriesText(1));
    paint(quoted, 0, colours.seriesText(2));
    // A '#' within quotes is text.
    for (auto match = comment.globalMatch(text); match.hasNext();) {
        const auto one = match.next();
        if (text.left(one.capturedStart()).count(QLatin1Char('"')) % 2 == 0)
            setFormat(static_cast<int>(one.capturedStart()), static_cast<int>(one.capturedLength()), colours.secondary);
    }
    underline(text);
}

void YamlHighlighter::underline(const QString& text) {
    const QByteArray bytes = text.toUtf8();
    for (const Problem& problem : m_problems) {
        if (static_cast<int>(problem.line) != currentBlock().blockNumber() + 1) continue;
        int begin =
            problem.column > 0 ? static_cast<int>(QString::fromUtf8(bytes.left(static_cast<qsizetype>(problem.column) - 1)).size()) : 0;
        begin = std::clamp<int>(begin, 0, std::max<int>(0, static_cast<int>(text.size()) - 1));
        int end = begin;
        while (end < text.size() && !QStringLiteral(",]}#").contains(text[end]) && !(text[end] == QLatin1Char(' ') && end > begin)) ++end;
        for (int i = begin; i < std::max(end, begin + 1); ++i) {
            QTextCharFormat format = this->format(i);
            format.setUnderlineStyle(QTextCharFormat::WaveUnderline);
            format.setUnderlineColor(Theme::instance().colours().error);
            setFormat(i, 1, format);
        }
    }
}

}  // namespace faceter::desktop
