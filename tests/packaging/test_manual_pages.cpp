#include <QRegularExpression>
#include <set>

#include "packaging/command.h"

using namespace faceter;
using namespace faceter::packaging;

namespace {

const fs::path sources = project / "resources/manual";
const fs::path pages = binaries / "share/doc/faceter/html";

QString read(const fs::path& file) { return QString::fromStdString(read_file(file)); }

std::set<QString> all(const QString& pattern, const QString& page) {
    std::set<QString> found;
    for (auto match = QRegularExpression(pattern).globalMatch(page); match.hasNext();) found.insert(match.next().captured(1));
    return found;
}

Outcome make(const fs::path& from, const fs::path& to) { return run(project / "packaging/make_manual.py", {text(from), text(to)}); }

}  // namespace

/// The manual as HTML: resources/manual, by packaging/make_manual.py.
class TestManualPages : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void initTestCase() {
        if (!fs::exists(pages / "index.html")) QSKIP("built without cmark-gfm: there are no HTML pages");
    }
    void every_chapter_is_a_page_that_the_contents_of_all_pages_link() {
        for (const auto& page : fs::directory_iterator(pages)) {
            if (page.path().extension() != ".html") continue;
            const std::set<QString> linked = all("href=\"([^\"#]+)", read(page.path()));
            for (const auto& chapter : fs::directory_iterator(sources)) {
                if (chapter.path().extension() != ".md" || chapter.path().stem() == "README") continue;
                const QString name = text(chapter.path().stem()) + ".html";
                QVERIFY2(fs::exists(pages / name.toStdString()) && linked.contains(name), qPrintable(name));
            }
        }
    }
    void every_link_and_picture_leads_somewhere() {
        int followed = 0;
        for (const auto& page : fs::directory_iterator(pages)) {
            if (page.path().extension() != ".html") continue;
            for (const QString& target : all("(?:href|src)=\"([^\"]*)\"", read(page.path()))) {
                if (target.contains("://")) continue;
                const QString file = target.section('#', 0, 0), anchor = target.section('#', 1);
                const fs::path there = file.isEmpty() ? page.path() : pages / file.toStdString();
                const QString place = text(page.path().filename()) + ": " + target;
                QVERIFY2(fs::is_regular_file(there) && !file.endsWith(".md"), qPrintable(place));
                QVERIFY2(anchor.isEmpty() || all("id=\"([^\"]*)\"", read(there)).contains(anchor), qPrintable(place));
                ++followed;
            }
        }
        QVERIFY(followed > 400);
    }
    void nothing_that_looks_like_a_tag_is_lost() {
        for (const auto& page : fs::directory_iterator(pages))
            if (page.is_regular_file()) QVERIFY2(!read(page.path()).contains("raw HTML omitted"), page.path().c_str());
    }
    void a_table_is_a_table() { QVERIFY(read(pages / "files.html").contains("<td>out of memory</td>")); }
    void pages_ask_nothing_of_a_network() {
        for (const auto& page : fs::directory_iterator(pages))
            if (page.is_regular_file())
                QVERIFY2(!read(page.path()).contains(QRegularExpression("(src|stylesheet\" href)=\"[a-z]+:|@import|<script")),
                         page.path().c_str());
    }
    void headings_of_the_same_words_have_anchors_of_their_own_and_code_is_no_heading() {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "README.md",
                          "# Contents\n[One](one.md#two---1)\n## Two & `<three>`\n## Two & `<three>`\n```sh\n# a remark\n```\n");
        write_file_atomic(folder.path() / "one.md", "# One\n## Two -\n## Two -\n");
        const fs::path made = folder.path() / "html";
        VERIFY_CODE(make(folder.path(), made), 0);
        const std::set<QString> anchors = all(" id=\"([^\"]*)\"", read(made / "index.html"));
        QVERIFY(anchors == std::set<QString>({"contents", "two--three", "two--three-1"}));
        QVERIFY(read(made / "index.html").contains("Two &amp; &lt;three&gt;</a>"));
    }
    void a_link_that_leads_nowhere_and_a_page_that_is_not_listed_are_errors() {
        const TemporaryDirectory folder;
        write_file_atomic(folder.path() / "README.md", "# Contents\n[One](one.md)\n");
        for (const char* link : {"[x](two.csv)", "[x](one.md#no-such-heading)", "![x](picture.png)"}) {
            write_file_atomic(folder.path() / "one.md", std::string("# One\n") + link + "\n");
            const Outcome outcome = make(folder.path(), folder.path() / "html");
            VERIFY_CODE(outcome, 1);
            QVERIFY2(outcome.output.contains("one.md: the link to ") && outcome.output.contains("leads nowhere"),
                     qPrintable(outcome.output));
        }
        write_file_atomic(folder.path() / "one.md", "# One\n");
        write_file_atomic(folder.path() / "other.md", "# Other\n");
        const Outcome outcome = make(folder.path(), folder.path() / "html");
        VERIFY_CODE(outcome, 1);
        QVERIFY2(outcome.output.contains("does not list other.md"), qPrintable(outcome.output));
    }
    void the_chapter_on_plugins_quotes_every_line_of_the_template() {
        const QString chapter = read(sources / "plugins.md");
        QString quoted;
        const QRegularExpression block("^```cpp\\n(.*?)^```$",
                                       QRegularExpression::MultilineOption | QRegularExpression::DotMatchesEverythingOption);
        for (auto match = block.globalMatch(chapter); match.hasNext();) quoted += match.next().captured(1);
        const auto lines = [](const QString& code) {
            QStringList kept;
            for (const QString& line : code.split('\n'))
                if (!line.trimmed().isEmpty()) kept << line;
            return kept;
        };
        QString code;
        for (const char* file : {"settings.cpp", "plugin.cpp"})
            code += read(project / "resources/plugin_templates/analysis" / file).replace("@NAME@", "spread").replace("@CLASS@", "Spread");
        QCOMPARE(lines(quoted), lines(code));
    }
    void the_program_names_its_pages() {
        const fs::path faceter = binaries / "bin/faceter";
        if (!fs::exists(faceter)) QSKIP("programs are not built");
        const auto page = [&](const QStringList& arguments) { return run(faceter, QStringList{"manual"} << arguments); };
        QCOMPARE(page({}).output.trimmed(), text(pages / "index.html"));
        QCOMPARE(page({"comparing"}).output.trimmed(), text(pages / "comparing.html"));
        QVERIFY(page({"--json"}).output.contains("\"page\": \"" + text(pages / "index.html") + '"'));
        const Outcome unknown = page({"comparng"});
        VERIFY_CODE(unknown, 2);
        QVERIFY2(unknown.output.contains("did you mean 'comparing'?"), qPrintable(unknown.output));
    }
};

FACETER_TEST(TestManualPages)
#include "test_manual_pages.moc"
