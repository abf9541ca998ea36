#include "experiment/starter.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "common/command.h"
#include "common/error.h"
#include "common/file_name.h"
#include "common/hash.h"
#include "common/printable.h"
#include "common/strings.h"
#include "data/folder_layout.h"
#include "data/sources.h"
#include "experiment/machine.h"

namespace faceter {
namespace {

/// Files and their folders, taken away again unless they are kept: data without their experiment would be in the way of the next try.
class NewFiles {
  public:
    NewFiles() = default;
    NewFiles(const NewFiles&) = delete;
    NewFiles& operator=(const NewFiles&) = delete;
    ~NewFiles() {
        std::error_code ignored;
        std::for_each(made_.rbegin(), made_.rend(), [&](const fs::path& path) { fs::remove(path, ignored); });
    }
    void write(const fs::path& file, std::string_view content) {
        make_folder(file.parent_path());
        made_.push_back(file);
        write_file_atomic(file, content);
    }
    void keep() { made_.clear(); }

  private:
    void make_folder(const fs::path& folder) {
        if (folder.empty() || fs::exists(folder)) return;
        make_folder(folder.parent_path());
        make_directories(folder);
        made_.push_back(folder);
    }

    std::vector<fs::path> made_;
};

/// As a start that was killed leaves it.
bool holds(const fs::path& file, std::string_view content) {
    std::error_code error;
    return fs::is_regular_file(file, error) && fs::file_size(file, error) == content.size() && read_file(file) == content;
}

constexpr std::size_t least_rows = 40, most_held_out = 1000;
constexpr std::string_view packed_endings[]{".gz", ".zst"},
    table_endings[]{".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".parquet", ".txt"};
constexpr std::size_t around_text = 12;  // tokens: an instruction and both ends

std::string yaml(std::string_view text) { return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace); }

/// A file as a shell takes it, in a comment of one line.
std::string typed(const fs::path& file) { return printable(shell_file(file.filename().string())); }

/// As the file is called, in any script: names that are spelt with other letters alone must not meet in one folder of data.
std::string name_of(const fs::path& output) {
    const std::string stem = output.stem().string();
    return stem.starts_with('.') || printable(stem) != stem ? safe_file_name(stem) : stem;
}

/// A folder was named from where the program stands, and the experiment may come to lie elsewhere.
std::string model_line(const std::string& model) {
    std::error_code error;
    const bool folder = model != "minilm" && fs::is_directory(model, error);
    return yaml(folder ? absolute_path(model).lexically_normal().string() : model);
}

/// Where editors find what may stand in the file; nothing where the schema is not installed.
std::string schema_line() {
    try {
        std::string address;
        for (const char c : shared_resource("experiments/experiment.schema.json").string())
            address += std::string_view(" %#?").find(c) == std::string_view::npos ? std::string(1, c) : fmt::format("%{:02X}", c);
        return printable("# yaml-language-server: $schema=file://" + address) + "\n";
    } catch (const Error&) {
        return "";
    }
}

/// Texts of one class belong together: they are no negatives of each other.
const char* objective_line(bool labelled, bool graded = false) {
    if (graded) return "objective: {method: cosent}        # pairs with higher scores shall be nearer";
    return labelled ? "objective: {method: infonce, mask_false_negatives: same_label}   # a batch's texts of other labels are the negatives"
                    : "objective: {method: infonce}       # the other texts of a batch are the negatives";
}

/// Down to its tasks. `made_of`: the data in words; `data`: their name; `length`: the line of max_length, if any.
std::string beginning(const StarterOptions& options, const std::string& made_of, const std::string& data, const std::string& length) {
    std::vector<std::string> seeds;
    for (int seed = 1; seed <= options.seeds; ++seed) seeds.push_back(std::to_string(seed));
    const std::string file = typed(options.output);
    return schema_line() + fmt::format(R"(# Made by 'faceter init' of {}.
# faceter check {}    says what it makes;  faceter run {} --project DIR    runs it;  --smoke first, to see every stage in a minute.
name: {}
description: {}

model: {}              # minilm, a Hugging Face folder, or org/name of the hub
{}precision: bf16         # of the products in training, where the processor has it
seeds: [{}]             # more seeds say how much of a difference is chance

tasks:
)",
                                       made_of, file, file, yaml(name_of(options.output)), yaml("Fine-tuned on " + data),
                                       model_line(options.model), length, join(seeds, ", "));
}

/// From the objective on.
std::string ending(const char* objective, int epochs, const std::string& datasets) {
    return fmt::format(R"({}

training:
  batch_size: 32
  epochs: {}
  learning_rate: 2.0e-5

evaluation:
  baseline: true        # the untrained start model is a row of every table
  datasets:
{})",
                       objective, epochs, datasets);
}

/// A row with what its roles need.
struct StarterRow {
    std::string query, document, label, score;
    std::vector<std::string> negatives;
    bool held_out = false;
};

class TableStarter {
  public:
    TableStarter(const Survey& survey, const ColumnRoles& roles, const StarterOptions& options)
        : survey_(survey), roles_(roles), options_(options), name_(name_of(options.output)) {}

    Starter make() {
        choose_rows();
        hold_out();
        if (roles_.has_scores())
            write_scored();
        else if (roles_.has_pairs())
            write_pairs();
        if (roles_.has_labels()) write_labels();
        remark();
        starter_.experiment = experiment();
        return std::move(starter_);
    }

  private:
    std::string cell(std::size_t row, const std::string& column) const {
        return column.empty() ? std::string() : survey_.rows[row][survey_.column(column)];
    }

    std::vector<std::string> negatives(std::size_t row) const {
        std::vector<std::string> texts;
        for (const std::string& column : roles_.negatives)
            if (std::string text = cell(row, column); !text.empty()) texts.push_back(std::move(text));
        return texts;
    }

    void choose_rows() {
        const std::string& document = roles_.has_pairs() ? roles_.document : roles_.text;
        std::unordered_map<std::uint64_t, std::string> seen;  // with the label that a text has first
        std::unordered_set<std::uint64_t> disputed;
        std::map<std::string, std::size_t> labels;
        std::size_t blank = 0, repeated = 0;
        for (std::size_t i = 0; i < survey_.rows.size(); ++i) {
            StarterRow row{cell(i, roles_.query), cell(i, document), cell(i, roles_.label), cell(i, roles_.score), negatives(i)};
            const bool whole = !row.document.empty() && (!roles_.has_pairs() || !row.query.empty()) &&
                               (!roles_.has_labels() || !row.label.empty()) && (!roles_.has_scores() || !row.score.empty());
            const std::uint64_t hash = hash64(roles_.has_scores() ? row.query + '\0' + row.document : row.document);
            const bool fresh = whole && seen.emplace(hash, row.label).second;
            if (whole && seen.at(hash) != row.label) disputed.insert(hash);
            blank += !whole;
            repeated += whole && !fresh;
            if (!fresh) continue;
            ++labels[row.label];
            rows_.push_back(std::move(row));
        }
        const auto remark = [&](std::size_t count, std::string one, std::string_view more) {
            if (count > 0) starter_.remarks.push_back(count == 1 ? std::move(one) : fmt::format("{} {}", count, more));
        };
        remark(blank, "1 row lacks a value and is left out.", "rows lack a value and are left out.");
        remark(repeated, "1 row repeats a text and is left out.", "rows repeat a text and are left out.");
        remark(disputed.size(), "1 of these texts has two labels or more; it keeps its first.",
               "of these texts have two labels or more; each keeps its first.");
        const std::string why =
            blank + repeated == 0 ? "" : fmt::format(" ({} lack a value, {} repeat a text of {})", blank, repeated, printable(document));
        check_count(why);
        if (roles_.has_labels()) drop_rare_labels(labels);
        check_count(why);
    }

    void check_count(const std::string& why) const {
        if (rows_.size() < least_rows)
            throw data_error("{}: {} rows are left of {}{}; at least {} are needed to train on some and score on others",
                             survey_.file.string(), rows_.size(), survey_.rows.size(), why, least_rows);
    }

    void drop_rare_labels(const std::map<std::string, std::size_t>& labels) {
        constexpr std::size_t least = 4;
        const std::size_t before = rows_.size();
        std::erase_if(rows_, [&](const StarterRow& row) { return labels.at(row.label) < least; });
        std::set<std::string> left;
        for (const StarterRow& row : rows_) left.insert(row.label);
        if (left.size() < 2)
            throw data_error("{}: column {} has {} value{} that stand in {} rows or more; at least 2 are needed", survey_.file.string(),
                             faceter::quoted(roles_.label), left.size(), left.size() == 1 ? "" : "s", least);
        if (rows_.size() < before)
            starter_.remarks.push_back(before - rows_.size() == 1
                                           ? fmt::format("1 row has a label that stands in fewer than {} rows; it is left out.", least)
                                           : fmt::format("{} rows have a label that stands in fewer than {} rows; they are left out.",
                                                         before - rows_.size(), least));
        num_labels_ = left.size();
    }

    /// By hash of the document, so that the same text is held out whatever else is in the file. A query that is trained on is not scored.
    void hold_out() {
        const std::size_t wanted = std::min(most_held_out, rows_.size() / 5);
        std::vector<std::pair<std::uint64_t, std::size_t>> order;
        for (std::size_t i = 0; i < rows_.size(); ++i) order.emplace_back(hash64(rows_[i].document, 1), i);
        std::sort(order.begin(), order.end());
        for (std::size_t i = 0; i < wanted; ++i) rows_[order[i].second].held_out = true;
        std::unordered_set<std::string> queries, kept;
        for (const StarterRow& row : rows_)
            if (!row.held_out && roles_.has_pairs()) queries.insert(row.query);
        for (const StarterRow& row : rows_)
            if (!row.held_out) kept.insert(row.label);
        std::erase_if(rows_,
                      [&](const StarterRow& row) { return row.held_out && (queries.contains(row.query) || !kept.contains(row.label)); });
        for (const StarterRow& row : rows_) ++(row.held_out ? held_out_ : trained_);
        if (held_out_ < 5)
            throw data_error("{}: {} rows can be held out: nearly all queries stand in several rows; bring a file with more of them",
                             survey_.file.string(), held_out_);
    }

    std::string folder() const { return name_ + "-data"; }

    template <typename Line>
    void write(const std::string& kind, Line line) {
        std::string train, test;
        for (const StarterRow& row : rows_)
            (row.held_out ? test : train) += line(row).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
        const fs::path place = options_.output.parent_path() / folder() / kind;
        starter_.files.emplace_back(place / "train.jsonl", std::move(train));
        starter_.files.emplace_back(place / "test.jsonl", std::move(test));
    }
    void write_pairs() {
        write("pairs", [](const StarterRow& row) {
            Json line{{"query", row.query}, {"document", row.document}};
            if (!row.negatives.empty()) line["negatives"] = row.negatives;
            return line;
        });
    }
    /// As the STS tasks of MTEB have them.
    void write_scored() {
        write("scored", [](const StarterRow& row) {
            return Json{{"sentence1", row.query}, {"sentence2", row.document}, {"score", parse_double(row.score).value_or(0)}};
        });
    }
    void write_labels() {
        write("labels", [](const StarterRow& row) { return Json{{"text", row.document}, {"label", row.label}}; });
        starter_.files.emplace_back(options_.output.parent_path() / folder() / "labels/dataset.json", "{\"task\": \"classification\"}\n");
    }

    int max_length() const {
        std::size_t tokens = 0;
        std::vector<std::string> columns{roles_.query, roles_.document, roles_.text};
        columns.insert(columns.end(), roles_.negatives.begin(), roles_.negatives.end());
        for (const std::string& column : columns)
            if (!column.empty()) tokens = std::max(tokens, survey_.columns[survey_.column(column)].tokens_95);
        for (const int length : {32, 48, 64, 96, 128, 192})
            if (tokens + around_text <= static_cast<std::size_t>(length)) return length;
        return 256;
    }

    void remark() {
        for (const SurveyedColumn& column : survey_.columns)
            if (roles_.has_pairs() && column.lists > 0 && is_name_of_a_role(column.name))
                starter_.remarks.push_back(fmt::format("{} holds lists and is left out. Such records can be trained on as they are: {}.",
                                                       printable(column.name), entry_of_lists(survey_.file)));
        if (survey_.cut) starter_.remarks.push_back(fmt::format("Only the first {} rows were read.", most_surveyed_rows));
        std::vector<std::string> others;
        for (const auto& [language, share] : survey_.languages)
            if (language != "en" && share >= 0.1) others.push_back(fmt::format("{} {:.0f} %", language, 100 * share));
        if (!others.empty() && options_.model == "minilm")
            starter_.remarks.push_back(
                fmt::format("Languages seen: {}. MiniLM was trained on English: a multilingual start model (model: "
                            "intfloat/multilingual-e5-small) may do better.",
                            join(others, ", ")));
        if (max_length() == 256)
            starter_.remarks.push_back("Some texts are longer than 256 tokens, and are cut there: MiniLM takes no more.");
    }

    /// Each pair that is trained on has a negative.
    bool are_triplets() const {
        return std::all_of(rows_.begin(), rows_.end(), [](const StarterRow& row) { return row.held_out || !row.negatives.empty(); });
    }

    /// Other models have limits of their own, which stand where none is named.
    std::string length_line() const {
        return options_.model != "minilm"
                   ? ""
                   : fmt::format("max_length: {:<13} # tokens; longer texts are cut. About 95 of 100 of these are shorter\n", max_length());
    }

    /// A few hundred steps, so that a first answer is there within minutes.
    int epochs() const { return trained_ < 1000 ? 3 : trained_ < 5000 ? 2 : 1; }

    std::string sts_task() const {
        return fmt::format(R"(  sts:                 # {} and {}, by {}
    instructions: {{text: "sts: "}}
    batching: homogeneous
    train:
      - {{name: scored, path: {}}}
)",
                           printable(roles_.query), printable(roles_.document), printable(roles_.score), yaml(folder() + "/scored"));
    }

    std::string tasks() const {
        if (roles_.has_scores()) return sts_task();
        std::string out;
        if (roles_.has_pairs())
            out += fmt::format(R"(  retrieval:           # from {} to its {}
    instructions: {{query: "search query: ", document: "search document: "}}
    temperature: 0.05
    batching: homogeneous
    train:
      - {{name: pairs, source: file, format: {}, path: {}}}
)",
                               printable(roles_.query), printable(roles_.document), are_triplets() ? "triplets" : "pairs",
                               yaml(folder() + "/pairs/train.jsonl"));
        if (roles_.has_labels())
            out += fmt::format(R"(  classification:      # {} by its {}: {} labels
    instructions: {{text: "classification: "}}
    temperature: 0.05
    batching: heterogeneous
    train:
      - {{name: labels, path: {}}}
)",
                               printable(roles_.has_pairs() ? roles_.document : roles_.text), printable(roles_.label), num_labels_,
                               yaml(folder() + "/labels"));
        return out;
    }

    std::string variants() const {
        std::string out =
            "  EM: {method: dense}                            # one encoder, no instructions\n"
            "  IC: {method: instruction}                      # the instruction stands in front of the text\n";
        if (roles_.has_pairs() && roles_.has_labels()) out += "  MoTE: {method: mote, placement: every_other}   # and picks an expert\n";
        return out;
    }

    std::string datasets() const {
        if (roles_.has_scores())
            return fmt::format("    - {{name: {}, path: {}, task: sts}}\n", yaml(name_ + " scored"), yaml(folder() + "/scored"));
        std::string out;
        if (roles_.has_pairs())
            out += fmt::format("    - {{name: {}, source: file, format: pairs, path: {}, task: retrieval}}\n", yaml(name_ + " pairs"),
                               yaml(folder() + "/pairs/test.jsonl"));
        if (roles_.has_labels()) {
            out += fmt::format("    - {{name: {}, path: {}, task: classification}}\n", yaml(name_ + " labels"), yaml(folder() + "/labels"));
            out += fmt::format("    - {{name: {}, source: file, format: labelled, path: {}, task: clustering, as: classification}}\n",
                               yaml(name_ + " clusters"), yaml(folder() + "/labels/test.jsonl"));
        }
        return out;
    }

    std::string experiment() const {
        const std::string file = survey_.file.filename().string();
        const std::string made_of =
            fmt::format("{}: {} rows to train on, {} held out for the scores", printable(file), trained_, held_out_);
        return beginning(options_, made_of, file, length_line()) +
               fmt::format(R"({}
variants:
{}
curriculum: {{method: task_aware}}   # each batch is of one task, at that task's temperature
)",
                           tasks(), variants()) +
               ending(objective_line(roles_.has_labels(), roles_.has_scores()), epochs(), datasets());
    }

    const Survey& survey_;
    const ColumnRoles& roles_;
    const StarterOptions& options_;
    std::string name_;
    std::vector<StarterRow> rows_;
    std::size_t num_labels_ = 0, trained_ = 0, held_out_ = 0;
    Starter starter_;
};

}  // namespace

std::string starter_name(const fs::path& source) {
    fs::path name = absolute_path(source);  // "." has a name, too
    if (name.filename().empty()) name = name.parent_path();
    std::error_code error;
    const bool is_folder = fs::is_directory(name, error);
    name = name.filename();
    if (is_folder) return name.string();
    for (const std::span<const std::string_view> endings :
         {std::span<const std::string_view>(packed_endings), std::span<const std::string_view>(table_endings)})
        if (std::ranges::find(endings, lowercase_ascii(name.extension().string())) != endings.end()) name.replace_extension();
    return name.string();
}

Starter start_from_table(const Survey& survey, const ColumnRoles& roles, const StarterOptions& options) {
    return TableStarter(survey, roles, options).make();
}

Starter start_from_folder(const fs::path& folder, const StarterOptions& options) {
    constexpr std::size_t sample = 200;
    const std::string path = absolute_path(folder).string();
    const DataRequest request{{{"path", path}}, ".", 1, sample};
    std::string type;
    bool labelled = false;
    try {
        type = load_evaluation_set(request).task_type;
        labelled = !load_training_set(request, type).label_names.empty();
    } catch (const Error& error) {
        if (error.code() != ExitCode::data && error.code() != ExitCode::settings) throw;
        throw data_error("{}. An experiment needs {} of this folder; 'faceter evaluate' scores a model on it without training",
                         error.what(), type.empty() ? "a part to score" : "a part to train on");
    }
    const bool asymmetric = type == "retrieval" || type == "reranking";
    const std::string length = options.model == "minilm" ? "max_length: 128         # tokens; longer texts are cut\n" : "";
    Starter starter;
    starter.experiment =
        beginning(options, "the folder " + printable(path), folder.string(), length) +
        fmt::format(
            R"(  {}:
    instructions: {}
{}    batching: homogeneous
    train:
      - {{path: {}, max_examples: 5000}}

variants:
  EM: {{method: dense}}         # one encoder, no instructions
  IC: {{method: instruction}}   # the instruction stands in front of the text

curriculum: {{method: task_aware}}
)",
            type,
            asymmetric ? R"({query: "search query: ", document: "search document: "})" : fmt::format("{{text: {}}}", yaml(type + ": ")),
            type == "sts" ? "" : "    temperature: 0.05\n",  // CoSENT has a scale of its own
            yaml(path)) +
        ending(objective_line(labelled, type == "sts"), 1, fmt::format("    - {{path: {}}}\n", yaml(path)));
    return starter;
}

void write_starter(const Starter& starter, const fs::path& output) {
    if (fs::exists(output)) throw usage_error("{}: it is there already; choose another name for the experiment", output.string());
    for (const auto& [file, content] : starter.files)
        if (fs::exists(file) && !holds(file, content))
            throw usage_error("{}: it is there already, perhaps of another experiment; choose another name, or move its folder away",
                              file.string());
    NewFiles written;
    for (const auto& [file, content] : starter.files)
        if (!fs::exists(file)) written.write(file, content);
    written.write(output, starter.experiment);
    written.keep();
}

}  // namespace faceter
