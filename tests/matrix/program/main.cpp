#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>

#include "common/error.h"
#include "common/strings.h"
#include "conform/capabilities.h"
#include "experiment/machine.h"
#include "matrix/harness/checkpoints.h"
#include "matrix/harness/matrix.h"
#include "support/checkout.h"

// faceter-matrix: every start model under every variant through every operation. tests/matrix/README.md says more.

namespace faceter::matrix {
namespace {

struct Options {
    std::string bin = FACETER_BINARY_DIR "/bin", fixtures, keep, results, table, record, commit, shard, peers;
    std::vector<std::string> only, laws, from;
    int jobs = 1;
    double dropout = 0.1;
    bool cover = false, list = false;
};

std::vector<CellName> chosen(const Options& options, const std::vector<Row>& rows, const std::vector<Column>& columns) {
    std::vector<CellName> cells = options.cover ? pairwise_cover(rows, columns) : all_cells(rows, columns);
    if (!options.only.empty())
        std::erase_if(cells, [&](const CellName& cell) {
            return std::none_of(options.only.begin(), options.only.end(), [&](const std::string& pattern) {
                CellResult named;
                named.start = cell.text();
                return KnownDefect{pattern, "*", "", ""}.concerns(named);
            });
        });
    if (!options.laws.empty())
        for (CellName& cell : cells) cell.laws = {options.laws.begin(), options.laws.end()};
    if (options.shard.empty()) return cells;
    const auto parts = split(options.shard, '/');
    if (parts.size() != 2) throw usage_error("--shard {}: expected I/N, such as 1/8", options.shard);
    const std::int64_t index = parse_int(parts[0]).value_or(0), count = parse_int(parts[1]).value_or(0);
    if (index < 1 || index > count) throw usage_error("--shard {}: expected I/N with I from 1 to N", options.shard);
    return shard_of(cells, static_cast<std::size_t>(index) - 1, static_cast<std::size_t>(count));
}

void print(const CellResult& result, const Verdict& verdict) {
    const char* word = !verdict.fresh.empty() || !verdict.gone.empty() ? "WRONG"
                       : !result.wrong.empty()                         ? "wrong (known)"
                       : !result.refused.empty()                       ? "refused"
                                                                       : "holds";
    fmt::print("{:14} {}\n", word, result.name());
    for (const Finding* finding : verdict.fresh) fmt::print("    {}: {}\n        {}\n", finding->law, finding->what, finding->command);
    for (const KnownDefect* defect : verdict.stands) fmt::print("    {} (known): {}\n", defect->law, defect->why);
    for (const KnownDefect* defect : verdict.gone)
        fmt::print("    {}: holds now; take '{}, {}' out of known_defects.tsv\n", defect->law, defect->row, defect->column);
    if (!result.refused.empty()) fmt::print("    {}\n", result.refused);
    std::fflush(stdout);
}

std::vector<CellResult> run(const Options& options, const std::vector<CellName>& cells, const conform::Laboratory& laboratory,
                            const std::vector<KnownDefect>& known) {
    std::vector<CellResult> results(cells.size());
    std::mutex mutex;
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i; (i = next++) < cells.size();) {
            const conform::StartModel start{cells[i].row->name, start_model(*cells[i].row, laboratory.folder / "models")};
            CellResult result = conform::Cell(laboratory, start, *cells[i].column, cells[i].laws).run();
            const std::scoped_lock lock(mutex);
            print(result, judge(result, known));
            if (!options.results.empty()) {
                std::FILE* file = std::fopen(options.results.c_str(), "a");
                if (!file) throw data_error("{}: cannot be written", options.results);
                fmt::print(file, "{}\n", result.to_json().dump(-1, ' ', false, Json::error_handler_t::replace));
                std::fclose(file);
            }
            results[i] = std::move(result);
        }
    };
    std::vector<std::jthread> threads;
    for (int i = 0; i < options.jobs; ++i) threads.emplace_back(work);
    threads.clear();
    return results;
}

std::vector<CellResult> read_results(const std::vector<std::string>& files) {
    std::map<std::string, CellResult> newest;
    std::vector<std::string> order;
    for (const std::string& file : files) {
        const std::string content = read_file(file);
        for (const std::string_view line : split(content, '\n')) {
            if (line.empty()) continue;
            CellResult result = CellResult::from_json(parse_json(line, file));
            const std::string name = result.name();
            if (newest.insert_or_assign(name, std::move(result)).second) order.push_back(name);
        }
    }
    std::vector<CellResult> results;
    for (const std::string& name : order) results.push_back(newest.at(name));
    return results;
}

/// In the order of the table's rows and columns, whatever order the shards ran in.
std::vector<CellResult> sorted(const std::vector<CellResult>& results, const std::vector<CellName>& cells) {
    std::vector<CellResult> in_order;
    for (const CellName& cell : cells)
        for (const CellResult& result : results)
            if (result.name() == cell.text()) in_order.push_back(result);
    return in_order;
}

void add_record(const Options& options, const std::string& line) {
    std::string text = read_file(options.record);
    const std::string part = options.shard.empty() ? options.cover ? "cover" : "1/1" : options.shard;
    text += fmt::format("| {} | {} | {}{} | {} |\n", options.commit, this_machine().processor, part,
                        options.peers.empty() ? "" : ", with sentence-transformers", line);
    write_file_atomic(options.record, text);
}

conform::Peer sentence_transformers(const std::string& python) {
    const auto process =
        std::make_shared<conform::LineProcess>(std::vector<std::string>{python, FACETER_SOURCE_DIR "/tests/matrix/peer_encode.py"});
    return [process](const fs::path& folder, const std::string& prompt, const std::vector<std::string>& texts) {
        return process->ask({{"folder", folder.string()}, {"prompt", prompt}, {"texts", texts}});
    };
}

int matrix(const Options& options) {
    std::vector<Row> rows = made_rows();
    if (!options.cover)
        for (Row& row : fixture_rows(options.fixtures)) rows.push_back(std::move(row));
    const std::vector<Column> all_columns = columns();
    const std::vector<KnownDefect> known = read_known_defects(FACETER_SOURCE_DIR "/tests/matrix/known_defects.tsv");
    const auto write_table = [&](const std::vector<CellResult>& results) {  // of what the harness makes: the same on every machine
        const std::vector<Row> made = made_rows();
        if (!options.table.empty()) write_file_atomic(options.table, conform::capabilities(sorted(results, all_cells(made, all_columns))));
    };
    if (!options.from.empty()) {
        const auto results = sorted(read_results(options.from), all_cells(rows, all_columns));
        fmt::print("{}\n", summary(results, known));
        write_table(results);
        return 0;
    }
    const std::vector<CellName> cells = chosen(options, rows, all_columns);
    if (options.list) {
        for (const CellName& cell : cells) fmt::print("{}\n", cell.text());
        return 0;
    }
    const TemporaryDirectory own;
    const fs::path folder = options.keep.empty() ? own.path() : absolute_path(options.keep);
    conform::Laboratory laboratory{folder, conform::write_texts(folder / "texts"),
                                   conform::Programs(fs::path(options.bin) / "faceter", fs::path(options.bin) / "faceter-worker"),
                                   Catalogue::load({fs::path(options.bin).parent_path() / "lib/faceter/plugins"})};
    laboratory.dropout = options.dropout;
    if (!options.peers.empty()) laboratory.peer = sentence_transformers(options.peers);
    for (const CellName& cell : cells) start_model(*cell.row, folder / "models");
    const auto results = run(options, cells, laboratory, known);
    const bool whole_cover = options.cover && options.only.empty() && options.shard.empty();
    const std::vector<std::string> untried = whole_cover ? never_tried(results) : std::vector<std::string>{};
    const std::string line = summary(results, known);
    write_table(results);
    if (!options.record.empty())
        add_record(options, line + (untried.empty() ? "" : fmt::format("; never tried: {}", fmt::join(untried, ", "))));
    for (const std::string& column : untried) fmt::print("every start model refuses '{}': nothing of it was tried\n", column);
    fmt::print("{}\n", line);
    return line.ends_with(" 0 wrong") && untried.empty() ? 0 : 1;
}

}  // namespace
}  // namespace faceter::matrix

int main(int argc, char** argv) {
    ::setenv("OMP_NUM_THREADS", "1", 1);  // of every process that is started; results are compared in bits
    faceter::matrix::Options options;
    const char* shared = std::getenv("FACETER_SHARED");
    options.fixtures = shared ? shared + std::string("/fixtures") : FACETER_SOURCE_DIR "/../shared/fixtures";
    if (const char* peers = std::getenv("FACETER_PEERS")) options.peers = peers;
    ::unsetenv("FACETER_PEERS");  // 'faceter export' would start a Python each time; one serves all cells
    CLI::App app("Every start model under every variant through every operation: N cells: n hold, r refused, w wrong.", "faceter-matrix");
    app.add_option("--bin", options.bin, "Folder of the programs faceter and faceter-worker");
    app.add_option("--fixtures", options.fixtures, "Folder of start models besides those that are made");
    app.add_option("--peers", options.peers, "Python with sentence-transformers; default: FACETER_PEERS");
    app.add_flag("--cover", options.cover, "The pairwise cover of the made start models");
    app.add_option("--shard", options.shard, "I/N: one of N parts");
    app.add_option("--only", options.only, "Cells whose name ('bert x IC') fits a pattern, as in 'bert x TLR*'");
    app.add_option("--laws", options.laws, "Try these laws alone")->delimiter(',')->check(CLI::IsMember(faceter::conform::all_laws));
    app.add_option("--jobs", options.jobs, "Cells at the same time")->check(CLI::Range(1, 256));
    app.add_option("--dropout", options.dropout, "Of every training; 0 on a GPU, which draws otherwise in bf16 and in chunks")
        ->check(CLI::Range(0.0, 0.9));
    app.add_option("--keep", options.keep, "Work in this folder and leave it");
    app.add_option("--results", options.results, "Append each cell's result to this file, a JSON object a line");
    app.add_option("--from", options.from, "Run nothing: read such files, and write --table from them");
    app.add_option("--table", options.table, "Write the table of capabilities, Markdown");
    app.add_option("--record", options.record, "Append a line to this table of shards (RECORD.md)");
    app.add_option("--commit", options.commit, "With --record: the commit");
    app.add_flag("--list", options.list, "Print the cells' names");
    CLI11_PARSE(app, argc, argv);
    try {
        return faceter::matrix::matrix(options);
    } catch (const faceter::Error& error) {
        fmt::print(stderr, "faceter-matrix: {}\n", error.what());
        return static_cast<int>(error.code());
    }
}
