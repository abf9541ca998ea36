// bench_store make FOLDER [RUNS POINTS]: a project of so many runs and series points.
// bench_store measure FOLDER: what the desktop asks of its store, and how long each takes.
#include <algorithm>
#include <chrono>
#include <functional>
#include <random>

#include "common/error.h"
#include "common/strings.h"
#include "record/journal.h"
#include "store/filter.h"
#include "store_project.h"

using namespace faceter;

namespace {

double milliseconds(const std::function<void()>& body) {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// Median and 95th percentile.
void report(const std::string& what, int times, const std::function<void()>& body) {
    std::vector<double> all;
    for (int i = 0; i < times; ++i) all.push_back(milliseconds(body));
    std::sort(all.begin(), all.end());
    fmt::print("{:<58} p50 {:8.2f} ms   p95 {:8.2f} ms   ({} times)\n", what, all[all.size() / 2], all[all.size() * 95 / 100], times);
}

void memory() {
    for (const std::string_view line : split(read_file("/proc/self/status"), '\n'))
        if (line.starts_with("VmHWM") || line.starts_with("VmRSS")) fmt::print("{}\n", line);
}

void measure_series(Store& store, const std::string& run) {
    const SeriesRange range = store.series_range(run, "loss", SeriesX::step);
    fmt::print("series of {} points\n", range.count);
    report("series_range", 50, [&] { store.series_range(run, "loss", SeriesX::step); });
    for (const auto& [name, x] : {std::pair("step", SeriesX::step), {"time", SeriesX::time}, {"examples", SeriesX::examples}}) {
        const SeriesRange all = store.series_range(run, "loss", x);
        report(fmt::format("all of it at 1,000 columns by {}", name), 50,
               [&] { store.series_sample(run, "loss", x, all.from, all.to, 1000); });
    }
    std::mt19937_64 random(7);
    const auto uniform = [&] { return std::uniform_real_distribution<>(0, 1)(random); };
    const double length = range.to - range.from;
    report("zooms (any width, anywhere) at 1,000 columns", 500, [&] {
        const double width = length * std::pow(10, -5 * uniform()), from = range.from + (length - width) * uniform();
        store.series_sample(run, "loss", SeriesX::step, from, from + width, 1000);
    });
    double from = range.from;
    report("pans (a tenth of the series, by 1/200) at 1,000 columns", 500, [&] {
        from = from + length / 200 > range.to - length / 10 ? range.from : from + length / 200;
        store.series_sample(run, "loss", SeriesX::step, from, from + length / 10, 1000);
    });
    report("all its points", 5, [&] { store.series(run, "loss"); });
}

void measure_lists(Store& store, const fs::path& folder) {
    report("open + runs()", 10, [&] { Store(folder).runs(); });
    report("runs()", 20, [&] { store.runs(); });
    report("run_scores(): all runs, all data sets", 20, [&] { store.run_scores(); });
    report("key_settings()", 20, [&] { store.key_settings(); });
    report("setting(training.learning_rate)", 20, [&] { store.setting("training.learning_rate"); });
    const std::int64_t newest = store.changes_since(0).revision;
    report("changes_since(the newest)", 200, [&] { store.changes_since(newest); });
    report("change_counter()", 200, [&] { store.change_counter(); });
    const std::vector<RunRow> rows = store.runs();
    const std::string run = rows[rows.size() / 2].info.id;
    report("results of one run", 200, [&] { store.results(run); });
    const FilterNames names = filter_names(store);
    for (const char* text : {"variant = mote and retrieval > 0.4", "training.learning_rate < 3e-5 and not tag = paper and scifact > 60"}) {
        const Filter filter = Filter::parse(text, names);
        const FilterData data(store, filter, rows);
        report(fmt::format("filter: {}", text), 20, [&] { filter.matches(data); });
    }
}

void measure_ingest(Store& store, const fs::path& folder) {
    fmt::print("first look (ingest_all) {:.1f} ms\n", milliseconds([&] { store.ingest_all(); }));
    report("ingest_all, nothing new", 10, [&] { store.ingest_all(); });
    report("ingest_changed, nothing new", 40, [&] { store.ingest_changed(); });
    std::vector<RunDirectory> live;
    std::vector<std::unique_ptr<JournalWriter>> journals;
    for (int i = 0; i < 4; ++i) {
        bench::make_run(folder / "runs", 1'000'000 + i);
        const fs::path run = folder / "runs" / bench::place_of(1'000'000 + i).id;
        fs::remove_all(run / "journal/1");
        live.emplace_back(run);
        journals.push_back(std::make_unique<JournalWriter>(live.back(), live.back().begin_attempt(), JournalWriter::Start{}));
    }
    int step = 0;
    const auto write = [&](int steps) {
        for (int i = 0; i < steps; ++i, ++step)
            for (const auto& journal : journals)
                journal->step(
                    {{"step", step}, {"loss", 1.0 / (step + 1)}, {"lr", 1e-5}, {"grad_norm", 1.0}, {"tokens", 9000}, {"pairs", 64}});
        for (const auto& journal : journals) journal->flush();
    };
    write(20'000);
    fmt::print("4 live runs of 20,000 steps seen first {:.1f} ms\n", milliseconds([&] { store.ingest_changed(); }));
    std::vector<double> all;
    for (int i = 0; i < 40; ++i) {
        write(20);
        all.push_back(milliseconds([&] { store.ingest_changed(); }));
    }
    std::sort(all.begin(), all.end());
    fmt::print("ingest_changed, 4 live runs with 20 new steps each: p50 {:.2f} ms, p95 {:.2f} ms\n", all[20], all[38]);
    journals.clear();
    for (const RunDirectory& run : live) fs::remove_all(run.folder());
    store.ingest_changed();
}

int run(int argc, char** argv) {
    const std::string what = argc > 2 ? argv[1] : "";
    if (what == "make") {
        bench::ProjectSize size;
        if (argc > 3) size.runs = static_cast<int>(parse_int(argv[3]).value_or(size.runs));
        if (argc > 4) size.points = parse_int(argv[4]).value_or(size.points);
        fmt::print("made in {:.1f} s\n", milliseconds([&] { bench::make_project(argv[2], size); }) / 1000);
        return 0;
    }
    if (what != "measure") throw usage_error("bench_store make FOLDER [RUNS POINTS] | measure FOLDER");
    {
        Store store(argv[2]);
        if (store.runs().empty()) throw usage_error("{}: holds no runs; bench_store make makes a project that does", argv[2]);
        measure_lists(store, argv[2]);
        measure_series(store, bench::place_of(0).id);
        memory();
        measure_ingest(store, argv[2]);
    }
    memory();
    return 0;
}

}  // namespace

int main(int argc, char** argv) { return run_guarded("bench_store", run, argc, argv); }
