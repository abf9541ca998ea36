#pragma once
#include <cstdint>
#include <span>

namespace faceter {

/// Rosenberg and Hirschberg, EMNLP 2007 (scikit-learn's homogeneity_completeness_v_measure, beta = 1).
struct ClusterAgreement {
    double homogeneity = 0;   ///< 1 - H(class | cluster) / H(class); 1 for a single class
    double completeness = 0;  ///< 1 - H(cluster | class) / H(cluster); 1 for a single cluster
    double v_measure = 0;     ///< harmonic mean; 0 where both are 0
};
/// Sizes must be equal (a usage error); empty input scores 1, as in scikit-learn.
ClusterAgreement cluster_agreement(std::span<const std::int32_t> truth, std::span<const std::int32_t> predicted);

}  // namespace faceter
