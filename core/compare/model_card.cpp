#include "compare/model_card.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "checkpoint/hub.h"
#include "common/strings.h"
#include "compare/result_files.h"
#include "data/entry.h"
#include "figure/escape.h"
#include "figure/format.h"
#include "figure/table_export.h"
#include "stats/bootstrap.h"
#include "stats/number.h"

namespace faceter {
namespace {

constexpr std::uint64_t largest_readme = 1 << 20;
constexpr std::size_t longest_licence = 64;

using Results = std::map<std::string, Json>;

Results results_of(const RunDirectory& run) {
    Results results;
    for (const auto& [stem, result] : run.read_results([](const auto&, const auto&) {}))
        if (result.is_object() && result.contains("name") && result.contains("score") && result["score"].is_number())
            results[json_at<std::string>(result, "name", stem)] = result;
    return results;
}

/// Of the start model, scored as it was before training; nothing where the project has no such run.
Results start_results(const RunDirectory& run) {
    if (run.folder().parent_path().filename() != "runs") return {};
    const auto start = start_run_of(run);
    return start ? results_of(*start) : Results();
}

std::vector<double> examples_of(const Json& result) { return json_or<std::vector<double>>(result, "per_example", {}, "a result"); }

/// A name as Markdown's code, which knows no escapes.
std::string code(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '`' || static_cast<unsigned char>(c) < 0x20; }, ' ');
    return "`" + text + "`";
}

/// A model's name, or its folder's: where that lies on one machine leads nowhere on another. One called "model" is in that of its run.
std::string start_name(const std::string& model) {
    if (!model.starts_with('/') && !model.starts_with('.')) return model;
    fs::path folder = fs::path(model).lexically_normal();
    if (folder.filename().empty()) folder = folder.parent_path();
    if (folder.filename() == "model") folder = folder.parent_path();
    return folder.filename().string();
}

std::string interval_text(const Interval& interval) { return fmt::format("[{:.2f}, {:.2f}]", interval.low, interval.high); }

/// "+3.20 [1.10, 5.30], p = 0.004", by the paired bootstrap over examples; empty where one of both has no scores of single examples.
std::string gain_text(const Json& own, const Json& start) {
    const std::vector<double> after = examples_of(own), before = examples_of(start);
    const double gain = own["score"].get<double>() - start["score"].get<double>();
    if (after.size() < 2 || after.size() != before.size()) return format_delta(gain, 2);
    const PairedBootstrapResult test = paired_bootstrap(after, before);
    return fmt::format("{} {}, p = {:.3g}", format_delta(gain, 2), interval_text(test.interval), test.p);
}

std::string scores(const RunDirectory& run) {
    const Results own = results_of(run), start = start_results(run);
    if (own.empty()) return "This run was not evaluated.\n";
    Table table;
    for (const char* title : {"task", "data set", "metric"}) table.add_column(title, ColumnKind::text);
    table.add_column("score", ColumnKind::number, 2);
    table.add_column("95 % interval", ColumnKind::text);
    if (!start.empty()) table.add_column("against the start model", ColumnKind::text);
    for (const auto& [name, result] : own) {
        const std::vector<double> examples = examples_of(result);
        std::vector<Cell> cells{Cell::of(json_or<std::string>(result, "task_type", "", name)), Cell::of(name),
                                Cell::of(json_or<std::string>(result, "metric", "", name)), Cell::of(result["score"].get<double>()),
                                Cell::of(examples.size() < 2 ? "" : interval_text(bootstrap_mean(examples).interval))};
        const auto before = start.find(name);
        const bool comparable = before != start.end() && may_be_of_same_data(result, before->second);
        if (!start.empty()) cells.push_back(Cell::of(comparable ? gain_text(result, before->second) : ""));
        table.add_row(std::move(cells));
    }
    table.footnotes.push_back("Percent, higher is better. Intervals: bootstrap over examples, for metrics that are means over examples.");
    if (!start.empty())
        table.footnotes.push_back(
            "Against the start model of the same experiment: paired bootstrap over examples, two-sided, not adjusted.");
    return export_table(table, TableFormat::md);
}

/// As results and tables name it, where the experiment gives it no name: its file's, else its source's and view's.
std::string name_of(const Json& entry) {
    DataRequest request;
    request.settings = entry;
    return DataEntry(request).set_name();
}

std::string training_data(const Json& settings) {
    std::string text;
    const Json tasks = json_or<Json>(settings, "tasks", Json::object(), "settings");
    for (const auto& [task, own] : tasks.items()) {
        const Json entries = json_or<Json>(own, "train", Json::array(), "settings");
        for (const Json& entry : entries) {
            const auto most = json_or<Json>(entry, "max_examples", Json(), "settings");
            text +=
                fmt::format("- {} ({}): {}{}\n", escape_markdown(task), escape_markdown(json_or<std::string>(own, "type", "", "settings")),
                            escape_markdown(name_of(entry)), most.is_number() ? fmt::format(", at most {} examples", most.dump()) : "");
        }
    }
    return text.empty() ? "Nothing: its weights are the start model's.\n" : text;
}

std::string prompts(const ExportedFolder& folder) {
    if (folder.prompts.empty()) return "None: texts go in as they are.\n";
    std::string text;
    for (const auto& [name, prompt] : folder.prompts)
        text += fmt::format("- {}: {}{}\n", code(name), code(faceter::quoted(prompt)),
                            name == folder.default_prompt ? " (unless another is named)" : "");
    return text;
}

std::string peft_loading(const ExportedFolder& folder, const std::string& encode) {
    std::string text =
        "PEFT, on the base that lies beside the adapters (ADAPTER is one of the folders below):\n\n"
        "    model = SentenceTransformer(FOLDER + \"/base\")\n"
        "    model[0].model = PeftModel.from_pretrained(model[0].model, FOLDER + \"/ADAPTER\")\n" +
        encode + "\n";
    text +=
        "adapter_config.json of each names the base by where it was written (`base_model_name_or_path`), which alone "
        "AutoPeftModelForFeatureExtraction reads. Where this folder was moved, load it as above, or write the new place of `base` "
        "there.\n\n";
    for (const auto& [adapter, prompts] : folder.adapters)
        text +=
            fmt::format("- {}: {}\n", code(adapter), prompts.empty() ? "the run's router chose its texts" : "texts of " + code(prompts));
    return text;
}

std::string onnx_loading(const ExportedFolder& folder, const std::string& encode) {
    std::string text =
        "sentence-transformers (`pip install sentence-transformers[onnx]`):\n\n"
        "    model = SentenceTransformer(FOLDER, backend=\"onnx\")\n" +
        encode;
    if (folder.int8)
        text += "\nThe form in int8" + (folder.int8->empty() ? "" : ", of which " + escape_markdown(*folder.int8)) +
                ":\n\n    model = SentenceTransformer(FOLDER, backend=\"onnx\", model_kwargs={\"file_name\": "
                "\"model_qint8_avx512_vnni.onnx\"})\n";
    return text +
           "\nonnxruntime, with token ids of tokenizer.json, the prompt's included:\n\n"
           "    session = onnxruntime.InferenceSession(\"FOLDER/onnx/model.onnx\")\n"
           "    vectors, = session.run([\"sentence_embedding\"], {\"input_ids\": ids, \"attention_mask\": mask})\n";
}

std::string loading(const ExportedFolder& folder) {
    const bool asks = !folder.prompts.empty() && folder.default_prompt.empty();
    const std::string first = asks ? folder.prompts.begin()->first : "";
    const std::string serve = fmt::format("    faceter embed --model FOLDER{} --output vectors.npy texts.txt\n    faceter serve FOLDER\n",
                                          asks ? " --task " + first : "");
    if (!folder.only_faceter.empty())
        return fmt::format("Faceter alone loads this folder: {}.\n\n{}", escape_markdown(folder.only_faceter), serve);
    std::string encode =
        fmt::format("    vectors = model.encode(texts{})\n", asks ? fmt::format(", prompt_name={}", Json(first).dump()) : "");
    if (asks && !folder.prompts.contains("query"))
        encode +=
            "\nencode_query() and encode_document() put nothing in front of a text, as they do not know these prompts, nor does mteb.\n";
    if (folder.target == "onnx") return onnx_loading(folder, encode);
    if (folder.target == "peft") return peft_loading(folder, encode);
    return "sentence-transformers:\n\n    model = SentenceTransformer(FOLDER)\n" + encode + "\nFaceter:\n\n" + serve;
}

std::string front_matter(const ExportedFolder& folder, const std::string& licence) {
    std::string text = "---\n";
    if (!licence.empty()) text += fmt::format("license: {}\n", licence);
    if (folder.only_faceter.empty()) text += "library_name: sentence-transformers\npipeline_tag: sentence-similarity\n";
    if (const std::string id = HubModel::name_of(folder.start_model); !id.empty()) text += fmt::format("base_model: {}\n", Json(id).dump());
    return text +
           fmt::format("tags: [{}feature-extraction, faceter]\n---\n\n", folder.only_faceter.empty() ? "sentence-transformers, " : "");
}

}  // namespace

std::string licence_of(const fs::path& folder) {
    std::error_code error;
    const fs::path file = folder / "README.md";
    if (folder.empty() || !fs::is_regular_file(file, error) || fs::file_size(file, error) > largest_readme) return "";
    bool inside = false;
    const std::string text = read_file(file, largest_readme);
    for (const std::string_view line : split(text, '\n')) {
        if (line.starts_with("---")) {
            if (inside) break;
            inside = true;
        }
        if (!inside || !line.starts_with("license:")) continue;
        std::string value(line.substr(8));
        std::erase_if(value, [](char c) { return c == ' ' || c == '"' || c == '\'' || c == '\r'; });
        const bool plain =
            std::all_of(value.begin(), value.end(), [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '+'; });
        return plain && value.size() <= longest_licence ? value : "";
    }
    return "";
}

std::string model_card(const RunDirectory& run, const ExportedFolder& folder) {
    const RunInfo& info = run.info();
    const std::string licence = licence_of(folder.start_model);
    const std::string start = json_or<std::string>(run.settings(), "model", "", "settings");
    std::string card = front_matter(folder, licence);
    card += fmt::format("# {}\n\n", escape_markdown(info.group() + (folder.route.empty() ? "" : ", " + folder.route)));
    card += fmt::format("A text embedding model: {} on {}, seed {}, made by Faceter {} as run {}.\n\n", escape_markdown(info.method),
                        code(start_name(start)), info.seed, FACETER_VERSION, code(info.id));
    if (info.smoke) card += "A smoke run: trained on a small sample of its data, to see that everything works.\n\n";
    card += "## How to load it\n\n" + loading(folder) + "\n## Prompts\n\n" + prompts(folder);
    card += "\n## Training data\n\n" + training_data(run.settings()) + "\n## Scores\n\n" + scores(run);
    card += "\n## Licence of the start model\n\n" +
            (licence.empty() ? "Its folder does not name one; look where it comes from.\n" : licence + ", as its README.md says.\n");
    return card + "\n## Verification\n\nfaceter_export.json has the record.\n\n```\n" + folder.proof + "```\n";
}

}  // namespace faceter
