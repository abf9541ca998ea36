#include "cli/doctor_command.h"

#include <algorithm>
#include <chrono>
#include <iterator>

#include "cli/checks.h"
#include "common/command.h"
#include "common/error.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "data/child_process.h"
#include "experiment/machine.h"
#include "figure/text_width.h"
#include "launch/examine.h"
#include "store/project_findings.h"

namespace faceter::cli {
namespace {

struct DoctorOptions {
    std::string project, profile;
    bool json = false, fix = false;
};

Json to_json(const DoctorFinding& finding) {
    return {{"what", finding.what}, {"command", finding.command}, {"safe", bool(finding.mend)}, {"mended", false}};
}

Json mend(const DoctorFinding& finding) {
    Json json = to_json(finding);
    try {
        finding.mend();
        json["mended"] = true;
    } catch (const std::exception& error) {
        json["error"] = error.what();
    }
    return json;
}

/// A built program has the place of libtorch in itself: where this user cannot read that, another libtorch is no help to it by itself.
std::vector<DoctorFinding> find_in_worker() {
    try {
        const std::string worker = worker_program().string();
        const ChildResult started = run_child({worker, "--help"}, std::chrono::seconds(60), 1 << 20);
        if (started.exit_code == 0) return {};
        const std::string torch = this_machine().torch, folder = fs::path(torch).parent_path().string();
        return {{fmt::format("{} does not start (exit code {}): {}", worker, started.exit_code, trim(started.last_lines)),
                 torch.empty() ? "" : "export LD_LIBRARY_PATH=" + shell_word(folder),
                 {}}};
    } catch (const Error&) {
        return {};  // none is there, which is said with the installation, or it takes longer than help may
    }
}

std::vector<DoctorFinding> find_here(const Cli& cli, const DoctorOptions& options) {
    std::vector<DoctorFinding> found = find_in_installation(load_catalogue(cli));
    const auto add = [&](std::vector<DoctorFinding> more) { std::move(more.begin(), more.end(), std::back_inserter(found)); };
    add(find_in_worker());
    if (!options.project.empty()) add(find_in_project(open_project(options.project)));
    add(find_in_cache());
    return found;
}

/// What this machine is after what was mended; "problems" are the installation's that are left.
Json examine_here(const Cli& cli, const DoctorOptions& options) {
    Json findings = Json::array();
    for (const DoctorFinding& finding : find_here(cli, options))
        findings.push_back(options.fix && finding.mend ? mend(finding) : to_json(finding));
    Json facts = examine_installation(load_catalogue(cli));
    facts["findings"] = std::move(findings);
    return facts;
}

/// Those of a faceter elsewhere, which may be older and say problems alone.
Json findings_of(const Json& facts) {
    if (facts.contains("findings")) return facts["findings"];
    Json findings = Json::array();
    for (const Json& problem : facts["problems"]) findings.push_back(to_json({problem.get<std::string>(), "", {}}));
    return findings;
}

/// Over as many lines as the terminal's width takes, each in the column of the values.
std::string in_lines(const std::vector<std::string>& parts) {
    constexpr int column = 23;
    return join(wrap(join(parts, ", "), terminal_columns(stdout) - 1 - column, LongWords::whole), "\n" + blanks(column));
}

void print_fact(std::string name, const Json& value) {
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (value.is_array()) text = value.empty() ? "none" : in_lines(value.get<std::vector<std::string>>());
    if (name.ends_with("_bytes")) {
        text = format_bytes(value.get<std::uint64_t>());
        name.resize(name.size() - 6);
    }
    std::replace(name.begin(), name.end(), '_', ' ');
    say(stdout, "{:<22} {}\n", name, text.empty() ? "none" : text);
}

void print_finding(const Json& finding) {
    const bool failed = finding.contains("error"), mended = finding["mended"].get<bool>();
    print_wrapped(fmt::format("{}: {}", mended ? "mended" : failed ? "not mended" : "problem", finding["what"].get<std::string>()));
    if (failed) print_wrapped(finding["error"].get<std::string>());
    if (const std::string command = finding["command"].get<std::string>(); !mended && !command.empty()) say(stdout, "    {}\n", command);
}

void print_findings(const Json& findings, const DoctorOptions& options) {
    for (const Json& finding : findings) print_finding(finding);
    const auto safe = std::count_if(findings.begin(), findings.end(), [](const Json& one) { return one["safe"].get<bool>(); });
    if (findings.empty()) fmt::print("all is well\n");
    if (safe == 0 || options.fix || !options.profile.empty()) return;
    const std::string project = options.project.empty() ? "" : " --project " + shell_word(options.project);
    say(stdout, "{} of {} can be mended without loss: faceter doctor --fix{}\n", safe, findings.size(), project);
}

int doctor(const Cli& cli, const DoctorOptions& options) {
    const Json facts = options.profile.empty() ? examine_here(cli, options) : examine_through(read_profile(options.profile));
    const Json findings = findings_of(facts);
    if (options.json) {
        print_json(facts);
    } else {
        for (const auto& [key, value] : facts.items())
            if (key != "problems" && key != "findings") print_fact(key, value);
        print_findings(findings, options);
    }
    const bool failed = std::any_of(findings.begin(), findings.end(), [](const Json& one) { return one.contains("error"); });
    return failed ? static_cast<int>(ExitCode::failed) : 0;
}

}  // namespace

void add_doctor_command(Cli& cli) {
    auto options = std::make_shared<DoctorOptions>();
    CLI::App* command = add_command(cli, cli.app, "doctor", "What is here or behind a profile, what is wrong, what mends it",
                                    "  faceter doctor\n  faceter doctor --profile gpu\n  faceter doctor --project ~/quickstart --fix\n"
                                    "--fix runs `faceter setup` where libtorch or the start model is missing from the cache, removes\n"
                                    "what killed processes left a day ago and locks of processes that are gone, makes a damaged store\n"
                                    "anew and takes into it what it lacks. All else is only said: runs to resume, folders that are no\n"
                                    "runs, plugins to build again, libraries for a GPU (2.5 GB), files of other programs.",
                                    [&cli, options] { return doctor(cli, *options); });
    CLI::Option* place =
        command->add_option("--profile", options->profile, "ask a node of this profile's cluster (srun), or its other machine (ssh)")
            ->check(not_empty())
            ->type_name("NAME");
    command->add_option("--project", options->project, "look at this project as well")
        ->check(not_empty())
        ->excludes(place)
        ->type_name("DIR");
    command->add_flag("--fix", options->fix, "mend what can be mended without loss")->excludes(place);
    command->add_flag("--json", options->json, "print as JSON");
    add_plugin_option(cli, *command);
}

}  // namespace faceter::cli
