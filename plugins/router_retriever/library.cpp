#include "library.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <unordered_map>

#include "checkpoint/safetensors.h"
#include "common/error.h"
#include "common/hash.h"
#include "common/strings.h"
#include "eval/comparable_rows.h"

namespace faceter {
namespace {

constexpr std::size_t cutoff = 10;

double discount(std::size_t rank) { return std::log2(static_cast<double>(rank) + 2); }

std::vector<std::string_view> views(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

at::Tensor with_column(const at::Tensor& table, const at::Tensor& column) {
    return table.defined() ? at::cat({table, column.unsqueeze(1)}, 1) : column.unsqueeze(1);
}

at::Tensor read_tensor(const SafetensorsFile& file, const std::string& name, DType type, std::int64_t rows) {
    const TensorInfo* info = file.find(name);
    if (!info || info->dtype != type || info->shape.empty() || info->shape[0] != rows)
        throw data_error(
            "{}: tensor '{}' is missing or of another size or type than router.json says; the library is damaged, build it again",
            file.path().string(), name);
    at::Tensor tensor = at::empty(info->shape, type == DType::f64 ? at::kDouble : type == DType::i64 ? at::kLong : at::kFloat);
    file.read(*info, tensor.data_ptr());
    return tensor;
}

}  // namespace

std::vector<int> Library::candidates(bool with_base) const {
    std::vector<int> all;
    if (with_base) all.push_back(0);
    for (std::size_t i = 0; i < gates.size(); ++i)
        if (gates[i].kind == "gate") all.push_back(static_cast<int>(i) + 1);
    return all;
}

int Library::own_gate(const std::string& domain, const std::vector<int>& candidates) const {
    for (const int expert : candidates)
        if (expert > 0 && gates[static_cast<std::size_t>(expert) - 1].domain == domain) return expert;
    return -1;
}

std::vector<std::size_t> Library::domains_of(const std::vector<int>& candidates) const {
    std::vector<std::size_t> own(domains.size());
    std::iota(own.begin(), own.end(), std::size_t{0});
    std::erase_if(own, [&](std::size_t d) { return own_gate(domains[d].name, candidates) < 0; });
    if (!own.empty()) return own;
    own.resize(domains.size());
    std::iota(own.begin(), own.end(), std::size_t{0});
    return own;
}

int Library::expert_named(const std::string& name) const {
    std::vector<std::string> known;
    for (std::size_t i = 0; i < gates.size(); ++i) {
        if (gates[i].name == name) return static_cast<int>(i) + 1;
        known.push_back(gates[i].name);
    }
    throw usage_error("no gate {}{}", faceter::quoted(name), suggestion(name, known));
}

BestGate Library::best_gate(const Domain& domain, std::size_t instance, const std::vector<int>& candidates, Ties ties) {
    const auto row = static_cast<std::int64_t>(instance), columns = domain.scores.size(1);
    const double *score = domain.scores.data_ptr<double>() + row * columns, *margin = domain.margins.data_ptr<double>() + row * columns;
    double highest = -INFINITY;
    for (const int e : candidates) highest = std::max(highest, score[e]);
    BestGate best;
    for (const int e : candidates) {
        if (score[e] < highest - equal_scores) continue;
        best.tied = best.expert >= 0;
        if (best.expert < 0 || margin[e] > margin[best.expert]) best.expert = e;
    }
    if (best.tied && ties == Ties::drop) best.expert = -1;
    return best;
}

std::pair<double, double> instance_score(const float* scores, std::int64_t num_documents, const std::vector<std::uint32_t>& relevant) {
    std::vector<bool> is_relevant(static_cast<std::size_t>(num_documents), false);
    for (const std::uint32_t r : relevant) is_relevant[r] = true;
    double dcg = 0, ideal = 0, best_positive = -INFINITY, best_other = -INFINITY;
    std::vector<std::size_t> ranks;  // summed in their order: the same ranks give the same bits
    for (const std::uint32_t r : relevant) {
        std::size_t rank = 0;
        for (std::int64_t d = 0; d < num_documents; ++d)
            rank += scores[d] > scores[r] || (scores[d] == scores[r] && d < static_cast<std::int64_t>(r));
        if (rank < cutoff) ranks.push_back(rank);
    }
    std::sort(ranks.begin(), ranks.end());
    for (const std::size_t rank : ranks) dcg += 1 / discount(rank);
    for (std::size_t i = 0; i < std::min(cutoff, relevant.size()); ++i) ideal += 1 / discount(i);
    for (std::int64_t d = 0; d < num_documents; ++d) {
        double& best = is_relevant[static_cast<std::size_t>(d)] ? best_positive : best_other;
        best = std::max(best, static_cast<double>(scores[d]));
    }
    return {relevant.empty() ? 0 : dcg / ideal, std::isinf(best_other) ? 0 : best_positive - best_other};
}

namespace {

/// Documents of all sets without repetition, numbered in order of appearance.
struct DocumentTable {
    std::unordered_map<std::string_view, std::uint32_t> number;
    std::vector<std::string_view> texts;
    std::uint32_t of(std::string_view text) {
        const auto [at, fresh] = number.emplace(text, static_cast<std::uint32_t>(texts.size()));
        if (fresh) texts.push_back(text);
        return at->second;
    }
};

DocumentTable documents_of(const std::vector<const TrainingSet*>& sets) {
    DocumentTable table;
    for (const TrainingSet* set : sets)
        for (const Example& example : set->examples) {
            table.of(set->texts[example.positive]);
            for (std::uint32_t n = 0; n < example.num_negatives; ++n) table.of(set->texts[set->negatives[example.first_negative + n]]);
        }
    return table;
}

}  // namespace

std::vector<std::string> document_texts(const std::vector<const TrainingSet*>& sets) {
    const DocumentTable table = documents_of(sets);
    return {table.texts.begin(), table.texts.end()};
}

Domain make_domain(const std::string& name, const std::vector<const TrainingSet*>& sets, std::size_t limit, std::uint64_t seed) {
    Domain domain;
    domain.name = name;
    DocumentTable documents = documents_of(sets);
    std::map<std::string_view, std::vector<std::uint32_t>> relevant;
    for (const TrainingSet* set : sets) {
        domain.fingerprint += set->fingerprint;
        for (const Example& example : set->examples) {
            auto& of_query = relevant[set->texts[example.anchor]];
            const std::uint32_t document = documents.of(set->texts[example.positive]);
            if (std::find(of_query.begin(), of_query.end(), document) == of_query.end()) of_query.push_back(document);
        }
    }
    if (relevant.empty())
        throw data_error("domain '{}' has no training examples; give it data under tasks.{}.train, or leave it out", name, name);
    std::vector<std::pair<std::uint64_t, std::string_view>> order;
    for (const auto& [query, rows] : relevant) order.emplace_back(hash64(query, seed), query);
    std::sort(order.begin(), order.end());
    if (limit > 0 && order.size() > limit) order.resize(limit);
    for (const auto& [hash, query] : order) {
        domain.queries.emplace_back(query);
        domain.relevant.push_back(relevant[query]);
    }
    domain.fingerprint = hash128(domain.fingerprint).hex();
    return domain;
}

namespace {

/// Scores embedded queries [n, D] against embedded documents [m, D]: one further column.
void add_scores(Domain& domain, const EmbeddingModel& model, const at::Tensor& queries, const at::Tensor& documents) {
    constexpr std::int64_t rows_at_a_time = 128;
    const Similarity similarity = model.folder.similarity;
    const at::Tensor q = comparable_rows(queries, similarity), d = comparable_rows(documents, similarity);
    const at::Tensor scores = at::empty({q.size(0)}, at::kDouble), margins = at::empty({q.size(0)}, at::kDouble);
    for (std::int64_t begin = 0; begin < q.size(0); begin += rows_at_a_time) {
        const at::Tensor part = row_similarities(q.narrow(0, begin, std::min(rows_at_a_time, q.size(0) - begin)), d, similarity);
        for (std::int64_t i = 0; i < part.size(0); ++i) {
            const auto [score, margin] = instance_score(part.data_ptr<float>() + i * part.size(1), part.size(1),
                                                        domain.relevant[static_cast<std::size_t>(begin + i)]);
            scores.data_ptr<double>()[begin + i] = score;
            margins.data_ptr<double>()[begin + i] = margin;
        }
    }
    domain.scores = with_column(domain.scores, scores).contiguous();
    domain.margins = with_column(domain.margins, margins).contiguous();
}

at::Tensor embed_queries(const Domain& domain, const EmbeddingModel& model, int expert) {
    return embed_texts(model, views(domain.queries), Route{domain.query_instruction, 0, path_of(expert)});
}

}  // namespace

void score_domain(Domain& domain, const EmbeddingModel& model, int expert, bool documents_adapted, const std::vector<std::string>& texts) {
    const at::Tensor queries = embed_queries(domain, model, expert);
    at::Tensor documents = domain.documents;
    if (documents_adapted || expert == 0)
        documents = embed_texts(model, views(texts), Route{domain.document_instruction, 0, path_of(expert)});
    if (expert == 0) {
        domain.base = queries;
        domain.documents = documents;
    }
    add_scores(domain, model, queries, documents);
}

void score_domain(Domain& domain, const EmbeddingModel& model, int expert) {
    add_scores(domain, model, embed_queries(domain, model, expert), domain.documents);
}

Json Library::description() const {
    Json json = {{"base_fingerprint", base_fingerprint}, {"gates", Json::array()}, {"domains", Json::array()}};
    for (const GateInfo& gate : gates)
        json["gates"].push_back(
            {{"name", gate.name}, {"domain", gate.domain}, {"kind", gate.kind}, {"examples", gate.examples}, {"source", gate.source}});
    for (const Domain& domain : domains)
        json["domains"].push_back({{"name", domain.name},
                                   {"data_fingerprint", domain.fingerprint},
                                   {"instances", domain.size()},
                                   {"documents", domain.documents.size(0)},
                                   {"query_instruction", domain.query_instruction},
                                   {"document_instruction", domain.document_instruction}});
    return json;
}

void Library::write(const fs::path& folder, const std::string& stem) const {
    SafetensorsWriter writer;
    std::vector<at::Tensor> kept;
    std::string lines;
    const auto add = [&](const std::string& name, DType type, const at::Tensor& tensor) {
        kept.push_back(tensor.contiguous());
        writer.add(name, type, kept.back().sizes().vec(), kept.back().data_ptr());
    };
    for (std::size_t i = 0; i < domains.size(); ++i) {
        const Domain& domain = domains[i];
        add(fmt::format("{}.base", i), DType::f32, domain.base);
        add(fmt::format("{}.documents", i), DType::f32, domain.documents);
        add(fmt::format("{}.scores", i), DType::f64, domain.scores);
        add(fmt::format("{}.margins", i), DType::f64, domain.margins);
        for (std::size_t q = 0; q < domain.size(); ++q)
            lines += Json{{"domain", domain.name}, {"query", domain.queries[q]}, {"relevant", domain.relevant[q]}}.dump(
                         -1, ' ', false, Json::error_handler_t::replace) +
                     "\n";
    }
    writer.write(folder / (stem + ".safetensors"));
    write_file_atomic(folder / (stem + ".jsonl"), lines);
}

Library Library::read(const fs::path& folder, const std::string& stem, const Json& description) {
    const std::string name = (folder / "router.json").string();
    const SafetensorsFile file(folder / (stem + ".safetensors"));
    Library library;
    library.base_fingerprint = json_at<std::string>(description, "base_fingerprint", name);
    for (const Json& gate : json_at<Json>(description, "gates", name))
        library.gates.push_back({json_at<std::string>(gate, "name", name), json_at<std::string>(gate, "domain", name),
                                 json_at<std::string>(gate, "kind", name), json_at<std::size_t>(gate, "examples", name),
                                 json_or<std::string>(gate, "source", "", name)});
    const std::string lines = read_file(folder / (stem + ".jsonl"));
    std::vector<std::string_view> all = split(lines, '\n');
    std::size_t line = 0;
    for (const Json& json : json_at<Json>(description, "domains", name)) {
        Domain domain;
        domain.name = json_at<std::string>(json, "name", name);
        domain.fingerprint = json_at<std::string>(json, "data_fingerprint", name);
        domain.query_instruction = json_or<std::string>(json, "query_instruction", "", name);
        domain.document_instruction = json_or<std::string>(json, "document_instruction", "", name);
        const auto n = json_at<std::int64_t>(json, "instances", name), m = json_at<std::int64_t>(json, "documents", name);
        const std::size_t i = library.domains.size();
        domain.base = read_tensor(file, fmt::format("{}.base", i), DType::f32, n);
        domain.documents = read_tensor(file, fmt::format("{}.documents", i), DType::f32, m);
        domain.scores = read_tensor(file, fmt::format("{}.scores", i), DType::f64, n);
        domain.margins = read_tensor(file, fmt::format("{}.margins", i), DType::f64, n);
        const auto columns = static_cast<std::int64_t>(library.gates.size()) + 1;
        for (const at::Tensor& table : {domain.scores, domain.margins})
            if (table.dim() != 2 || table.size(1) != columns)
                throw data_error("{}: scores {} experts, router.json names {}; the library is damaged", file.path().string(),
                                 table.size(-1), columns);
        for (std::int64_t q = 0; q < n; ++q, ++line) {
            const std::string where = fmt::format("{}:{}", (folder / (stem + ".jsonl")).string(), line + 1);
            if (line >= all.size() || all[line].empty())
                throw data_error("{}: ends before the instances that router.json names; the library is damaged", where);
            const Json instance = parse_json(all[line], where);
            if (json_at<std::string>(instance, "domain", where) != domain.name)
                throw data_error("{}: is of another domain than router.json says; the library is damaged", where);
            domain.queries.push_back(json_at<std::string>(instance, "query", where));
            domain.relevant.push_back(json_at<std::vector<std::uint32_t>>(instance, "relevant", where));
            for (const std::uint32_t row : domain.relevant.back())
                if (row >= m) throw data_error("{}: names document {}, there are {}; the library is damaged", where, row, m);
        }
        library.domains.push_back(std::move(domain));
    }
    return library;
}

}  // namespace faceter
