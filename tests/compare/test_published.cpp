#include "compare/published.h"

#include <cmath>
#include <set>

#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

fs::path folder() { return fs::path(FACETER_SOURCE_DIR) / "resources/published"; }

const PublishedTable& table_of(const std::vector<PublishedTable>& tables, const std::string& id) {
    for (const PublishedTable& table : tables)
        if (table.id() == id) return table;
    throw std::runtime_error("no table " + id);
}

fs::path write_sample(const TemporaryDirectory& folder, const std::string& table) {
    const fs::path file = folder.path() / "sample.yaml";
    write_file_atomic(
        file, "paper: p\ntitle: P\nshort: P\nsource: here\ntables:\n  - table: Table 1\n    section: one\n    caption: c\n" + table);
    return file;
}

/// The rows that a mean without data set is taken over, where the table prints all of them; empty: it does not.
std::vector<const PublishedRow*> rows_behind(const PublishedTable& table, const PublishedRow& mean) {
    std::vector<const PublishedRow*> sets, types;
    int of_types = 0;
    for (const PublishedRow& row : table.rows) {
        if (!row.dataset.empty() && (mean.task_type.empty() || row.task_type == mean.task_type)) sets.push_back(&row);
        if (row.dataset.empty() && !row.task_type.empty() && mean.task_type.empty()) types.push_back(&row), of_types += row.sets;
    }
    if (static_cast<int>(sets.size()) == mean.sets) return sets;
    return of_types == mean.sets ? types : std::vector<const PublishedRow*>();
}

double mean_of(const std::vector<const PublishedRow*>& rows, std::size_t model) {
    double sum = 0, count = 0;
    for (const PublishedRow* row : rows) {
        const double weight = row->dataset.empty() ? row->sets : 1;
        sum += weight * row->values[model];
        count += weight;
    }
    return sum / count;
}

}  // namespace

class TestPublished : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void every_file_reads() {
        const std::vector<PublishedTable> tables = read_published_folder(folder());
        std::set<std::string> papers, ids;
        std::size_t values = 0;
        for (const PublishedTable& table : tables) {
            papers.insert(table.paper);
            QVERIFY2(ids.insert(table.id()).second, table.id().c_str());
            QVERIFY2(!table.source().empty() && !table.caption.empty(), table.id().c_str());
            for (const PublishedRow& row : table.rows) values += row.values.size();
        }
        QCOMPARE(papers, (std::set<std::string>{"data_cube", "mote", "nomic_embed_v2", "router_retriever"}));
        QVERIFY(values > 1000);
    }
    void the_figures_of_the_methods_page_are_there() {
        const auto tables = read_published_folder(folder());
        const PublishedTable& mote = table_of(tables, "mote/Table 2");
        QCOMPARE(mote.models, (std::vector<std::string>{"EM", "SEM", "IC", "MoTE"}));
        QCOMPARE(mote.type_row("retrieval")->values, (std::vector<double>{42.31, -8.86, 3.27, 5.21}));
        QCOMPARE(mote.type_row("clustering")->values, (std::vector<double>{42.95, -3.84, 0.14, -0.06}));
        QCOMPARE(mote.mean_row()->values, (std::vector<double>{49.78, -5.02, 2.35, 3.23}));
        QVERIFY(!mote.is_gain(0) && mote.is_gain(3));
        QCOMPARE(mote.source(), std::string("MoTE, Table 2, section 5.1"));
        QCOMPARE(table_of(tables, "mote/Table 3").type_row("sts")->values, (std::vector<double>{77.91, -2.82, 2.11, 2.15}));
        const PublishedTable& router = table_of(tables, "router_retriever/Table 1");
        QCOMPARE(router.dataset_row("SciFact")->values[2], 77.6);
        QVERIFY(!router.dataset_row("cacm"));
        QCOMPARE(table_of(tables, "data_cube/Table 1").dataset_row("sts22")->values.back(), 68.28);
        QCOMPARE(table_of(tables, "nomic_embed_v2/Table 1").type_row("retrieval")->values[3], 52.86);
        QCOMPARE(table_of(tables, "router_retriever/Table 12").dataset_row("trec_covid")->values[1], 56.2);
    }
    /// Held to the tables' own rows: a transcription slip of one digit moves a mean by more than its rounding.
    void printed_means_are_those_of_their_rows_or_marked() {
        int checked = 0, marked = 0;
        for (const PublishedTable& table : read_published_folder(folder()))
            for (const PublishedRow& mean : table.rows) {
                const auto rows = mean.dataset.empty() && mean.sets > 1 ? rows_behind(table, mean) : std::vector<const PublishedRow*>();
                for (std::size_t model = 0; model < table.models.size() && !rows.empty(); ++model) {
                    const double printed = mean.values[model], recomputed = mean_of(rows, model);
                    const bool one_decimal = table.paper == "router_retriever";
                    const bool differs = std::abs(printed - recomputed) > (one_decimal ? 0.101 : 0.0101);
                    const std::string where = table.id() + ", " + table.models[model] + ", " + mean.label;
                    QVERIFY2(!differs || !table.slip_of(model, mean).empty(), (where + ": " + std::to_string(recomputed)).c_str());
                    ++checked, marked += differs;
                }
            }
        QVERIFY2(checked > 80, std::to_string(checked).c_str());
        QVERIFY2(marked >= 5 && marked < 10, std::to_string(marked).c_str());
    }
    void known_slips_stand_beside_their_values() {
        const auto tables = read_published_folder(folder());
        const PublishedTable& last = table_of(tables, "router_retriever/Table 18");
        QVERIFY(last.slip_of(0, *last.type_row("retrieval")).find("40.0") != std::string::npos);
        const PublishedTable& five = table_of(tables, "mote/Table 5");
        QVERIFY(five.slip_of(1, *five.type_row("sts")).find("80.03") != std::string::npos);
        QVERIFY(five.slip_of(0, *five.type_row("sts")).empty());
    }
    void broken_files_name_the_place() {
        const TemporaryDirectory folder;
        const std::string models = "    models: [a, b]\n";
        EXPECT_ERROR(read_published(write_sample(folder, models + "    rows:\n      - {label: x, metric: m, values: [1]}\n")),
                     "sample.yaml:11:9", "1 values", "2 models");
        EXPECT_ERROR(read_published(write_sample(folder, models + "    rowz: []\n    rows: []\n")), "rowz", "rows");
        EXPECT_ERROR(read_published(write_sample(folder, models + "    gains_over: c\n    rows: []\n")), "gains_over", "'c'");
        EXPECT_ERROR(read_published(write_sample(folder, models + "    rows:\n      - {label: x, metric: m, values: [1, two]}\n")),
                     "sample.yaml:11", "two");
        EXPECT_ERROR(read_published(write_sample(folder, models + "    rows: []\n    slips:\n      - {model: a, label: z, text: t}\n")),
                     "no cell", "'z'");
        EXPECT_ERROR(read_published(folder.path() / "none.yaml"), "none.yaml");
    }
    void a_damaged_cell_is_no_number() {
        const TemporaryDirectory folder;
        const auto tables = read_published(
            write_sample(folder, "    page: 4\n    models: [a, b]\n    rows:\n      - {label: x, metric: m, values: [1, null]}\n"));
        QVERIFY(std::isnan(tables[0].rows[0].values[1]));
        QCOMPARE(tables[0].source(), std::string("P, Table 1, page 4"));
    }
};

FACETER_TEST(TestPublished)
#include "test_published.moc"
