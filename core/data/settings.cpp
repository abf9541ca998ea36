#include "data/settings.h"

#include <fmt/format.h>

#include "data/folder_layout.h"
#include "data/record_reader.h"
#include "data/sources.h"
#include "settings/check.h"

namespace faceter {
namespace {

std::vector<std::string> source_names() {
    std::vector<std::string> names;
    for (const DataSource& source : data_sources()) names.push_back(source.name);
    return names;
}

Field optional_count(std::string key, std::string description) {
    return integer(std::move(key), 0, std::move(description)).at_least(0).optional();
}

Schema made_data_entry_schema() {
    Schema schema{"data entry", "Where examples, test data or texts come from.", {}};
    auto& f = schema.fields;
    f.push_back(text("name", "", "What tables and messages call this data set; default: made of its source, view or folder.").optional());
    f.push_back(choice(
        "source", source_names(), "folder",
        "debian: the package index of the Debian or Ubuntu machine; folder: a BEIR or MTEB folder; file: one file of pairs "
        "or labelled texts. Many tasks from one entry, each with its own instruction: debian_leaves (one a section or debtags value), "
        "medi, natural_instructions."));
    f.push_back(
        path("path", "",
             "The folder or file; for debian: a folder with package lists that were fetched before (default: fetched once and kept).")
            .optional());
    f.push_back(text("view", "",
                     "The task that the debian source makes of its packages: synopsis_description (retrieval), section or implemented_in "
                     "(classification), use (clustering), same_source (pair classification, reranking), descriptions (texts).")
                    .optional());
    f.push_back(list("sections", text("", "", "A section, such as science."),
                     "debian: only packages of these sections of the archive; empty: of all."));
    f.push_back(boolean("other_documents", false,
                        "debian, retrieval: the corpus holds the documents of all sections, the queries are of those that are named."));
    f.push_back(
        text("split", "", "The part to use, such as train, dev or test; default: train for training, test for evaluation.").optional());
    f.push_back(text("task", "",
                     "Evaluation: how the data are scored (retrieval, reranking, classification, multilabel_classification, clustering, "
                     "pair_classification, sts, summarisation, bitext_mining); default: what the data say.")
                    .optional());
    f.push_back(optional_count(
        "max_examples", "At most so many training examples, test texts, pairs or sentences a set, chosen by hash; 0 and default: all."));
    f.push_back(optional_count(
        "max_documents",
        "Retrieval: at most so many documents; the relevant ones of the queries that are kept are always among them; 0 and default: all."));
    f.push_back(optional_count("max_queries", "Retrieval: at most so many queries, chosen by hash; 0 and default: all."));
    f.push_back(optional_count("count", "Texts of an analysis: so many, chosen by hash; 0 and default: all.").in("texts"));
    f.push_back(choice("format", {"pairs", "triplets", "labelled", "texts"}, "pairs",
                       "What a file holds; default: what its first record shows. texts: a text a line, or records with a text, each a pair "
                       "with itself (masked-language modelling).")
                    .optional());
    f.push_back(
        choice("on_error", {"fail", "skip"}, "fail", "A bad record ends the run with its file and line, or is left out and counted."));
    f.push_back(
        boolean("exclude_same_id", false, "Retrieval: leave out the document that has the query's id, where queries stand in the corpus.")
            .from("MTEB: ArguAna, Quora"));
    f.push_back(optional_count("hard_negatives",
                               "Negatives for each example: at most so many of those that the data give, or drawn from other labels; "
                               "default: those that the data give, and of a BEIR folder, whose judgements may name hundreds, none.")
                    .at_most(1000)
                    .optional());
    f.push_back(optional_count("examples_per_label",
                               "Classification: training examples a label in each draw; default: MTEB's number for the set, else 8.")
                    .from("MTEB"));
    f.push_back(list("subsets", text("", "", "A subset."),
                     "Evaluation: only these languages or other subsets of the data set; empty: all, and the score is their mean.")
                    .from("MTEB"));
    f.push_back(text("as", "",
                     "Evaluation: the experiment's task whose instruction and expert the texts get; default: that of the set's type, or "
                     "the seen task "
                     "that stands in for it.")
                    .optional()
                    .from("MoTE, section 5.3"));
    f.push_back(
        choice("role", {"query", "document"}, "", "Evaluation: the role that all texts of the set have; default: as the protocol has it.")
            .optional());
    f.push_back(text("query_instruction", "", "Evaluation: put in front of queries and of texts without a role, in place of the task's.")
                    .optional());
    f.push_back(text("document_instruction", "", "Evaluation: put in front of documents, in place of the task's.").optional());
    f.push_back(section("instructions",
                        {"instructions",
                         "What stands in front of this data set's texts in place of its task's instructions; {leaf} is the name of a leaf.",
                         {
                             text("query", "", "Instruction of queries."),
                             text("document", "", "Instruction of positives."),
                             text("negative", "", "Instruction of negatives; default: as for positives.").optional(),
                         }},
                        "Training: instructions of this data set alone; default: its task's, or what the data bring.")
                    .optional());
    f.push_back(optional_count("min_examples",
                               "Sources of many tasks: tasks with fewer examples are left out; default: 20 of debian_leaves, 1 of others.")
                    .optional());
    f.push_back(
        real("noise_rate", 0,
             "Training: this share of each data set's pairs have their positives go round among them, drawn by the run's seed: noise at a "
             "known rate. 0: none.")
            .at_least(0)
            .at_most(1)
            .from("noisy correspondence (Huang et al., 2021)"));
    f.push_back(list("labels", text("label", "", "A label."), "Pairs: use only the records with one of these labels, such as entailment."));
    return schema;
}

}  // namespace

const Schema& data_entry_schema() {
    static const Schema schema = made_data_entry_schema();
    return schema;
}

Json whole_entry(const Json& entry) { return filled_in(data_entry_schema(), entry); }

namespace {

/// Which folder holds data of a kind.
std::string folder_of(std::string_view task_type) {
    for (const FolderLayout& layout : folder_layouts())
        if (layout.task == task_type && layout.evaluation)
            return fmt::format("; data of the kind {} come from a folder ({{source: folder, path: DIR}}) with {}", task_type, layout.files);
    return "";
}

}  // namespace

std::string reason_not_scored(std::string_view format, std::string_view task_type) {
    const bool pairs = format != "labelled" && format != "texts", labelled = format == "labelled" || format.empty();
    if ((pairs && task_type == "retrieval") || (labelled && task_type == "clustering")) return {};
    return fmt::format("a file{} cannot be scored as {}; pairs are scored as retrieval, labelled texts as clustering{}",
                       format.empty() ? "" : fmt::format(" of the format {}", format), task_type, folder_of(task_type));
}

std::string reason_not_read(const std::filesystem::path& file, std::string_view format) {
    if (!format.empty() || record_form(file) == RecordForm::json_lines) return {};
    return "a table or text file needs format: pairs, triplets, labelled or texts";
}

}  // namespace faceter
