#include "routers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <map>

#include "common/error.h"
#include "common/hash.h"
#include "common/random.h"
#include "eval/kmeans.h"
#include "eval/logistic_regression.h"

namespace faceter {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

at::Tensor unit_rows(const at::Tensor& rows, bool cosine) {
    const at::Tensor wide = rows.to(at::kDouble);
    return cosine ? wide / wide.norm(2, {1}, true).clamp_min(1e-12) : wide;
}

FeatureMatrix view(const at::Tensor& rows) { return {rows.data_ptr<float>(), rows.size(0), rows.size(1)}; }

/// Centroids of some instances' base embeddings, with how many each stands for.
std::vector<std::pair<at::Tensor, std::size_t>> centroids(const at::Tensor& rows, int clusters, std::uint64_t seed) {
    const auto k = std::min<std::int64_t>(clusters, rows.size(0));
    if (k == 1) return {{rows.to(at::kDouble).mean(0).to(at::kFloat), static_cast<std::size_t>(rows.size(0))}};
    KMeansOptions options;
    options.num_clusters = static_cast<int>(k);
    options.seed = static_cast<std::uint32_t>(seed);
    const at::Tensor contiguous = rows.contiguous();
    const KMeansResult result = kmeans(view(contiguous), options);
    std::vector<std::pair<at::Tensor, std::size_t>> all;
    for (std::int64_t c = 0; c < k; ++c) {
        const auto members = static_cast<std::size_t>(std::count(result.labels.begin(), result.labels.end(), static_cast<std::int32_t>(c)));
        const at::Tensor centre = at::empty({rows.size(1)}, at::kFloat);
        std::copy_n(result.centres.begin() + c * rows.size(1), rows.size(1), centre.data_ptr<float>());
        if (members > 0) all.emplace_back(centre, members);
    }
    return all;
}

std::vector<int> best_of_rows(const at::Tensor& values, const std::vector<int>& candidates) {
    const at::Tensor all = values.contiguous();
    std::vector<int> chosen;
    for (std::int64_t i = 0; i < all.size(0); ++i) {
        const double* row = all.data_ptr<double>() + i * all.size(1);
        chosen.push_back(candidates[static_cast<std::size_t>(std::max_element(row, row + all.size(1)) - row)]);  // the first of equal ones
    }
    return chosen;
}

Json named_values(const at::Tensor& values, const std::vector<int>& candidates, const Library& library) {
    Json json = Json::object();
    for (std::size_t c = 0; c < candidates.size(); ++c)
        json[library.name_of(candidates[c])] = values[static_cast<std::int64_t>(c)].item<double>();
    return json;
}

/// RouterRetriever, "Routing Mechanism": the mean similarity to a gate's pilots, the highest wins.
class PilotRouter final : public QueryRouter {
  public:
    PilotRouter(const Library& library, std::vector<int> candidates, RouterSettings settings)
        : library_(library),
          candidates_(std::move(candidates)),
          settings_(std::move(settings)),
          pilots_(build_pilots(library_, candidates_, settings_)) {}
    std::vector<int> choose(const at::Tensor& base) const override {
        return best_of_rows(pilot_similarities(base, library_, pilots_, candidates_, settings_), candidates_);
    }
    Json explain(const at::Tensor& base, const Library& library) const override {
        return named_values(pilot_similarities(base.unsqueeze(0), library, pilots_, candidates_, settings_)[0], candidates_, library);
    }

  private:
    const Library& library_;
    std::vector<int> candidates_;
    RouterSettings settings_;
    PilotLibrary pilots_;
};

/// The instances that a single gate is best for, by gate: what the supplement trains classifiers on.
std::map<int, std::vector<at::Tensor>> single_best(const Library& library, const std::vector<int>& candidates) {
    std::map<int, std::vector<at::Tensor>> by_gate;
    for (const std::size_t d : library.domains_of(candidates)) {
        const Domain& domain = library.domains[d];
        for (std::size_t i = 0; i < domain.size(); ++i)
            if (const BestGate best = Library::best_gate(domain, i, candidates, Ties::drop); best.expert >= 0)
                by_gate[best.expert].push_back(domain.base[static_cast<std::int64_t>(i)]);
    }
    if (by_gate.size() < 2)
        throw data_error(
            "a classifier router needs instances for which one gate alone is best, of two gates at least; the library has those of {}; "
            "give it more instances, or use router: pilot",
            by_gate.size());
    return by_gate;
}

std::vector<at::Tensor> sampled(const std::vector<at::Tensor>& rows, std::size_t count, std::uint64_t seed, const std::string& purpose) {
    std::vector<at::Tensor> some;
    for (const std::size_t i : RandomStream(seed, purpose).sample(rows.size(), count)) some.push_back(rows[i]);
    return some;
}

LogisticRegression fit(const std::vector<at::Tensor>& rows, const std::vector<std::int32_t>& labels) {
    const at::Tensor features = at::stack(rows).to(at::kFloat).contiguous();
    return LogisticRegression::fit(view(features), labels);
}

/// Probability of the label `of` for every row: float64 [N].
at::Tensor probability(const LogisticRegression& model, const at::Tensor& base, std::int32_t of) {
    const at::Tensor features = base.to(at::kFloat).contiguous();
    const auto all = model.probabilities(view(features));
    const auto place = std::find(model.labels().begin(), model.labels().end(), of) - model.labels().begin();
    const at::Tensor values = at::empty({features.size(0)}, at::kDouble);
    for (std::int64_t i = 0; i < features.size(0); ++i)
        values.data_ptr<double>()[i] = all[static_cast<std::size_t>(i) * model.labels().size() + static_cast<std::size_t>(place)];
    return values;
}

/// A router whose values are one column a candidate.
class ValueRouter : public QueryRouter {
  public:
    explicit ValueRouter(std::vector<int> candidates) : candidates_(std::move(candidates)) {}
    std::vector<int> choose(const at::Tensor& base) const override { return best_of_rows(values(base), candidates_); }
    Json explain(const at::Tensor& base, const Library& library) const override {
        return named_values(values(base.unsqueeze(0))[0], candidates_, library);
    }

  protected:
    virtual at::Tensor values(const at::Tensor& base) const = 0;  ///< float64 [N, candidates]
    std::vector<int> candidates_;
};

/// ExpertClassifierRouter (Shen et al., 2024): a binary classifier a gate, as many instances of other gates as of its own.
class ExpertClassifier final : public ValueRouter {
  public:
    ExpertClassifier(const Library& library, std::vector<int> candidates, const RouterSettings& settings)
        : ValueRouter(std::move(candidates)) {
        const auto by_gate = single_best(library, candidates_);
        for (const auto& [expert, own] : by_gate) {
            std::vector<at::Tensor> others;
            for (const auto& [other, rows] : by_gate)
                if (other != expert) others.insert(others.end(), rows.begin(), rows.end());
            const std::size_t count = std::min(own.size(), others.size());
            auto rows = sampled(own, count, settings.seed, "classifier/own/" + library.name_of(expert));
            const auto negative = sampled(others, count, settings.seed, "classifier/others/" + library.name_of(expert));
            std::vector<std::int32_t> labels(rows.size(), 1);
            rows.insert(rows.end(), negative.begin(), negative.end());
            labels.resize(rows.size(), 0);
            models_.emplace(expert, fit(rows, labels));
        }
    }

  protected:
    at::Tensor values(const at::Tensor& base) const override {
        std::vector<at::Tensor> columns;
        for (const int expert : candidates_) {
            const auto model = models_.find(expert);
            columns.push_back(model == models_.end() ? at::full({base.size(0)}, never, at::kDouble) : probability(model->second, base, 1));
        }
        return at::stack(columns, 1);
    }

  private:
    std::map<int, LogisticRegression> models_;
};

/// ClassificationHeadRouter (Muqeeth et al., 2024): one head over the gates, labels equalised to the smallest.
class ClassificationHead final : public ValueRouter {
  public:
    ClassificationHead(const Library& library, std::vector<int> candidates, const RouterSettings& settings)
        : ValueRouter(std::move(candidates)), model_(train(library, candidates_, settings)) {}

  protected:
    at::Tensor values(const at::Tensor& base) const override {
        std::vector<at::Tensor> columns;
        for (const int expert : candidates_) {
            const bool known = std::count(model_.labels().begin(), model_.labels().end(), expert) > 0;
            columns.push_back(known ? probability(model_, base, expert) : at::full({base.size(0)}, never, at::kDouble));
        }
        return at::stack(columns, 1);
    }

  private:
    static LogisticRegression train(const Library& library, const std::vector<int>& candidates, const RouterSettings& settings) {
        const auto by_gate = single_best(library, candidates);
        std::size_t smallest = std::numeric_limits<std::size_t>::max();
        for (const auto& [expert, rows] : by_gate) smallest = std::min(smallest, rows.size());
        std::vector<at::Tensor> rows;
        std::vector<std::int32_t> labels;
        for (const auto& [expert, own] : by_gate)
            for (const at::Tensor& row : sampled(own, smallest, settings.seed, "head/" + library.name_of(expert))) {
                rows.push_back(row);
                labels.push_back(expert);
            }
        return fit(rows, labels);
    }
    LogisticRegression model_;
};

/// DatasetRouter (Ye et al., 2022; Jang et al., 2023): the data set of the nearest of some sampled training instances.
class DatasetRouter final : public ValueRouter {
  public:
    DatasetRouter(const Library& library, std::vector<int> candidates, const RouterSettings& settings)
        : ValueRouter(std::move(candidates)), cosine_(settings.cosine) {
        for (const Domain& domain : library.domains) {
            const int expert = library.own_gate(domain.name, candidates_);
            if (expert < 0) continue;
            for (const std::size_t i :
                 RandomStream(settings.seed, "dataset router/" + domain.name).sample(domain.size(), settings.dataset_samples))
                instances_.push_back({expert, 0, 1, domain.base[static_cast<std::int64_t>(i)]});
        }
        if (instances_.empty()) throw data_error("router: dataset needs a gate whose own domain is in the library, and there is none");
    }

  protected:
    at::Tensor values(const at::Tensor& base) const override {
        const at::Tensor similar = similarities_to(base, instances_, cosine_);
        at::Tensor best = at::full({base.size(0), static_cast<std::int64_t>(candidates_.size())}, never, at::kDouble);
        for (std::size_t c = 0; c < candidates_.size(); ++c)
            for (std::size_t p = 0; p < instances_.size(); ++p)
                if (instances_[p].expert == candidates_[c]) {
                    const at::Tensor column = best.select(1, static_cast<std::int64_t>(c));
                    column.copy_(at::maximum(column, similar.select(1, static_cast<std::int64_t>(p))));
                }
        return best;
    }

  private:
    std::vector<Pilot> instances_;
    bool cosine_;
};

/// A gate by chance, the same for the same query.
class RandomRouter final : public QueryRouter {
  public:
    RandomRouter(std::vector<int> candidates, std::uint64_t seed) : candidates_(std::move(candidates)), seed_(seed) {}
    std::vector<int> choose(const at::Tensor& base) const override {
        const at::Tensor rows = base.to(at::kFloat).contiguous();
        std::vector<int> chosen;
        for (std::int64_t i = 0; i < rows.size(0); ++i)
            chosen.push_back(
                candidates_[hash64(signs(rows.data_ptr<float>() + i * rows.size(1), rows.size(1)), seed_) % candidates_.size()]);
        return chosen;
    }

  private:
    /// Of the first elements: the last bits of a row depend on the batch that it was embedded in, and its text's gate must not.
    static std::string signs(const float* row, std::int64_t width) {
        constexpr std::int64_t most = 32;
        std::string all;
        for (std::int64_t i = 0; i < std::min(width, most); ++i) all += row[i] < 0 ? '-' : '+';
        return all;
    }
    std::vector<int> candidates_;
    std::uint64_t seed_;
};

class FixedRouter final : public QueryRouter {
  public:
    explicit FixedRouter(int expert) : expert_(expert) {}
    std::vector<int> choose(const at::Tensor& base) const override {
        return std::vector<int>(static_cast<std::size_t>(base.size(0)), expert_);
    }

  private:
    int expert_;
};

}  // namespace

Json QueryRouter::explain(const at::Tensor&, const Library&) const { return nullptr; }

RouterSettings RouterSettings::from_json(const Json& s) {
    RouterSettings settings;
    settings.kind = json_at<std::string>(s, "router", "router");
    settings.fixed_gate = json_at<std::string>(s, "fixed_gate", "router");
    settings.clusters = json_at<int>(s, "clusters", "router");
    settings.ties = json_at<std::string>(s, "ties", "router") == "drop" ? Ties::drop : Ties::margin;
    settings.cosine = json_at<std::string>(s, "pilot_similarity", "router") == "cosine";
    settings.label_weight = json_at<double>(s, "label_weight", "router");
    settings.dataset_samples = json_at<std::size_t>(s, "dataset_samples", "router");
    settings.seed = json_at<std::uint64_t>(s, "seed", "router");
    settings.library_examples = json_at<std::size_t>(s, "library_examples", "router");
    if (settings.clusters < 1) throw settings_error("router: clusters is {}; expected 1 or more", settings.clusters);
    return settings;
}

Json RouterSettings::to_json() const {
    return {{"router", kind},
            {"fixed_gate", fixed_gate},
            {"clusters", clusters},
            {"ties", ties == Ties::drop ? "drop" : "margin"},
            {"pilot_similarity", cosine ? "cosine" : "dot"},
            {"label_weight", label_weight},
            {"dataset_samples", dataset_samples},
            {"seed", seed}};
}

Json PilotLibrary::to_json(const Library& library) const {
    Json json = {{"instances", instances}, {"tied", tied}, {"dropped", dropped}, {"pilots", Json::array()}};
    for (const Pilot& pilot : pilots)
        json["pilots"].push_back(
            {{"gate", library.name_of(pilot.expert)}, {"domain", library.domains[pilot.domain].name}, {"instances", pilot.instances}});
    return json;
}

PilotLibrary build_pilots(const Library& library, const std::vector<int>& candidates, const RouterSettings& settings) {
    PilotLibrary built;
    for (const std::size_t d : library.domains_of(candidates)) {
        const Domain& domain = library.domains[d];
        std::map<int, std::vector<at::Tensor>> groups;
        for (std::size_t i = 0; i < domain.size(); ++i) {
            const BestGate best = Library::best_gate(domain, i, candidates, settings.ties);
            ++built.instances;
            built.tied += best.tied;
            built.dropped += best.expert < 0;
            if (best.expert >= 0) groups[best.expert].push_back(domain.base[static_cast<std::int64_t>(i)]);
        }
        for (const int expert : candidates)
            if (const auto group = groups.find(expert); group != groups.end())
                for (const auto& [centre, count] : centroids(at::stack(group->second), settings.clusters, settings.seed))
                    built.pilots.push_back({expert, d, count, centre});
    }
    if (built.instances == 0)
        throw data_error(
            "the library has no instances, of which pilots are made: no domain has training data; give some under tasks.*.train, or use "
            "router: fixed or random");
    if (built.pilots.empty())
        throw data_error("no instance of the library is left to make a pilot of ({} of {} tied); use ties: margin", built.tied,
                         built.instances);
    return built;
}

at::Tensor similarities_to(const at::Tensor& base, const std::vector<Pilot>& pilots, bool cosine) {
    std::vector<at::Tensor> rows;
    for (const Pilot& pilot : pilots) rows.push_back(pilot.embedding);
    return at::mm(unit_rows(base, cosine), unit_rows(at::stack(rows), cosine).t());
}

at::Tensor pilot_similarities(const at::Tensor& base, const Library& library, const PilotLibrary& pilots,
                              const std::vector<int>& candidates, const RouterSettings& settings) {
    const at::Tensor all = similarities_to(base, pilots.pilots, settings.cosine);
    const auto mean_over = [&](auto belongs) {
        at::Tensor sum = at::zeros({base.size(0)}, at::kDouble);
        int count = 0;
        for (std::size_t p = 0; p < pilots.pilots.size(); ++p)
            if (belongs(pilots.pilots[p])) sum = sum + all.select(1, static_cast<std::int64_t>(p)), ++count;
        return count > 0 ? sum / count : at::full({base.size(0)}, never, at::kDouble);
    };
    std::vector<at::Tensor> columns;
    for (const int expert : candidates) {
        at::Tensor column = mean_over([&](const Pilot& p) { return p.expert == expert; });
        if (settings.label_weight > 0) {
            at::Tensor labelled =
                mean_over([&](const Pilot& p) { return library.own_gate(library.domains[p.domain].name, candidates) == expert; });
            labelled = at::where(labelled.isinf(), column, labelled);  // a gate without a domain of its own
            column = settings.label_weight < 1 ? column * (1 - settings.label_weight) + labelled * settings.label_weight : labelled;
        }
        columns.push_back(column);
    }
    return at::stack(columns, 1);
}

std::unique_ptr<QueryRouter> make_query_router(const Library& library, const std::vector<int>& candidates, const RouterSettings& settings) {
    if (candidates.empty()) throw data_error("a router needs a gate to choose; this library has none left");
    if (settings.kind == "pilot") return std::make_unique<PilotRouter>(library, candidates, settings);
    if (settings.kind == "expert_classifier") return std::make_unique<ExpertClassifier>(library, candidates, settings);
    if (settings.kind == "classification_head") return std::make_unique<ClassificationHead>(library, candidates, settings);
    if (settings.kind == "dataset") return std::make_unique<DatasetRouter>(library, candidates, settings);
    if (settings.kind == "random") return std::make_unique<RandomRouter>(candidates, settings.seed);
    if (settings.kind != "fixed")
        throw settings_error("no router is called '{}'; expected pilot, expert_classifier, classification_head, dataset, random or fixed",
                             settings.kind);
    return std::make_unique<FixedRouter>(settings.fixed_gate == "base" ? 0 : library.expert_named(settings.fixed_gate));
}

UsableRouter usable_router(const Library& library, const std::vector<int>& candidates, RouterSettings wanted) {
    try {
        make_query_router(library, candidates, wanted);
        return {wanted, ""};
    } catch (const Error& error) {
        const bool has_instances =
            std::any_of(library.domains.begin(), library.domains.end(), [](const Domain& d) { return d.size() > 0; });
        if (error.code() != ExitCode::data || candidates.empty() || !has_instances) throw;
        wanted.kind = "pilot";
        wanted.ties = Ties::margin;
        return {wanted, error.what()};
    }
}

}  // namespace faceter
