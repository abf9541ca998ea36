#pragma once
#include "study_methods.h"

// The study's tables, each from scores alone.

namespace faceter {

Table score_table(const StudyData& data, const std::vector<StudyMethod>& methods, std::vector<std::string> notes);
/// The first method against each other one, query by query.
Table test_table(const StudyData& data, const std::vector<StudyMethod>& methods);
Table matrix_table(const StudyData& data);
Table agreement_table(const StudyData& data);
Table own_gate_table(const StudyData& data);
Table second_gate_table(const StudyData& data, const std::vector<std::string>& gates);
Table error_table(const StudyData& data);
Table example_table(const StudyData& data, std::size_t count);
Table gate_table(const StudyData& data, const EmbeddingModel& model);

}  // namespace faceter
