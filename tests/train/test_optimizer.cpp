#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "common/json.h"
#include "support/tensors.h"
#include "support/test.h"
#include "train/optimizer.h"

using namespace faceter;
using namespace faceter::testing;

class TestOptimizer : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void three_steps_equal_pytorchs_adamw() {
        NEED_SHARED();
        const SafetensorsFile tensors(shared_folder() / "fixtures/losses/losses.safetensors");
        const Json about = read_json(shared_folder() / "fixtures/losses/losses.json").at("cases").at("adamw");
        at::Tensor value = read_tensor(tensors, "adamw.start").requires_grad_();
        AdamW optimizer({{"w", value, true}}, {0.9, 0.999, about.at("eps").get<double>(), about.at("weight_decay").get<double>()});
        for (int step = 0; step < 3; ++step) {
            value.mutable_grad() = read_tensor(tensors, "adamw.gradient" + std::to_string(step));
            optimizer.step(about.at("lr").get<double>(), 0, {});
            QVERIFY(relative_difference(value.detach(), read_tensor(tensors, "adamw.after" + std::to_string(step))) < 1e-10);
        }
    }
    void gradients_are_scaled_down_to_the_norm_and_never_up() {
        at::Tensor a = at::ones({4}, at::kDouble), b = at::ones({4}, at::kDouble);
        AdamW clipped({{"a", a, false}}, {}), plain({{"b", b, false}}, {});
        a.mutable_grad() = at::full({4}, 5.0, at::kDouble);  // norm 10
        b.mutable_grad() = at::full({4}, 0.5, at::kDouble);
        QCOMPARE(clipped.step(0.1, 1.0, {}).item<double>(), 10.0);
        plain.step(0.1, 0, {});
        QVERIFY(max_difference(clipped.state()[0].tensor, plain.state()[0].tensor) < 1e-12);
        at::Tensor c = at::ones({4}, at::kDouble);
        AdamW small({{"c", c, false}}, {});
        c.mutable_grad() = at::full({4}, 0.01, at::kDouble);
        small.step(0.1, 1.0, {});
        QVERIFY(max_difference(small.state()[0].tensor, at::full({4}, 0.001, at::kDouble)) < 1e-12);
    }
    void a_step_with_a_broken_gradient_leaves_values_moments_and_counts() {
        at::Tensor a = at::ones({3}), b = at::ones({2});
        AdamW optimizer({{"a", a, true}, {"b", b, false}}, {});
        a.mutable_grad() = at::full({3}, 0.5);
        b.mutable_grad() = at::full({2}, 0.5);
        optimizer.step(0.1, 1, {});
        std::vector<at::Tensor> before{a.clone(), b.clone()};
        for (const NamedTensor& t : optimizer.state()) before.push_back(t.tensor.clone());
        b.mutable_grad() = at::full({2}, std::numeric_limits<float>::infinity());
        for (const double max_norm : {1.0, 0.0}) {
            QVERIFY(!std::isfinite(optimizer.step(0.1, max_norm, {}).item<double>()));
            std::vector<at::Tensor> after{a, b};
            for (const NamedTensor& t : optimizer.state()) after.push_back(t.tensor);
            for (std::size_t i = 0; i < before.size(); ++i) QVERIFY(at::equal(before[i], after[i]));
        }
    }
    void norms_and_biases_do_not_decay() {
        at::Tensor kept = at::ones({2}), decayed = at::ones({2});
        AdamW optimizer({{"LayerNorm.weight", kept, false}, {"dense.weight", decayed, true}}, {0.9, 0.999, 1e-8, 0.5});
        kept.mutable_grad() = at::zeros({2});
        decayed.mutable_grad() = at::zeros({2});
        optimizer.step(0.1, 0, {});
        QCOMPARE(kept[0].item<double>(), 1.0);
        QVERIFY(decayed[0].item<double>() < 0.96);
    }
    void the_learning_rate_rises_and_falls() {
        QCOMPARE(learning_rate_at(Schedule::cosine, 1.0, 0, 10, 110), 0.1);
        QCOMPARE(learning_rate_at(Schedule::cosine, 1.0, 10, 10, 110), 1.0);
        QVERIFY(std::abs(learning_rate_at(Schedule::cosine, 1.0, 60, 10, 110) - 0.5) < 1e-12);
        QVERIFY(std::abs(learning_rate_at(Schedule::linear, 1.0, 85, 10, 110) - 0.25) < 1e-12);
        QCOMPARE(learning_rate_at(Schedule::constant, 1.0, 109, 10, 110), 1.0);
    }
};

FACETER_TEST(TestOptimizer)
#include "test_optimizer.moc"
