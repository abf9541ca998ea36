#pragma once
#include "data/example_rows.h"
#include "eval/tasks.h"
#include "session/seen_text.h"
#include "session/session_data.h"

namespace faceter::worker {

/// The instructions and limits of a set's sides; of test data `negative` is as documents.
struct SetRoutes {
    SeenThrough query, document, negative;
};
/// Those of training: the set's own instructions, where it has some, and query_length and document_length of the first stage of
/// `settings` that trains the task.
SetRoutes routes_of(const EmbeddingModel& model, const TrainingSet& set, const Json& settings);
SetRoutes routes_of(const EvaluationRoutes& routes);

/// {"texts": [seen_text], "label"}: an example as the model sees it.
Json seen_row(const EmbeddingModel& model, const SetRoutes& routes, const ExampleRow& row);
/// [length_histogram] of each side of a set.
Json lengths_of(const EmbeddingModel& model, const SetRoutes& routes, const TrainingSet& set);
Json lengths_of(const EmbeddingModel& model, const SetRoutes& routes, const EvaluationSet& set);

/// The session's methods on one data set, beside those of session_data.h.
Json data_set(const Json& params, SessionData& data, Request& request);
Json data_examples(const Json& params, SessionData& data, Request& request);
Json data_lengths(const Json& params, SessionData& data, Request& request);
Json data_duplicates(const Json& params, SessionData& data, Request& request);
Json data_overlap(const Json& params, SessionData& data, Request& request);

}  // namespace faceter::worker
