#include <QRegularExpression>
#include <QStandardPaths>
#include <fstream>

#include "cli/program.h"
#include "common/file.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const fs::path program = FACETER_BINARY_DIR "/bin/faceter-pdf";

/// As the report embeds it.
std::string base64(const std::string& bytes) { return QByteArray::fromStdString(bytes).toBase64().toStdString(); }

/// A figure with as many texts as a heat map has cells.
std::string figure_of_many_texts() {
    std::string svg =
        "<svg xmlns='http://www.w3.org/2000/svg' width='720' height='420' viewBox='0 0 720 420'><rect x='0' y='0' width='720' height='420' "
        "fill='#FFFFFF'/>";
    for (int i = 0; i < 600; ++i)
        svg += fmt::format("<text x='{}' y='{}' font-size='9' fill='#1B1F24' text-anchor='end'>{:.3f}</text>", 30 + i % 20 * 35,
                           10 + i / 20 * 13, i * 0.731);
    return svg + "</svg>";
}

}  // namespace

/// `faceter report --pdf`: what faceter-pdf makes of the report's page.
class TestPdf : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    std::string pdf_of(const std::string& html) const {
        const fs::path in = folder_.path() / "in.html", out = folder_.path() / "out.pdf";
        std::ofstream(in) << html;
        QProcess process;
        process.start(QString::fromStdString(program.string()),
                      {QString::fromStdString(in.string()), QString::fromStdString(out.string()), QStringLiteral("A report")});
        process.waitForFinished(120'000);
        return process.exitCode() == 0 ? read_file(out) : process.readAllStandardError().toStdString();
    }
    static std::size_t pages_of(const std::string& pdf) {
        std::size_t pages = 0;
        for (std::size_t at = pdf.find("/Type /Page\n"); at != pdf.npos; at = pdf.find("/Type /Page\n", at + 1)) ++pages;
        return pages;
    }

  private Q_SLOTS:
    void initTestCase() {
        if (!fs::exists(program)) QSKIP("faceter-pdf is not built");
    }
    void texts_of_figures_stay_texts() {
        const std::string figure =
            "<p><img width=\"720\" height=\"420\" src=\"data:image/svg+xml;base64," + base64(figure_of_many_texts()) + "\"></p>\n";
        const std::string pdf = pdf_of("<h2>Figures</h2>" + figure + figure);
        QVERIFY2(pdf.starts_with("%PDF"), pdf.c_str());
        QVERIFY2(pdf.size() < 120'000, std::to_string(pdf.size()).c_str());
        QCOMPARE(pages_of(pdf), std::size_t{1});
    }
    void figures_stand_two_beside_and_two_under_one_another() {
        const std::string figure =
            "<p><img width=\"720\" height=\"420\" src=\"data:image/svg+xml;base64," + base64(figure_of_many_texts()) + "\"></p>\n";
        const std::string heading = "<h2>Figures</h2>";
        QCOMPARE(pages_of(pdf_of(heading + figure + figure + figure)), std::size_t{1});
        QCOMPARE(pages_of(pdf_of(heading + figure + figure + figure + figure)), std::size_t{1});
        QCOMPARE(pages_of(pdf_of(heading + figure + figure + figure + figure + figure)), std::size_t{2});
    }
    void a_table_that_the_page_would_tear_begins_on_the_next() {
        std::string lines,
            table = "<table><caption style=\"font-weight:600\">Scores</caption><thead><tr><th>run</th><th>score</th></tr></thead>";
        for (int i = 0; i < 24; ++i) lines += "<p>a line before it</p>\n";
        for (int i = 0; i < 12; ++i) table += fmt::format("<tr><td>run {}</td><td>{}</td></tr>", i, i * 3);
        const std::string alone = pdf_of(lines), both = pdf_of(lines + table + "</table>"), longer = pdf_of(lines + lines + lines);
        QCOMPARE(pages_of(alone), std::size_t{1});
        QCOMPARE(pages_of(both), std::size_t{2});
        QVERIFY(pages_of(longer) >= 2);
    }
    void a_table_longer_than_a_page_is_parted_between_its_rows() {
        if (QStandardPaths::findExecutable("pdftotext").isEmpty()) QSKIP("pdftotext is not installed here (poppler-utils)");
        std::string table = "<p>a line before it</p><table><thead><tr><th>run</th><th>said</th></tr></thead>";
        for (int i = 0; i < 60; ++i) table += fmt::format("<tr><td>begin{}</td><td>one<br>two<br>three<br>end{}</td></tr>", i, i);
        write_file_atomic(folder_.path() / "long.pdf", pdf_of(table + "</table>"));
        QProcess text;
        text.start("pdftotext", {"-layout", QString::fromStdString((folder_.path() / "long.pdf").string()), "-"});
        QVERIFY(text.waitForFinished(60'000));
        const QStringList pages = QString::fromUtf8(text.readAllStandardOutput()).split(QChar(0x0c), Qt::SkipEmptyParts);
        QVERIFY(pages.size() > 5);
        int whole = 0;
        for (const QString& page : pages) {
            QVERIFY2(page.contains("begin"), qPrintable(page));  // no page is left empty
            for (int i = 0; i < 60; ++i) {
                const QRegularExpression begin(QStringLiteral("\\bbegin%1\\b").arg(i)), end(QStringLiteral("\\bend%1\\b").arg(i));
                QCOMPARE(page.contains(begin), page.contains(end));
                whole += page.contains(begin);
            }
        }
        QCOMPARE(whole, 60);
    }
    void every_page_of_a_long_table_has_all_lines_of_its_head() {
        if (QStandardPaths::findExecutable("pdftotext").isEmpty()) QSKIP("pdftotext is not installed here (poppler-utils)");
        std::string table =
            "<table><thead><tr><th></th><th colspan=\"2\">groups</th></tr><tr><th>run</th><th>low</th><th>high</th></tr></thead>";
        for (int i = 0; i < 120; ++i) table += fmt::format("<tr><td>run {}</td><td>{}</td><td>{}</td></tr>", i, i, 2 * i);
        write_file_atomic(folder_.path() / "head.pdf", pdf_of(table + "</table>"));
        QProcess text;
        text.start("pdftotext", {"-layout", QString::fromStdString((folder_.path() / "head.pdf").string()), "-"});
        QVERIFY(text.waitForFinished(60'000));
        const QStringList pages = QString::fromUtf8(text.readAllStandardOutput()).split(QChar(0x0c), Qt::SkipEmptyParts);
        QVERIFY(pages.size() > 2);
        for (const QString& page : pages) QVERIFY2(page.contains("groups") && page.contains("high"), qPrintable(page));
    }
    void a_table_wider_than_the_paper_has_all_its_columns() {
        if (QStandardPaths::findExecutable("pdftotext").isEmpty()) QSKIP("pdftotext is not installed here (poppler-utils)");
        std::string row;
        for (int i = 10; i < 50; ++i) row += fmt::format("<td>column{}</td>", i);
        write_file_atomic(folder_.path() / "wide.pdf", pdf_of("<table><tr>" + row + "</tr><tr>" + row + "</tr></table>"));
        QProcess text;
        text.start("pdftotext", {"-layout", QString::fromStdString((folder_.path() / "wide.pdf").string()), "-"});
        QVERIFY(text.waitForFinished(60'000));
        const QString said = QString::fromUtf8(text.readAllStandardOutput());
        for (int i = 10; i < 50; ++i) QVERIFY2(said.count(QStringLiteral("column%1").arg(i)) == 2, qPrintable(QString::number(i)));
    }
    void what_a_browser_folds_away_is_left_out() {
        std::string settings = "<h2>All settings</h2>\n";
        for (int run = 0; run < 5; ++run)
            settings += "<details><summary>run</summary>\n<pre>" + std::string(200, '\n') + "seed: 1</pre>\n</details>\n";
        QCOMPARE(pages_of(pdf_of(settings)), std::size_t{1});
    }
};

FACETER_TEST(TestPdf)
#include "test_pdf.moc"
