#pragma once

namespace faceter {

/// P(T > t) of Student's t with `df` > 0 degrees of freedom. Right into the far tail (p = 1e-300): never formed as 1 - p.
double student_t_upper_tail(double t, double df);
/// The t with P(T > t) = `upper_tail`.
double student_t_upper_quantile(double upper_tail, double df);
/// P(Z > z) of the standard normal.
double normal_upper_tail(double z);

}  // namespace faceter
