#pragma once
#include <string>
#include <vector>

#include "common/error.h"
#include "training.h"

namespace faceter::testing {

/// InfoNCE that counts its calls, one a step, and whose gradient, not its value, is broken at one of them; at another one it fails.
struct Watched final : PairObjective {
    explicit Watched(int broken = 0) : broken_call(broken) {}
    LossResult operator()(const PairEmbeddings& batch) const override {
        LossResult result = InfoNce({})(batch);
        if (++calls == failing_call) {
            TORCH_CHECK(!shortage, shortage);
            throw failure("the objective has failed");
        }
        if (calls == broken_call) result.loss = result.loss + (batch.queries.sum() * 0).abs().sqrt();
        return result;
    }
    int broken_call, failing_call = 0;
    const char* shortage = nullptr;  ///< what a library of CUDA's says where it fails
    mutable int calls = 0;
};

/// A trainer's run, and what it says in its order: "2late " where step 2 was told behind the loss of step 3, "saved4 ".
struct WatchedRun {
    explicit WatchedRun(const TrainingSettings& settings, const c10::Device& device, int broken = 0, ProcessGroup* group = nullptr)
        : bench(methods[1], settings, device, at::kDouble, group), objective(broken) {
        bench.trainer.reset();  // takes its hooks with it
        bench.trainer = std::make_unique<Trainer>(*bench.model, bench.stage, 0, *bench.batcher, *bench.curriculum, objective, settings,
                                                  EarlyStopping{}, group ? *group : bench.alone);
    }
    TrainerEvents events() {
        TrainerEvents all;
        all.step = [this](const StepReport& report) {
            order += std::to_string(report.step) + (objective.calls > report.step ? "late " : " ");
            numbers.insert(numbers.end(), {report.loss, report.grad_norm, report.task_losses.begin()->second});
            tokens += report.tokens;
        };
        all.checkpoint = [this](const CheckpointState& state, const std::vector<NamedTensor>&) {
            order += "saved" + std::to_string(state.step) + " ";
            saved = bench.weights();
        };
        return all;
    }
    /// What the run ends with; empty: well.
    std::string error_of(const TrainerEvents& events) {
        try {
            bench.trainer->run(events);
        } catch (const std::exception& error) {
            return error.what();
        }
        return {};
    }
    TrainingBench bench;
    Watched objective;
    std::string order;
    std::vector<double> numbers;
    std::int64_t tokens = 0;
    std::vector<at::Tensor> saved;
};

inline TrainingSettings six_steps(std::int64_t checkpoint_every) {
    TrainingSettings settings = exact_settings();
    settings.steps = 6;
    settings.checkpoint_every_steps = checkpoint_every;
    return settings;
}

}  // namespace faceter::testing
