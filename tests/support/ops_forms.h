#pragma once
#include <QMetaType>
#include <utility>

#include "model/ops.h"

/// Tests over the forms that every operation of an encoder has.
namespace faceter::testing {

inline constexpr std::pair<const char*, OpsForm> ops_forms[] = {
    {"own kernels", OpsForm::kernels}, {"the form of accelerators", OpsForm::device}, {"the plain equation", OpsForm::plain}};

/// All tensors in one form while it lives.
class InForm {
  public:
    explicit InForm(OpsForm form) { force_ops(form); }
    ~InForm() { force_ops({}); }
    InForm(const InForm&) = delete;
    InForm& operator=(const InForm&) = delete;
};

}  // namespace faceter::testing

Q_DECLARE_METATYPE(faceter::OpsForm)
