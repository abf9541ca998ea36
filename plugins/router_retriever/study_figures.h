#pragma once
#include "study_methods.h"

// The study's figures, each from scores alone.

namespace faceter {

Figure matrix_figure(const StudyData& data);
Figure best_gate_figure(const StudyData& data);
Figure routed_gate_figure(const StudyData& data);
Figure gate_count_figure(const StudyData& data, int orders);
Figure clusters_figure(const StudyData& data, std::vector<int> clusters);
Figure label_weight_figure(const StudyData& data, std::vector<double> weights);
/// Nothing where no gate was trained on another size.
std::vector<std::pair<std::string, Figure>> training_size_figures(const StudyData& data);

}  // namespace faceter
