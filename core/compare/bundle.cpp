#include "compare/bundle.h"

#include <algorithm>

#include "common/archive.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "compare/bundle_layout.h"
#include "compare/data_cards.h"
#include "compare/references.h"
#include "figure/escape.h"
#include "figure/svg.h"
#include "figure/table_export.h"

namespace faceter {
namespace {

std::string shown(const Json& json) { return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"; }

/// Files of a run's folder that belong into a bundle, sorted.
std::vector<std::string> record_files(const RunDirectory& run) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(run.folder())) {
        const std::string name = entry.path().lexically_relative(run.folder()).string();
        if (!entry.is_symlink() && entry.is_regular_file() && is_record_file(name)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// Adds files and remembers them for bundle.json.
class Bundler {
  public:
    Bundler(const fs::path& archive, std::string top) : writer_(archive), top_(std::move(top)) {}

    void add(const std::string& name, const std::string& content) {
        writer_.add(top_ + "/" + name, content);
        files_.push_back({{"path", name}, {"bytes", content.size()}, {"sha256", sha256_hex(content)}});
    }
    void add_record(const RunDirectory& run) {
        for (const std::string& name : record_files(run)) add("runs/" + run.info().id + "/" + name, read_file(run.folder() / name));
        runs_.push_back(run.info().id);
    }
    void finish(const std::string& title) {
        const Json card = {{"faceter_bundle", bundle_format},
                           {"faceter", FACETER_VERSION},
                           {"title", title},
                           {"created", utc_now()},
                           {"runs", runs_},
                           {"files", files_}};
        writer_.add(top_ + "/bundle.json", shown(card));
        writer_.finish();
    }

  private:
    ArchiveWriter writer_;
    std::string top_;
    Json files_ = Json::array(), runs_ = Json::array();
};

std::string readme(const Report& report, const std::string& archive, bool has_study) {
    std::string text = fmt::format("# {}\n\n{} run{} of Faceter {}, bundled {}.\n\n", escape_markdown(report.title), report.runs.size(),
                                   report.runs.size() == 1 ? "" : "s", FACETER_VERSION, utc_now());
    text +=
        "| file | what |\n| --- | --- |\n"
        "| `report.html` | scores, tests, curves, settings, machines, data on one page |\n"
        "| `tables/`, `figures/` | the same as CSV and SVG |\n"
        "| `data.md`, `data.json` | data and start models: counts, licences, hashes |\n"
        "| `references.bib` | what the methods come from |\n";
    if (has_study) text += "| `study/` | the question as it was put before the runs, and what came of its claims |\n";
    text +=
        "| `runs/` | the records: resolved settings, journals, results with a score an example |\n"
        "| `bundle.json` | the SHA-256 of every file |\n\n";
    text += fmt::format(
        "    faceter open {} --project DIR\n\ntakes the runs into a project, where they are compared and drawn like any others. Models, "
        "training data and "
        "checkpoints are not inside. The records hold the paths and the host names of the machines that the runs were on.\n",
        archive);
    return text;
}

void add_figures(Bundler& bundler, const Report& report) {
    for (const Figure& figure : report.figures) bundler.add("figures/" + safe_file_name(figure.name) + ".svg", figure_to_svg(figure));
    for (const ReportRun& run : report.runs)
        for (std::size_t i = 0; i < run.figures.size(); ++i)
            bundler.add(fmt::format("figures/{}/{:02}-{}.svg", run.info.id, i + 1, safe_file_name(run.figures[i].name)),
                        figure_to_svg(run.figures[i]));
}

void add_tables(Bundler& bundler, const Report& report) {
    std::size_t number = 0;
    for (const Table& table : report_tables(report))
        bundler.add(fmt::format("tables/{:02}-{}.csv", ++number, safe_file_name(table.name)), table_to_csv(table));
}

}  // namespace

void write_bundle(const fs::path& archive, const Report& report, const std::vector<RunDirectory>& runs, const Catalogue& catalogue,
                  const std::vector<BundleFile>& more) {
    for (const RunDirectory& run : runs)
        if (const RunState state = read_state(run); !is_over(state.phase))
            throw usage_error("{} is {}; a bundle holds runs that are over", run.info().shown_name(), run_phase_name(state.phase));
    Bundler bundler(archive, bundle_name(archive));
    bundler.add("README.md", readme(report, archive.filename().string(), !more.empty()));
    bundler.add("report.html", report_to_html(report));
    add_tables(bundler, report);
    add_figures(bundler, report);
    const Json cards = data_cards(report);
    bundler.add("data.json", shown(cards));
    bundler.add("data.md", data_cards_to_markdown(cards));
    bundler.add("references.bib", references_of(runs, catalogue));
    for (const auto& [name, content] : more) bundler.add(name, content);
    for (const RunDirectory& run : runs) bundler.add_record(run);
    bundler.finish(report.title);
}

}  // namespace faceter
