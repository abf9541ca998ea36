#pragma once
#include <functional>

#include "model/product_weights.h"

namespace faceter {

/// While one lives, this thread's passes ask it how to lay out weights that nobody has prepared: each for one product, so that a pass needs
/// the memory of one of them. Where it answers null they are laid out as ever.
class LayoutRule {
  public:
    using Rule = std::function<ProductPointer(const at::Tensor& weight)>;
    explicit LayoutRule(Rule rule);
    ~LayoutRule();
    LayoutRule(const LayoutRule&) = delete;
    LayoutRule& operator=(const LayoutRule&) = delete;

  private:
    Rule rule_;
    const Rule* before_;
};

/// A weight laid out for one product: as this thread's rule says, else in unprepared_form().
ProductPointer laid_out_once(const at::Tensor& weight);

}  // namespace faceter
