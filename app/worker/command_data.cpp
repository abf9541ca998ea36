#include <ATen/ATen.h>
#include <fmt/format.h>

#include <utility>

#include "commands.h"
#include "common/abandoned.h"
#include "common/atomic_file.h"
#include "common/cancel.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/json_text.h"
#include "common/lock_file.h"
#include "common/printable.h"
#include "common/progress.h"
#include "common/strings.h"
#include "data/leaves.h"
#include "data/record.h"
#include "data/sources.h"
#include "eval/embedding_chunks.h"
#include "eval/set_mining.h"
#include "kept_input.h"
#include "named_model.h"
#include "number_range.h"
#include "plugin/teacher.h"
#include "token_caches.h"

// faceter data mine, filter and score: training pairs in, training pairs out, judged by a teacher. Work lies in OUTPUT.work until the
// output is whole: embeddings by chunk and results by part, so that a stopped command goes on where it was.

namespace faceter::worker {
namespace {

struct TeacherOptions {
    ModelOptions model;
    std::string input, output, on_error = "fail";
    std::optional<std::string> query_instruction, document_instruction;  ///< empty: none, where the model has a prompt as well
    bool restart = false, json = false;
};
struct MineOptions : TeacherOptions {
    MiningSettings mining;
    std::string corpus;
    bool filter_given = false;
};
struct FilterOptions : TeacherOptions {
    std::size_t top_k = 2, shard = 1'000'000;
};

constexpr std::size_t examples_a_part = 8192;

void stop_where_wanted(const fs::path& work) {
    if (stop_requested() != StopRequest::none)
        throw Error(ExitCode::stopped, fmt::format("stopped; what is done lies in {}, the same command goes on from there", work.string()));
}

/// The texts of both sides, embedded.
struct EmbeddedSides {
    EmbeddingChunks queries, documents;
};

/// Data error before the teacher is opened, which takes a while.
const TeacherOptions& with_input(const TeacherOptions& options) {
    if (std::error_code ignored; !fs::exists(options.input, ignored)) throw data_error("{}: no such file", options.input);
    return options;
}

/// A setting of experiments is a flag here.
TrainingSet read_pairs(const TeacherOptions& options) {
    try {
        return load_training_set(
            {{{"source", "file"}, {"path", options.input}, {"format", "pairs"}, {"on_error", options.on_error}}, fs::current_path()},
            "retrieval");
    } catch (const Error& error) {
        throw with_advice(error, "or give --on-error skip to leave such records out and count them");
    }
}

/// What the commands share: the pairs, the teacher, and the folder of the work.
class TeacherWork {
  public:
    TeacherWork(const TeacherOptions& options, const Json& settings)
        : options_(with_input(options)),
          opened_(open_model(options.model, false)),
          teacher_(*opened_.model, nullptr),
          work_(options.output + ".work") {
        if (std::error_code ignored; fs::is_directory(options.output, ignored))
            throw usage_error("--output {}: is a folder; give the file to write", options.output);
        keep_input(options.input, options.output);
        pairs_ = read_pairs(options);
        for (const std::string& warning : warnings_of(pairs_.card)) say(stderr, "warning: {}\n", warning);
        if (!options.query_instruction && !options.document_instruction) note_missing_task(options.model, opened_, false);
        check_task();
        routes_[0] = route(Role::query, options.query_instruction);
        routes_[1] = route(Role::document, options.document_instruction);
        claim_folder(settings);
    }

    const TrainingSet& pairs() const { return pairs_; }
    Similarity similarity() const { return teacher_.similarity(); }
    const Route& route(Role role) const { return routes_[role == Role::document]; }
    EmbeddedSides embed(std::vector<std::string_view> queries, std::vector<std::string_view> documents) const {
        EmbeddedSides sides{chunks("queries", std::move(queries), Role::query), chunks("documents", std::move(documents), Role::document)};
        complete(sides.queries, "embed queries");
        complete(sides.documents, "embed documents");
        return sides;
    }

    /// Runs `work` for each part that has no result yet: it returns the part's lines and what it counted.
    void in_parts(std::size_t count, const char* what, const std::function<std::pair<std::string, Tally>(std::size_t part)>& work) const {
        ProgressLine progress(what, count, "parts");
        std::vector<std::size_t> missing;
        for (std::size_t part = 0; part < count; ++part)
            if (!fs::exists(tally_file(part))) missing.push_back(part);
        std::size_t done = count - missing.size();
        progress.start_at(done);
        for (const std::size_t part : missing) {
            const auto [lines, tally] = work(part);
            write_file_atomic(lines_file(part), lines);
            write_file_atomic(tally_file(part), Json(tally).dump());
            progress.update(++done);
            stop_where_wanted(work_);
        }
        progress.finish();
    }

    /// Joins the parts into the output, prints what went, and removes the folder.
    void finish(std::size_t parts, Json report) const {
        Tally total;
        remove_abandoned(options_.output);
        AtomicFile out(options_.output);
        for (std::size_t part = 0; part < parts; ++part) {
            out.write(read_file(lines_file(part)));
            const Json tally = read_json(tally_file(part));
            for (const auto& [reason, count] : tally.items()) total[reason] += count.get<std::size_t>();
        }
        report["input"] = options_.input;
        report["output"] = options_.output;
        report["teacher"] = options_.model.model;
        report["instructions"] = {{"query", routes_[0].instruction}, {"document", routes_[1].instruction}};
        report["counts"] = total;
        report["input_card"] = pairs_.card;
        write_file_atomic(options_.output + ".report.json", json_text(report, 1) + "\n");
        out.commit();
        remove_results();
        remove_tree(work_);
        if (options_.json) {
            fmt::print("{}\n", json_text(report, 1));
            return;
        }
        for (const auto& [reason, count] : total) fmt::print("{:>10}  {}\n", count, reason);
        fmt::print("{}\n", options_.output);
    }

    Json line(const Example& example) const {
        Json json = {{"query", pairs_.texts[example.anchor]}, {"document", pairs_.texts[example.positive]}};
        if (example.label >= 0) json["label"] = pairs_.label_names[static_cast<std::size_t>(example.label)];
        add_instructions(json);
        return json;
    }
    /// The same with its given negatives.
    Json whole_line(const Example& example) const {
        Json json = line(example);
        for (const std::uint32_t text : given_negatives(pairs_, example)) json["negatives"].push_back(pairs_.texts[text]);
        return json;
    }

  private:
    /// What the input says stands in front of its texts: the output is trained on in its place.
    void add_instructions(Json& line) const {
        const auto own = own_instructions(pairs_);
        if (!own) return;
        if (!own->query.empty()) line["query_instruction"] = own->query;
        if (!own->document.empty()) line["document_instruction"] = own->document;
        if (own->negative != own->document) line["negative_instruction"] = own->negative;
    }
    EmbeddingChunks chunks(const char* name, std::vector<std::string_view> texts, Role role) const {
        return {work_, name, std::move(texts), *opened_.model, route(role), teacher_.similarity() == Similarity::cosine};
    }
    void complete(const EmbeddingChunks& chunks, const char* what) const {
        ProgressLine progress(what, chunks.num_texts(), "texts");
        bool begun = false;
        chunks.complete([&](std::size_t done) {
            if (!std::exchange(begun, true)) progress.start_at(done);
            progress.update(done);
            stop_where_wanted(work_);
        });
        progress.finish();
    }
    fs::path lines_file(std::size_t part) const { return work_ / fmt::format("part-{:06}.jsonl", part); }
    fs::path tally_file(std::size_t part) const { return work_ / fmt::format("part-{:06}.json", part); }

    /// Errors (usage): --task names none of the model's, whose texts would go in without an instruction.
    void check_task() const {
        const std::string& task = options_.model.task;
        if (task.empty() || teacher_.knows(task)) return;
        std::vector<std::string> known;
        for (const auto& [key, route] : opened_.model->routes)
            if (known.empty() || known.back() != key.first) known.push_back(key.first);
        if (!known.empty()) throw usage_error("no task {} in this model{}", faceter::quoted(task), suggestion(task, known));
        throw usage_error("--task: {} has no tasks that differ; leave it out, or give --query-instruction and --document-instruction",
                          opened_.model->folder.folder.string());
    }

    /// The task's part of the model under the instruction given, else under the run's for its task, else the folder's prompt.
    Route route(Role role, const std::optional<std::string>& instruction) const {
        if (instruction && options_.model.task.empty()) return {*instruction};
        Route route = teacher_.route(options_.model.task, role);
        if (instruction) route.instruction = *instruction;
        return route;
    }

    /// A folder that somebody else made is neither written into nor removed at the end. One that was claimed holds plan.json first.
    void check_own_folder() const {
        std::error_code error;
        for (fs::directory_iterator it(work_, error), end; !error && it != end; it.increment(error))
            if (!fs::exists(work_ / "plan.json") && !it->path().filename().string().starts_with("plan.json"))
                throw usage_error(
                    "{}: is there and was not made by this command, whose work would go there; move it, or give another --output",
                    work_.string());
    }

    /// All but the plan, which says that the folder is this command's also where the removal is cut short.
    void remove_results() const {
        for (const auto& entry : fs::directory_iterator(work_))
            if (entry.path().filename() != "plan.json") remove_tree(entry.path());
    }

    /// One program at a time: two that fill one folder join each other's parts, and the first to end removes it under the second.
    void lock_folder() {
        do {  // it may have been removed by one that just ended
            make_directories(work_);
            lock_.emplace(work_);
            if (lock_->try_lock() == LockOutcome::held)
                throw usage_error("{}: another 'faceter data' is at work in it for the same --output; wait for that, or give another",
                                  work_.string());
        } while (!fs::exists(work_));
    }

    /// The folder belongs to these settings, texts and weights, or to nobody yet.
    void claim_folder(Json settings) {
        settings["input"] = sha256_file(options_.input);
        settings["teacher"] = teacher_.fingerprint();
        if (!options_.model.task.empty()) settings["task"] = options_.model.task;
        settings["query_instruction"] = routes_[0].instruction;
        settings["document_instruction"] = routes_[1].instruction;
        const fs::path plan = work_ / "plan.json";
        lock_folder();
        check_own_folder();
        if (options_.restart)
            remove_results();
        else if (fs::exists(plan) && read_json(plan) != settings)
            throw usage_error(
                "{}: holds the work of another input, teacher or settings; give --restart to throw it away, or another --output",
                work_.string());
        write_file_atomic(plan, settings.dump(1));
    }

    const TeacherOptions& options_;
    OpenedModel opened_;
    ModelTeacher teacher_;
    TrainingSet pairs_;
    fs::path work_;
    std::optional<LockFile> lock_;
    Route routes_[2];
};

FeatureMatrix view(const at::Tensor& rows) { return {rows.data_ptr<float>(), rows.size(0), rows.size(1)}; }

/// What may be mined: the documents of the pairs, then those of a further corpus.
class MiningDocuments {
  public:
    MiningDocuments(const TeacherWork& work, const MineOptions& options) : texts_(work.pairs().texts) {
        for (const Example& example : work.pairs().examples) {
            own_.of(example.positive);
            for (const std::uint32_t text : given_negatives(work.pairs(), example)) own_.of(text);
        }
        ids_ = own_.texts;
        views_ = own_.views(texts_);
        if (options.corpus.empty()) return;
        const std::unordered_set<std::string_view> seen(views_.begin(), views_.end());
        std::unordered_map<std::string_view, std::uint32_t> queries;
        for (const Example& example : work.pairs().examples) queries.emplace(texts_[example.anchor], example.anchor);
        Numbering asked;  // texts of the corpus that are queries keep their numbers, by which no query gets its own text as a negative
        for (const std::string& text :
             load_texts({{{"source", "file"}, {"path", options.corpus}, {"on_error", options.on_error}}, fs::current_path()})) {
            if (seen.contains(text)) continue;
            const auto query = queries.find(text);
            if (query == queries.end())
                corpus_.intern(text);
            else
                asked.of(query->second);
        }
        ids_.insert(ids_.end(), asked.texts.begin(), asked.texts.end());
        for (const std::string_view text : asked.views(texts_)) views_.push_back(text);
        for (std::uint32_t i = 0; i < corpus_.size(); ++i) ids_.push_back(texts_.size() + i);
        for (const std::string_view text : corpus_.views()) views_.push_back(text);
    }

    const std::vector<std::string_view>& views() const { return views_; }
    /// By row: a text of the pairs has its number there, one of the corpus a number behind all of them.
    const std::vector<std::uint32_t>& ids() const { return ids_; }
    std::string_view text(std::uint32_t id) const { return id < texts_.size() ? texts_[id] : corpus_[id - texts_.size()]; }
    std::vector<std::uint32_t> rows_of(const Numbering& part) { return own_.of(part); }

  private:
    const TextTable& texts_;
    Numbering own_;
    TextTable corpus_;
    std::vector<std::uint32_t> ids_;
    std::vector<std::string_view> views_;
};

std::span<const Example> part_of(const TrainingSet& pairs, std::size_t begin, std::size_t end) {
    return {pairs.examples.data() + begin, end - begin};
}

std::size_t num_parts(const TrainingSet& pairs) { return (pairs.examples.size() + examples_a_part - 1) / examples_a_part; }

Numbering queries_of(const TrainingSet& pairs) {
    Numbering queries;
    for (const Example& example : pairs.examples) queries.of(example.anchor);
    return queries;
}

/// The negatives of the pairs, a part of them at a time.
class Mining {
  public:
    Mining(const TeacherWork& work, const MineOptions& options)
        : work_(work),
          options_(options),
          queries_(queries_of(work.pairs())),
          documents_(work, options),
          sides_(work.embed(queries_.views(work.pairs().texts), documents_.views())),
          positives_(work.pairs()) {}

    std::pair<std::string, Tally> part(std::size_t number) {
        const TrainingSet& pairs = work_.pairs();
        const std::size_t begin = number * examples_a_part, end = std::min(pairs.examples.size(), begin + examples_a_part);
        JudgedRows rows(pairs, part_of(pairs, begin, end), options_.filter_given, work_.similarity());
        rows.set_queries(sides_.queries.gather(queries_.of(rows.anchors)));
        rows.set_documents(sides_.documents.gather(documents_.rows_of(rows.documents)));
        const auto best = options_.filter_given ? std::vector<std::vector<SearchHit>>() : best_documents(rows);
        std::string lines;
        Tally tally;
        for (const Example& example : part_of(pairs, begin, end)) {
            Json line = work_.line(example);
            line["negatives"] = Json::array();
            for (const std::uint32_t id : negatives_of(example, rows, best, tally)) line["negatives"].push_back(documents_.text(id));
            lines += line.dump() + "\n";
        }
        return {std::move(lines), std::move(tally)};
    }

  private:
    /// Of each query, by its number in `rows`.
    std::vector<std::vector<SearchHit>> best_documents(const JudgedRows& rows) const {
        ExactSearch search(rows.queries(), options_.mining.depth + positives_.most(), rows.similarity(),
                           positives_.own_class(rows.anchors.texts, documents_.ids()));
        for (std::size_t chunk = 0; chunk < sides_.documents.num_chunks(); ++chunk)
            search.add_documents(view(sides_.documents.read(chunk)));
        return search.results();
    }

    std::vector<std::uint32_t> negatives_of(const Example& example, JudgedRows& rows, const std::vector<std::vector<SearchHit>>& best,
                                            Tally& tally) const {
        const double positive = rows.score(example.anchor, example.positive);
        const MiningSettings& s = options_.mining;
        if (options_.filter_given)
            return filter_given(given_negatives(work_.pairs(), example), example.anchor, rows, s.limit(positive), tally);
        return choose_negatives(as_texts(best[rows.anchors.of(example.anchor)], documents_.ids(), rows.similarity()), example, positive,
                                positives_, s, tally);
    }

    const TeacherWork& work_;
    const MineOptions& options_;
    Numbering queries_;
    MiningDocuments documents_;
    EmbeddedSides sides_;
    Positives positives_;
};

int mine(const MineOptions& options) {
    const MiningSettings& s = options.mining;
    const Json settings = {{"command", "mine"},
                           {"negatives", s.negatives},
                           {"depth", s.depth},
                           {"margin", s.margin},
                           {"absolute_margin", s.absolute_margin},
                           {"given", options.filter_given},
                           {"corpus", options.corpus.empty() ? "" : sha256_file(options.corpus)}};
    if (!options.corpus.empty()) keep_input(options.corpus, options.output);
    const TeacherWork work(options, settings);
    Mining mining(work, options);
    const std::size_t parts = num_parts(work.pairs());
    work.in_parts(parts, options.filter_given ? "filter negatives" : "mine", [&](std::size_t part) { return mining.part(part); });
    work.finish(parts, {{"settings", settings}});
    return 0;
}

int filter(const FilterOptions& options) {
    const Json settings = {{"command", "filter"}, {"top_k", options.top_k}, {"shard", options.shard}};
    TeacherWork work(options, settings);
    const TrainingSet& pairs = work.pairs();
    Numbering queries, documents;
    for (const Example& example : pairs.examples) {
        queries.of(example.anchor);
        documents.of(example.positive);
    }
    const EmbeddedSides sides = work.embed(queries.views(pairs.texts), documents.views(pairs.texts));
    const auto shards = shards_of(pairs.examples.size(), options.shard);
    work.in_parts(shards.size(), "filter", [&](std::size_t part) {
        const auto [begin, end] = shards[part];
        JudgedRows rows(pairs, part_of(pairs, begin, end), false, work.similarity());
        rows.set_queries(sides.queries.gather(queries.of(rows.anchors)));
        rows.set_documents(sides.documents.gather(documents.of(rows.documents)));
        const auto hits = exact_search(rows.queries(), rows.document_rows(), options.top_k, rows.similarity());
        std::string lines;
        Tally tally;
        for (std::size_t i = begin; i < end; ++i) {
            const Example& example = pairs.examples[i];
            const bool kept = is_consistent(as_texts(hits[rows.anchors.of(example.anchor)], rows.documents.texts, rows.similarity()),
                                            example.positive, rows.score(example.anchor, example.positive), options.top_k);
            ++tally[kept ? "pairs kept" : "pairs whose document is not among the best"];
            if (!kept) continue;
            Json line = work.whole_line(example);
            if (const auto scores = scores_of(pairs, example); !scores.empty()) line["scores"] = scores;
            lines += line.dump() + "\n";
        }
        return std::pair{std::move(lines), std::move(tally)};
    });
    work.finish(shards.size(), {{"settings", settings}});
    return 0;
}

/// Scores in place of those that the input has.
int score(const TeacherOptions& options) {
    TeacherWork work(options, {{"command", "score"}});
    const TrainingSet& pairs = work.pairs();
    Numbering queries, documents;
    for (const Example& example : pairs.examples) {
        queries.of(example.anchor);
        documents.of(example.positive);
        for (const std::uint32_t text : given_negatives(pairs, example)) documents.of(text);
    }
    const EmbeddedSides sides = work.embed(queries.views(pairs.texts), documents.views(pairs.texts));
    const std::size_t parts = num_parts(pairs);
    work.in_parts(parts, "score", [&](std::size_t part) {
        const std::size_t begin = part * examples_a_part, end = std::min(pairs.examples.size(), begin + examples_a_part);
        JudgedRows rows(pairs, part_of(pairs, begin, end), true, work.similarity());
        rows.set_queries(sides.queries.gather(queries.of(rows.anchors)));
        rows.set_documents(sides.documents.gather(documents.of(rows.documents)));
        std::string lines;
        Tally tally;
        for (std::size_t i = begin; i < end; ++i) {
            const Example& example = pairs.examples[i];
            Json line = work.line(example);
            line["scores"] = Json::array({rows.score(example.anchor, example.positive)});
            for (const std::uint32_t text : each_once(given_negatives(pairs, example), tally)) {
                line["negatives"].push_back(pairs.texts[text]);
                line["scores"].push_back(rows.score(example.anchor, text));
            }
            tally["scores"] += line["scores"].size();
            lines += line.dump() + "\n";
        }
        tally["examples scored"] = end - begin;
        return std::pair{std::move(lines), std::move(tally)};
    });
    work.finish(parts, {{"settings", {{"command", "score"}}}});
    return 0;
}

void add_teacher_options(CLI::App& command, TeacherOptions& options) {
    add_model_options(command, options.model, false);
    command.add_option("--task", options.model.task, "Task of a run whose instructions and experts to use");
    command.add_option_function<std::string>(
        "--query-instruction", [&options](const std::string& text) { options.query_instruction = text; },
        "Instruction in front of queries, \"\" for none; default: the task's, else the model's prompt named query, else its default "
        "prompt");
    command.add_option_function<std::string>(
        "--document-instruction", [&options](const std::string& text) { options.document_instruction = text; },
        "Instruction in front of documents, \"\" for none; default: the task's, else the model's prompt named document or passage, else "
        "its default prompt");
    command.add_option("--output", options.output, "File to write, JSON lines of {query, document, negatives, scores}")->required();
    command.add_option("--on-error", options.on_error, "fail: end at the first bad line; skip: count them")
        ->check(CLI::IsMember({"fail", "skip"}))
        ->capture_default_str();
    command.add_flag("--restart", options.restart, "Throw away what a stopped command left");
    command.add_flag("--json", options.json, "Print the report as JSON");
    command.add_option("INPUT", options.input, "Pairs: JSON lines, .tsv or .csv, also .gz and .zst")->required();
}

void add_mine(CLI::App& data, int& exit_code) {
    const auto mining = std::make_shared<MineOptions>();
    auto* mine_command =
        data.add_subcommand("mine", "Find hard negatives: of the teacher's best documents, those below a margin of the positive's score.");
    mine_command->footer(
        "Example:\n  faceter data mine --model minilm --output mined.jsonl --negatives 7 --margin 0.95 pairs.jsonl\n"
        "  faceter data mine --model minilm --output kept.jsonl --filter-given triplets.jsonl");
    add_teacher_options(*mine_command, *mining);
    mine_command->add_option("--negatives", mining->mining.negatives, "Negatives of each pair, at most")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    mine_command->add_option("--depth", mining->mining.depth, "Best documents that are looked at")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    mine_command->add_option("--margin", mining->mining.margin, "A negative's score stays below this share of the positive's")
        ->check(finite_range(0, 1))
        ->capture_default_str();
    mine_command->add_option("--absolute-margin", mining->mining.absolute_margin, "And below the positive's by this")
        ->check(finite_range(0, 2))
        ->capture_default_str();
    mine_command->add_option("--corpus", mining->corpus, "Further documents: a text a line (.txt) or JSON lines with \"text\"");
    mine_command->add_flag("--filter-given", mining->filter_given,
                           "Mine nothing; drop the input's own negatives that lie above the margin");
    mine_command->callback([=, &exit_code] {
        for (const char* option : {"--negatives", "--depth", "--corpus"})
            if (mining->filter_given && mine_command->count(option) > 0)
                throw usage_error("{} is of negatives that are looked for, and --filter-given looks for none; leave one of the two out",
                                  option);
        exit_code = mine(*mining);
    });
}

void add_filter(CLI::App& data, int& exit_code) {
    const auto filtering = std::make_shared<FilterOptions>();
    auto* filter_command = data.add_subcommand("filter", "Keep the pairs whose document is among the teacher's best for its query.");
    filter_command->footer("Example:\n  faceter data filter --model minilm --output kept.jsonl --top-k 2 pairs.jsonl.gz");
    add_teacher_options(*filter_command, *filtering);
    filter_command->add_option("--top-k", filtering->top_k, "The document must be among so many")
        ->check(CLI::Range(1, 10000))
        ->capture_default_str();
    filter_command->add_option("--shard", filtering->shard, "Pairs that are compared with each other, at most; shards are of equal size")
        ->check(CLI::Range(2, 100'000'000))
        ->capture_default_str();
    filter_command->callback([=, &exit_code] { exit_code = filter(*filtering); });
}

void add_score(CLI::App& data, int& exit_code) {
    const auto scoring = std::make_shared<TeacherOptions>();
    auto* score_command = data.add_subcommand(
        "score", "Write what the teacher says of each query with its document and negatives: the scores that distillation learns from.");
    score_command->footer(
        "Example:\n  faceter data score --model BAAI/bge-base-en-v1.5 --output scored.jsonl triplets.jsonl\n"
        "then train with objective: {method: margin_mse} (or kl, cosent, angle) on scored.jsonl");
    add_teacher_options(*score_command, *scoring);
    score_command->callback([=, &exit_code] { exit_code = score(*scoring); });
}

void add_tokens(CLI::App& data, int& exit_code) {
    const auto tokens = std::make_shared<std::pair<std::string, std::string>>();
    auto* tokens_command = data.add_subcommand("tokens", "Write the token caches of runs (faceter stage calls it).")->group("");
    tokens_command->add_option("RUNS", tokens->first, "JSON: a list of resolved settings")->required();
    tokens_command->add_option("--output", tokens->second, "Folder")->required();
    tokens_command->callback([=, &exit_code] {
        write_token_caches(read_json(tokens->first), tokens->second);
        exit_code = 0;
    });
}

}  // namespace

void add_data(CLI::App& app, int& exit_code) {
    auto* data = app.add_subcommand("data", "Judge training pairs by a teacher.");
    data->require_subcommand(1);
    add_mine(*data, exit_code);
    add_filter(*data, exit_code);
    add_score(*data, exit_code);
    add_tokens(*data, exit_code);
}

}  // namespace faceter::worker
