#pragma once
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>

#include <exception>

#include "model/ops.h"

/// What the operations' implementations share. Not for others.
namespace faceter {

/// Runs task(i) for i < count on the threads of ATen's pool, as they become free. Each task writes its own outputs, so the bits do not
/// depend on who does what. What a task throws (memory that is not there) comes when all are over.
template <typename Task>
void parallel_tasks(std::int64_t count, Task task) {
    if (count == 1 || at::get_num_threads() == 1 || at::in_parallel_region()) {
        for (std::int64_t i = 0; i < count; ++i) task(i);
        return;
    }
    std::exception_ptr thrown;
#pragma omp parallel for schedule(dynamic, 1)
    for (std::int64_t i = 0; i < count; ++i) {
        try {
            task(i);
        } catch (...) {
#pragma omp critical(faceter_parallel_tasks)
            thrown = std::current_exception();
        }
    }
    if (thrown) std::rethrow_exception(thrown);
}

/// A C++ value that travels from forward to backward.
template <typename T>
struct Carried : torch::CustomClassHolder {
    explicit Carried(T v) : value(std::move(v)) {}
    T value;
    static c10::IValue wrap(T v) { return c10::IValue::make_capsule(c10::make_intrusive<Carried<T>>(std::move(v))); }
    static const T& from(const c10::IValue& capsule) { return static_cast<const Carried<T>*>(capsule.toCapsule().get())->value; }
};

/// At least `count` floats that belong to the calling thread.
float* thread_scratch(std::size_t count);

/// The rows of each segment, which follow one another. Backward of all of them together is one tensor; of each by itself, as `narrow`
/// would have it, it is as large as x, and there are sums of these.
std::vector<at::Tensor> rows_by_segment(const at::Tensor& x, const std::vector<Segment>& segments);

/// Drops elements of `rows` [N, I] where they stand: rows `begin` and on of a batch.
void drop_rows(const at::Tensor& rows, std::int64_t begin, const PackedLayout& layout, const DropoutSite& dropout);

/// A mask of 0 and 1/(1-p) like x [T, D], for the plain forms.
at::Tensor dropout_mask(const at::Tensor& like, std::int64_t columns, const PackedLayout& layout, const DropoutSite& dropout);

inline float* data(const at::Tensor& t) { return t.defined() ? t.data_ptr<float>() : nullptr; }

}  // namespace faceter
