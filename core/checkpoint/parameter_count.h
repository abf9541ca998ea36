#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checkpoint/encoder_config.h"
#include "checkpoint/model_folder.h"
#include "text/tokenizer.h"

namespace faceter {

/// How many parameters an encoder of these sizes has at least (biases and norms are left out), as a real number: the sizes of a hostile
/// configuration overflow integers.
double parameters_at_least(const EncoderConfig& config);

/// A weight that torch keeps beside what changes it (jina-embeddings-v3: stacked adapters).
std::string original_name(const std::string& name);

/// The family's names that a checkpoint uses, and what stands in front of them; the configuration's own where it has neither.
std::pair<const EncoderNames&, std::string> names_in(const Weights& weights, const EncoderConfig& config);

/// Before any memory is taken for a model: the weights must hold as many values as the configuration and the Dense modules speak of, so
/// that a model is never larger than its files; each Dense module must take what is before it, and have a bias or none as it says; linear
/// layers that are there have the configuration's sizes, and are of numbers. `name` is config.json's. Throws a data error that gives both.
void require_held_by(const EncoderConfig& config, const std::vector<DenseModule>& heads, const Weights& weights, std::string_view name);

/// The model's tokenizer, as load_tokenizer_for() gives it for a table of so many words.
std::unique_ptr<Tokenizer> load_model_tokenizer(const ModelFolder& folder, const EncoderConfig& config, std::string_view name);

/// What can be known of a model without reading its weights: that its family is known, its configuration supported, its files hold as many
/// values as it speaks of, its layers behind pooling follow from one another, and its tokenizer can be read and is its own. Returns remarks
/// for whoever uses it. Throws a data error.
std::vector<std::string> check_model(const ModelFolder& folder);

}  // namespace faceter
