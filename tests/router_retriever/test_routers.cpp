#include <map>
#include <set>

#include "eval/kmeans.h"
#include "plugin/own_manifest.h"
#include "router_retriever/gates.h"
#include "router_retriever/routers.h"
#include "router_retriever/study_figures.h"
#include "settings/check.h"
#include "some_library.h"
#include "support/tensors.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

using Vector = std::vector<double>;

Vector vector_of(const at::Tensor& row) {
    Vector v;
    for (std::int64_t k = 0; k < row.size(0); ++k) v.push_back(row[k].item<double>());
    return v;
}

double cosine(const Vector& a, const Vector& b) {
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t k = 0; k < a.size(); ++k) ab += a[k] * b[k], aa += a[k] * a[k], bb += b[k] * b[k];
    return ab / std::sqrt(aa * bb);
}

/// Algorithm 1, as it is printed: for every instance all gates are looked at, the list is sorted by the rule for ties.
int slow_best_gate(const Domain& domain, std::size_t i, std::vector<int> gates, Ties ties) {
    const auto score = [&](int g) { return domain.scores[static_cast<std::int64_t>(i)][g].item<double>(); };
    const auto margin = [&](int g) { return domain.margins[static_cast<std::int64_t>(i)][g].item<double>(); };
    std::vector<int> order = gates;
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return score(a) != score(b) ? score(a) > score(b) : margin(a) > margin(b); });
    if (ties == Ties::drop && order.size() > 1 && score(order[0]) == score(order[1])) return -1;
    return order.front();
}

/// Centroids by domain and gate: (gate, domain) -> mean of the group's base embeddings.
std::map<std::pair<int, std::size_t>, Vector> slow_pilots(const Library& library, const std::vector<int>& gates, Ties ties) {
    std::map<std::pair<int, std::size_t>, Vector> pilots;
    for (std::size_t d = 0; d < library.domains.size(); ++d)
        for (const int g : gates) {
            if (std::count(gates.begin(), gates.end(), static_cast<int>(d) + 1) == 0) continue;  // gate d + 1 is that of domain d
            Vector sum(6, 0);
            double count = 0;
            for (std::size_t i = 0; i < library.domains[d].size(); ++i) {
                if (slow_best_gate(library.domains[d], i, gates, ties) != g) continue;
                const Vector row = vector_of(library.domains[d].base[static_cast<std::int64_t>(i)]);
                for (std::size_t k = 0; k < 6; ++k) sum[k] += row[k];
                ++count;
            }
            for (double& value : sum) value /= count;
            if (count > 0) pilots[{g, d}] = sum;
        }
    return pilots;
}

/// Means of similarities gate by gate, the highest wins.
std::vector<int> slow_pilot_routes(const Library& library, const std::vector<int>& gates, const at::Tensor& queries, Ties ties,
                                   double label_weight) {
    const auto pilots = slow_pilots(library, gates, ties);
    std::vector<int> chosen;
    for (std::int64_t q = 0; q < queries.size(0); ++q) {
        const Vector query = vector_of(queries[q]);
        double best = -1e300;
        int winner = -1;
        for (const int g : gates) {
            double filed = 0, filed_count = 0, labelled = 0, labelled_count = 0;
            for (const auto& [key, centre] : pilots) {
                const double similar = cosine(query, centre);
                if (key.first == g) filed += similar, ++filed_count;
                if (g > 0 && library.domains[key.second].name == library.gates[static_cast<std::size_t>(g) - 1].domain)
                    labelled += similar, ++labelled_count;
            }
            if (filed_count == 0) continue;
            filed /= filed_count;
            const double value = labelled_count > 0 ? (1 - label_weight) * filed + label_weight * labelled / labelled_count : filed;
            if (value > best) best = value, winner = g;
        }
        chosen.push_back(winner);
    }
    return chosen;
}

/// Logistic regression with an L2 penalty of weight 1 on the coefficients by plain gradient descent: [labels, 6] and [labels].
struct SlowHead {
    at::Tensor weights, bias;
    SlowHead(const at::Tensor& x, const at::Tensor& y, std::int64_t labels)
        : weights(at::zeros({labels, x.size(1)}, at::kDouble)), bias(at::zeros({labels}, at::kDouble)) {
        const at::Tensor one_hot = at::one_hot(y, labels).to(at::kDouble);
        for (int step = 0; step < 20000; ++step) {
            const at::Tensor error = at::softmax(at::mm(x, weights.t()) + bias, 1) - one_hot;
            const double rate = 0.5 / static_cast<double>(x.size(0));
            weights = weights - rate * (at::mm(error.t(), x) + weights);
            bias = bias - rate * error.sum(0);
        }
    }
    at::Tensor probabilities(const at::Tensor& x) const { return at::softmax(at::mm(x.to(at::kDouble), weights.t()) + bias, 1); }
};

/// Instances of each gate that is alone the best, in the library's order.
std::map<int, std::vector<at::Tensor>> slow_single_best(const Library& library, const std::vector<int>& gates) {
    std::map<int, std::vector<at::Tensor>> rows;
    for (const Domain& domain : library.domains)
        for (std::size_t i = 0; i < domain.size(); ++i)
            if (const int best = slow_best_gate(domain, i, gates, Ties::drop); best >= 0)
                rows[best].push_back(domain.base[static_cast<std::int64_t>(i)]);
    return rows;
}

std::vector<at::Tensor> sample(const std::vector<at::Tensor>& rows, std::size_t count, const std::string& purpose) {
    std::vector<at::Tensor> some;
    for (const std::size_t i : RandomStream(1, purpose).sample(rows.size(), count)) some.push_back(rows[i]);
    return some;
}

RouterSettings settings_of(const std::string& kind) {
    RouterSettings settings;
    settings.kind = kind;
    return settings;
}

/// Of a variant with these settings, over these tasks.
std::size_t num_stages(std::initializer_list<const char*> tasks, const Json& settings) {
    EmbeddingModel model;
    for (const char* name : tasks) {
        Task task;
        task.name = name;
        model.tasks.push_back(std::move(task));
    }
    Json complete = filled_in(plugin_manifest().variants.front().schema, settings);
    complete["seed"] = 1;
    return make_router_retriever(complete)->stages(model).size();
}

}  // namespace

/// Pilots and routers against what the paper prints, written plainly, on instances with ties.
class TestRouters : public QObject {
    Q_OBJECT
    Library library_ = some_library();
    const std::vector<int> gates_{1, 2, 3};
    const at::Tensor queries_ = some_queries();

  private Q_SLOTS:
    void an_instance_goes_to_the_best_gate_then_margin_then_order() {
        int tied = 0;
        for (const Ties ties : {Ties::margin, Ties::drop})
            for (const Domain& domain : library_.domains)
                for (std::size_t i = 0; i < domain.size(); ++i) {
                    const BestGate best = Library::best_gate(domain, i, gates_, ties);
                    QCOMPARE(best.expert, slow_best_gate(domain, i, gates_, ties));
                    tied += best.tied;
                }
        QVERIFY(tied > 40);
    }

    void pilots_are_centroids_of_the_groups_of_each_domain() {
        for (const Ties ties : {Ties::margin, Ties::drop}) {
            RouterSettings settings;
            settings.ties = ties;
            const PilotLibrary built = build_pilots(library_, gates_, settings);
            const auto slow = slow_pilots(library_, gates_, ties);
            QCOMPARE(built.pilots.size(), slow.size());
            for (const Pilot& pilot : built.pilots) {
                const Vector centre = slow.at({pilot.expert, pilot.domain});
                QVERIFY(max_difference(pilot.embedding, at::tensor(at::ArrayRef<double>(centre), at::kDouble)) < 1e-6);
            }
            QCOMPARE(built.dropped > 0, ties == Ties::drop);
            QVERIFY(built.tied > 0 && built.tied < built.instances);
        }
    }

    void pilot_routing_equals_the_plain_form() {
        for (const Ties ties : {Ties::margin, Ties::drop})
            for (const double weight : {0.0, 0.3, 1.0})
                for (const auto& gates : {gates_, std::vector<int>{0, 1, 2, 3}, std::vector<int>{3, 1}}) {
                    RouterSettings settings;
                    settings.ties = ties;
                    settings.label_weight = weight;
                    const auto chosen = make_query_router(library_, gates, settings)->choose(queries_);
                    QCOMPARE(chosen, slow_pilot_routes(library_, gates, queries_, ties, weight));
                    QVERIFY(std::set<int>(chosen.begin(), chosen.end()).size() > 1);
                }
    }

    void more_pilots_a_group_are_its_k_means_centres() {
        RouterSettings settings;
        settings.clusters = 3;
        const PilotLibrary built = build_pilots(library_, {1, 2, 3}, settings);
        std::map<std::pair<int, std::size_t>, std::size_t> instances;
        std::size_t pilots = 0;
        for (const Pilot& pilot : built.pilots) {
            instances[{pilot.expert, pilot.domain}] += pilot.instances;
            ++pilots;
        }
        std::size_t total = 0, expected = 0;
        for (const auto& [key, count] : instances) {
            total += count;
            expected += std::min<std::size_t>(3, count);
        }
        QCOMPARE(total, built.instances);
        QCOMPARE(pilots, expected);
        // The centres of the first group are k-means' own.
        std::vector<at::Tensor> group;
        for (std::size_t i = 0; i < library_.domains[0].size(); ++i)
            if (slow_best_gate(library_.domains[0], i, gates_, Ties::margin) == built.pilots.front().expert)
                group.push_back(library_.domains[0].base[static_cast<std::int64_t>(i)]);
        const at::Tensor rows = at::stack(group).contiguous();
        KMeansOptions options;
        options.num_clusters = 3;
        options.seed = 1;
        const KMeansResult result = kmeans({rows.data_ptr<float>(), rows.size(0), rows.size(1)}, options);
        for (std::int64_t c = 0; c < 3; ++c)
            for (std::int64_t k = 0; k < 6; ++k)
                QCOMPARE(built.pilots[static_cast<std::size_t>(c)].embedding[k].item<float>(),
                         result.centres[static_cast<std::size_t>(c * 6 + k)]);
    }

    void the_expert_classifiers_equal_plain_logistic_regressions() {
        const auto router = make_query_router(library_, gates_, settings_of("expert_classifier"));
        const auto rows = slow_single_best(library_, gates_);
        std::vector<at::Tensor> columns;
        for (const int g : gates_) {
            std::vector<at::Tensor> others;
            for (const auto& [other, own] : rows)
                if (other != g) others.insert(others.end(), own.begin(), own.end());
            const std::size_t count = std::min(rows.at(g).size(), others.size());
            auto all = sample(rows.at(g), count, "classifier/own/" + library_.name_of(g));
            const auto negative = sample(others, count, "classifier/others/" + library_.name_of(g));
            all.insert(all.end(), negative.begin(), negative.end());
            // Two labels: the penalty is on one row of coefficients, half the difference of two.
            const at::Tensor x = at::stack(all).to(at::kDouble);
            at::Tensor w = at::zeros({6}, at::kDouble), b = at::zeros({}, at::kDouble);
            const at::Tensor y = at::cat(
                {at::ones({static_cast<std::int64_t>(count)}, at::kDouble), at::zeros({static_cast<std::int64_t>(count)}, at::kDouble)});
            for (int step = 0; step < 20000; ++step) {
                const at::Tensor error = at::sigmoid(at::mv(x, w) + b) - y;
                w = w - 0.5 / static_cast<double>(2 * count) * (at::mv(x.t(), error) + w);
                b = b - 0.5 / static_cast<double>(2 * count) * error.sum();
            }
            columns.push_back(at::sigmoid(at::mv(queries_.to(at::kDouble), w) + b));
        }
        compare(*router, at::stack(columns, 1));
    }

    void the_classification_head_equals_a_plain_one() {
        const auto router = make_query_router(library_, gates_, settings_of("classification_head"));
        const auto rows = slow_single_best(library_, gates_);
        std::size_t smallest = 1000;
        for (const auto& [g, own] : rows) smallest = std::min(smallest, own.size());
        std::vector<at::Tensor> all;
        std::vector<std::int64_t> labels;
        for (const auto& [g, own] : rows)
            for (const at::Tensor& row : sample(own, smallest, "head/" + library_.name_of(g))) {
                all.push_back(row);
                labels.push_back(g - 1);
            }
        const SlowHead head(at::stack(all).to(at::kDouble), at::tensor(at::ArrayRef<std::int64_t>(labels)), 3);
        compare(*router, head.probabilities(queries_));
    }

    void the_dataset_router_takes_the_domain_of_the_nearest_sampled_instance() {
        RouterSettings settings = settings_of("dataset");
        settings.dataset_samples = 15;
        const auto chosen = make_query_router(library_, gates_, settings)->choose(queries_);
        for (std::int64_t q = 0; q < queries_.size(0); ++q) {
            double best = -2;
            int winner = -1;
            for (std::size_t d = 0; d < 3; ++d)
                for (const std::size_t i :
                     RandomStream(1, "dataset router/" + library_.domains[d].name).sample(library_.domains[d].size(), 15)) {
                    const double similar =
                        cosine(vector_of(queries_[q]), vector_of(library_.domains[d].base[static_cast<std::int64_t>(i)]));
                    if (similar > best) best = similar, winner = static_cast<int>(d) + 1;
                }
            QCOMPARE(chosen[static_cast<std::size_t>(q)], winner);
        }
    }

    void chance_takes_every_gate_and_the_same_one_for_the_same_query() {
        const auto router = make_query_router(library_, gates_, settings_of("random"));
        const auto chosen = router->choose(queries_);
        QCOMPARE(chosen, router->choose(queries_));
        for (const int g : gates_) QVERIFY(std::count(chosen.begin(), chosen.end(), g) > 5);
        QCOMPARE(router->choose(queries_.narrow(0, 7, 1)).front(), chosen[7]);
    }

    void a_fixed_gate_is_always_taken_and_must_be_there() {
        RouterSettings settings = settings_of("fixed");
        settings.fixed_gate = "green";
        QCOMPARE(make_query_router(library_, gates_, settings)->choose(queries_), std::vector<int>(60, 2));
        settings.fixed_gate = "base";
        QCOMPARE(make_query_router(library_, gates_, settings)->choose(queries_), std::vector<int>(60, 0));
        settings.fixed_gate = "gren";
        EXPECT_ERROR(make_query_router(library_, gates_, settings), "gren", "did you mean 'green'");
    }

    void a_library_of_ties_alone_says_so() {
        for (Domain& domain : library_.domains) domain.scores.fill_(1), domain.margins.fill_(0);
        RouterSettings settings;
        QVERIFY(make_query_router(library_, gates_, settings)->choose(queries_) == std::vector<int>(60, 1));
        settings.ties = Ties::drop;
        EXPECT_ERROR(make_query_router(library_, gates_, settings), "ties: margin");
        EXPECT_ERROR(make_query_router(library_, gates_, settings_of("classification_head")), "router: pilot");
        EXPECT_ERROR(make_query_router(library_, {}, settings), "none left");
        library_ = some_library();
    }

    void pilots_stand_in_for_a_router_that_trained_gates_cannot_make() {
        QCOMPARE(usable_router(library_, gates_, settings_of("classification_head")).settings.kind, std::string("classification_head"));
        QCOMPARE(usable_router(library_, gates_, settings_of("classification_head")).reason, std::string());
        for (Domain& domain : library_.domains) domain.scores.fill_(1), domain.margins.fill_(0);
        for (const char* kind : {"classification_head", "expert_classifier", "pilot"}) {
            RouterSettings wanted = settings_of(kind);
            wanted.ties = Ties::drop;
            const UsableRouter usable = usable_router(library_, gates_, wanted);
            QCOMPARE(usable.settings.kind, std::string("pilot"));
            QVERIFY(usable.settings.ties == Ties::margin && !usable.reason.empty());
            QVERIFY(make_query_router(library_, gates_, usable.settings)->choose(queries_) == std::vector<int>(60, 1));
        }
        RouterSettings fixed = settings_of("fixed");
        fixed.fixed_gate = "gren";
        EXPECT_ERROR(usable_router(library_, gates_, fixed), "gren");
        Library none = library_;
        none.domains.clear();
        EXPECT_ERROR(usable_router(none, gates_, settings_of("pilot")), "the library has no instances", "router: fixed or random");
        library_ = some_library();
    }

    void ranks_give_the_same_ndcg_whichever_document_has_which() {
        // Five relevant documents at the ranks 0, 2, 3, 6 and 9 of ten, in every order.
        const std::vector<std::uint32_t> relevant{0, 1, 2, 3, 4};
        std::vector<int> ranks{0, 2, 3, 6, 9};
        const std::vector<int> others{1, 4, 5, 7, 8};
        std::set<double> scores;
        do {
            std::vector<float> similar(10);
            for (std::size_t i = 0; i < 5; ++i) {
                similar[i] = static_cast<float>(-ranks[i]);
                similar[5 + i] = static_cast<float>(-others[i]);
            }
            scores.insert(instance_score(similar.data(), 10, relevant).first);
        } while (std::next_permutation(ranks.begin(), ranks.end()));
        QCOMPARE(scores.size(), std::size_t{1});
    }

    void scores_that_differ_in_the_last_bit_are_a_tie() {
        Domain domain = library_.domains[0];
        domain.scores = domain.scores.clone();
        domain.margins = domain.margins.clone();
        const double score = 0.7, next = std::nextafter(score, 1);
        domain.scores[0][1] = score;
        domain.scores[0][2] = next;
        domain.scores[0][3] = 0.2;
        domain.margins[0][1] = 0.5;
        domain.margins[0][2] = 0.1;
        const BestGate by_margin = Library::best_gate(domain, 0, gates_, Ties::margin),
                       dropped = Library::best_gate(domain, 0, gates_, Ties::drop);
        QVERIFY(by_margin.tied && dropped.tied);
        QCOMPARE(by_margin.expert, 1);
        QCOMPARE(dropped.expert, -1);
        StudySet set{"s", "", {"q"}, {}, at::tensor({0.0, 100 * score, 100 * next, 20.0}, at::kDouble).unsqueeze(0).contiguous()};
        QCOMPARE(oracle_choice(set, gates_), std::vector<int>{1});
        QCOMPARE(best_shares(set, gates_), (std::vector<double>{0.5, 0.5, 0}));
    }

    void an_instances_score_is_its_ndcg_and_its_margin() {
        RandomStream random(3, "tests.instance");
        for (int round = 0; round < 200; ++round) {
            const auto m = static_cast<std::int64_t>(3 + random.below(30));
            std::vector<float> scores;
            for (std::int64_t d = 0; d < m; ++d) scores.push_back(static_cast<float>(random.below(8)));
            std::vector<std::uint32_t> relevant;
            for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(m); ++d)
                if (random.below(5) == 0 || relevant.empty()) relevant.push_back(d);
            std::vector<std::uint32_t> order;
            for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(m); ++d) order.push_back(d);
            std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return scores[a] > scores[b]; });
            double dcg = 0, ideal = 0, positive = -1, other = -1;
            for (std::size_t rank = 0; rank < std::min<std::size_t>(10, order.size()); ++rank)
                if (std::count(relevant.begin(), relevant.end(), order[rank])) dcg += 1 / std::log2(static_cast<double>(rank) + 2);
            for (std::size_t rank = 0; rank < std::min<std::size_t>(10, relevant.size()); ++rank)
                ideal += 1 / std::log2(static_cast<double>(rank) + 2);
            for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(m); ++d) {
                double& best = std::count(relevant.begin(), relevant.end(), d) ? positive : other;
                best = std::max(best, static_cast<double>(scores[d]));
            }
            const auto [score, margin] = instance_score(scores.data(), m, relevant);
            QVERIFY(std::abs(score - dcg / ideal) < 1e-12);
            QVERIFY(margin == (other < 0 ? 0 : positive - other));
        }
    }

    void oracles_take_the_best_by_query_and_by_set() {
        const StudySet set{"s",
                           "red",
                           std::vector<std::string>(3, "q"),
                           {},
                           at::tensor({0., 10., 30., 20., 50., 10., 0., 60., 60., 5., 90., 70.}, at::kDouble).view({3, 4})};
        QCOMPARE(oracle_choice(set, {1, 2, 3}), (std::vector<int>{2, 3, 2}));
        QCOMPARE(best_individual(set, {1, 3}), 3);
        QCOMPARE(chosen_scores(set, {1, 1, 3}), (std::vector<double>{10, 10, 70}));
        const auto best = best_shares(set, {2, 3});
        QVERIFY(std::abs(best[0] - 2.0 / 3) < 1e-12 && std::abs(best[1] - 1.0 / 3) < 1e-12);
        QCOMPARE(shares({1, 1, 2, 1}, {1, 2, 3}), (std::vector<double>{0.75, 0.25, 0}));
    }

    void the_largest_domains_are_sampled_down_to_a_total() {
        QCOMPARE(cap_for_total({10, 20, 100}, 60), std::size_t{30});
        QCOMPARE(cap_for_total({10, 20, 100}, 500), std::size_t{100});
        QCOMPARE(cap_for_total({50, 50, 50}, 90), std::size_t{30});
        QCOMPARE(cap_for_total({}, 9), std::size_t{0});
    }

    void a_fixed_gate_that_there_will_not_be_is_refused_before_any_is_trained() {
        const auto fixed = [](const char* gate) { return num_stages({"a", "b"}, {{"router", "fixed"}, {"fixed_gate", gate}}); };
        EXPECT_ERROR(fixed("c"), "fixed_gate is 'c', which is no gate", "multi-task");
        EXPECT_ERROR(fixed(""), "fixed_gate is ''");
        for (const char* gate : {"a", "base", "multi-task"}) QCOMPARE(fixed(gate), std::size_t{3});
    }

    void a_training_size_that_stands_twice_makes_one_gate_a_domain() {
        QCOMPARE(num_stages({"a", "b"}, {{"training_sizes", {20, 10, 20}}}), std::size_t{3 + 4});
    }

    void gates_whose_folders_would_be_one_are_refused_with_both() {
        QCOMPARE(num_stages({"a", "b"}, Json::object()), std::size_t{3});
        EXPECT_ERROR(num_stages({"a", "multi-task"}, Json::object()), "gates 'multi-task' and 'multi-task'", "one folder, multi-task");
        EXPECT_ERROR(num_stages({"a", "a-of-100"}, {{"training_sizes", {100}}}), "'a of 100'", "another name");
    }

    void a_library_is_read_as_it_was_written() {
        TemporaryDirectory folder;
        library_.write(folder.path(), "library-1");
        const Library again = Library::read(folder.path(), "library-1", library_.description());
        QCOMPARE(again.domains.size(), library_.domains.size());
        QCOMPARE(again.gates.size(), library_.gates.size());
        for (std::size_t d = 0; d < again.domains.size(); ++d) {
            QVERIFY(again.domains[d].queries == library_.domains[d].queries && again.domains[d].relevant == library_.domains[d].relevant);
            QVERIFY(at::equal(again.domains[d].base, library_.domains[d].base) &&
                    at::equal(again.domains[d].scores, library_.domains[d].scores));
            QVERIFY(at::equal(again.domains[d].margins, library_.domains[d].margins) &&
                    at::equal(again.domains[d].documents, library_.domains[d].documents));
        }
    }

    void the_multi_task_gate_stands_at_the_domains_that_it_was_trained_on() {
        Library two = library_;
        two.gates[2].kind = "single";  // one of three is routed to no more
        const RouterModel router(two, settings_of("pilot"), false, false);
        StudyData data;
        data.router = &router;
        data.trained_domains = 3;
        data.sets.push_back({"set", "red", {"a", "b"}, some_queries(2), at::full({2, 6}, 50.0, at::kDouble)});
        const Figure figure = gate_count_figure(data, 0);
        const auto multi =
            std::find_if(figure.series.begin(), figure.series.end(), [](const Series& one) { return one.name.starts_with("Multi-Task"); });
        QVERIFY(multi != figure.series.end());
        QCOMPARE(multi->x, Vector{3});
    }

    void a_damaged_library_is_named() {
        TemporaryDirectory folder;
        library_.write(folder.path(), "library-1");
        Json description = library_.description();
        description["gates"].erase(0);
        EXPECT_ERROR(Library::read(folder.path(), "library-1", description), "library-1.safetensors", "damaged");
        description = library_.description();
        description["domains"][1]["instances"] = 3;
        EXPECT_ERROR(Library::read(folder.path(), "library-1", description), "damaged");
        write_file_atomic(folder.path() / "library-1.jsonl", "{\"domain\": \"red\", \"query\": \"x\", \"relevant\": [99]}\n");
        EXPECT_ERROR(Library::read(folder.path(), "library-1", library_.description()), "library-1.jsonl:1", "document 99");
    }

  private:
    /// The router's choices where the reference's two best values are further apart than rounding.
    void compare(const QueryRouter& router, const at::Tensor& values) {
        const auto chosen = router.choose(queries_);
        int compared = 0;
        for (std::int64_t q = 0; q < queries_.size(0); ++q) {
            const auto [sorted, order] = values[q].sort(0, true);
            if (sorted[0].item<double>() - sorted[1].item<double>() < 1e-3) continue;
            QCOMPARE(chosen[static_cast<std::size_t>(q)], gates_[static_cast<std::size_t>(order[0].item<std::int64_t>())]);
            ++compared;
        }
        QVERIFY(compared > 50);
    }
};

FACETER_TEST(TestRouters)
#include "test_routers.moc"
