#include "train/token_budget.h"

#include "support/test.h"

using namespace faceter;

namespace {

/// Batches of six pairs of a set of 20, the last of two, over and over.
struct SixesOfTwenty final : Curriculum {
    std::uint32_t at = 0;
    BatchPlan next() override {
        BatchPlan plan;
        plan.task = "retrieval";
        do {
            plan.items.push_back({0, at});
            plan.keep.push_back(at % 2);
            at = (at + 1) % 20;
        } while (at % 6 != 0 && at != 0);
        return plan;
    }
    std::int64_t num_examples() const override { return 20; }
    std::int64_t num_batches() const override { return 4; }
    Json state() const override { return at; }
    void restore(const Json& state) override { at = state.get<std::uint32_t>(); }
};

/// Two batches an epoch of four pairs: of 20 and 60 tokens in every second epoch, of 40 and 40 in the others.
struct UnequalEpochs final : Curriculum {
    int at = 0;
    BatchPlan next() override {
        constexpr std::uint32_t pairs[4][2] = {{0, 2}, {1, 3}, {0, 1}, {2, 3}};
        BatchPlan plan;
        for (const std::uint32_t pair : pairs[at]) plan.items.push_back({0, pair});
        at = (at + 1) % 4;
        return plan;
    }
    std::int64_t num_examples() const override { return 4; }
    std::int64_t num_batches() const override { return 2; }
    Json state() const override { return at; }
    void restore(const Json& state) override { at = state.get<int>(); }
    static std::vector<double> tokens_of(std::span<const ExampleReference> items) {
        std::vector<double> tokens;
        for (const ExampleReference& item : items) tokens.push_back(item.example < 2 ? 10 : 30);
        return tokens;
    }
};

/// A pair has as many tokens as its number; that of 7 is longer than any budget here.
std::vector<double> tokens_of(std::span<const ExampleReference> items) {
    std::vector<double> tokens;
    for (const ExampleReference& item : items) tokens.push_back(item.example == 7 ? 1000 : 1 + item.example);
    return tokens;
}

std::unique_ptr<Curriculum> within(double budget) { return within_tokens(std::make_unique<SixesOfTwenty>(), 6, budget, tokens_of); }

double sum_of(const BatchPlan& plan) {
    double sum = 0;
    for (const double tokens : tokens_of(plan.items)) sum += tokens;
    return sum;
}

}  // namespace

class TestTokenBudget : public QObject {
    Q_OBJECT

  private Q_SLOTS:
    void batches_keep_within_the_budget_and_leave_no_pair_out() {
        const auto curriculum = within(40);
        std::vector<std::uint32_t> seen;
        for (std::int64_t i = 0; i < curriculum->num_batches(); ++i) {
            const BatchPlan plan = curriculum->next();
            QVERIFY(!plan.items.empty() && plan.task == "retrieval" && plan.keep.size() == plan.items.size());
            QVERIFY(sum_of(plan) <= 40 || plan.items.size() == 1);
            for (std::size_t p = 0; p < plan.items.size(); ++p) {
                seen.push_back(plan.items[p].example);
                QCOMPARE(plan.keep[p], static_cast<std::int64_t>(plan.items[p].example % 2));
            }
        }
        QCOMPARE(seen.size(), std::size_t{20});
        for (std::uint32_t i = 0; i < 20; ++i) QCOMPARE(seen[i], i);
    }
    void epochs_that_are_cut_differently_are_all_counted() {
        for (const std::int64_t epochs : {1, 2, 4}) {
            const auto curriculum = within_tokens(std::make_unique<UnequalEpochs>(), 2, 40, UnequalEpochs::tokens_of, epochs);
            std::int64_t pairs = 0;
            for (std::int64_t i = 0; i < curriculum->num_batches() * epochs; ++i)
                pairs += static_cast<std::int64_t>(curriculum->next().items.size());
            QVERIFY2(pairs >= 4 * epochs, std::to_string(pairs).c_str());
        }
        QCOMPARE(within_tokens(std::make_unique<UnequalEpochs>(), 2, 40, UnequalEpochs::tokens_of)->num_batches(), std::int64_t{2});
        QCOMPARE(within_tokens(std::make_unique<UnequalEpochs>(), 2, 40, UnequalEpochs::tokens_of, 2)->num_batches(), std::int64_t{3});
    }
    void batches_that_are_cut_to_one_pair_are_told() {
        std::vector<std::string> told;
        const auto warn = [&](const std::string& message) { told.push_back(message); };
        within_tokens(std::make_unique<SixesOfTwenty>(), 6, 1, tokens_of, 1, warn);
        QCOMPARE(told.size(), std::size_t{1});
        QVERIFY2(told[0].find("leaves 20 of 20 batches with one pair") != std::string::npos, told[0].c_str());
        within_tokens(std::make_unique<SixesOfTwenty>(), 6, 1e6, tokens_of, 1, warn);
        QCOMPARE(told.size(), std::size_t{1});
    }
    void a_checkpoint_that_was_cut_otherwise_is_told() {
        std::vector<std::string> told;
        const auto warn = [&](const std::string& message) { told.push_back(message); };
        const auto curriculum = within_tokens(std::make_unique<SixesOfTwenty>(), 6, 40, tokens_of, 1, warn);
        told.clear();  // of batches of one pair
        Json state = curriculum->state();
        curriculum->restore(state);
        QCOMPARE(told.size(), std::size_t{0});
        state["batches"] = curriculum->num_batches() + 2;
        curriculum->restore(state);
        QCOMPARE(told.size(), std::size_t{1});
        QVERIFY2(told[0].find("batches when the checkpoint was written, and has") != std::string::npos, told[0].c_str());
        state.erase("batches");
        curriculum->restore(state);
        QCOMPARE(told.size(), std::size_t{2});
        QVERIFY2(told[1].find("an older version of Faceter wrote the checkpoint") != std::string::npos, told[1].c_str());
    }
    void a_budget_that_all_batches_keep_changes_nothing() {
        const auto curriculum = within(1e6);
        SixesOfTwenty plain;
        QCOMPARE(curriculum->num_batches(), plain.num_batches());
        for (int i = 0; i < 9; ++i) {
            const BatchPlan got = curriculum->next(), wanted = plain.next();
            QCOMPARE(got.items.size(), wanted.items.size());
            QCOMPARE(got.items.front().example, wanted.items.front().example);
        }
    }
    void what_is_cut_is_of_about_the_same_size() {
        const auto curriculum = within(12);
        const BatchPlan first = curriculum->next(), second = curriculum->next();  // 1 to 6 tokens, 21 in all
        QVERIFY(std::abs(sum_of(first) - sum_of(second)) <= 6);
        QCOMPARE(first.items.size() + second.items.size(), std::size_t{6});
    }
    void a_resumed_one_goes_on_within_a_batch_that_was_cut() {
        const auto curriculum = within(40);
        for (int steps = 0; steps < 9; ++steps) {
            const auto resumed = within(40);
            resumed->restore(curriculum->state());
            const BatchPlan wanted = curriculum->next();
            const BatchPlan got = resumed->next();
            QCOMPARE(got.items.size(), wanted.items.size());
            QCOMPARE(got.items.front().example, wanted.items.front().example);
            QCOMPARE(resumed->state(), curriculum->state());
        }
    }
};

FACETER_TEST(TestTokenBudget)
#include "test_token_budget.moc"
