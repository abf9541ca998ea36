#include "plugin/onnx_export.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <limits>

#include "common/error.h"
#include "common/strings.h"
#include "onnx/onnx_file.h"
#include "plugin/export_peers.h"
#include "plugin/model_writer.h"
#include "plugin/onnx_run.h"
#include "train/token_objective.h"

namespace faceter {

std::string beyond_onnx(const EmbeddingModel& model) {
    if (const std::string why = beyond_dense(model); !why.empty()) return why;
    const auto& blocks = model.encoders.front()->blocks();
    if (std::any_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.routing.has_value(); }))
        return "its blocks route tokens";
    return beyond_onnx(model.folder, model.encoders.front()->config());
}

OnnxFiles write_onnx_model(const fs::path& folder, const EmbeddingModel& model, const std::vector<OnnxForm>& forms) {
    write_model(folder, model);
    const ModelFolder written = ModelFolder::open(folder);
    make_directories(folder / "onnx");
    OnnxFiles files{forms, std::nullopt};
    for (const OnnxForm form : forms) {
        if (form == OnnxForm::int8) files.int8 = choose_int8(written, model, (1 + onnx_limits(form).smallest_cosine) / 2);
        const Int8Plan plan = files.int8 ? files.int8->plan : Int8Plan();
        write_onnx(folder / onnx_file_of(form), encoder_graph(written, form, plan));
    }
    for (const fs::path& file : written.weight_files) fs::remove(file);
    fs::remove(folder / mlm_head_file);
    return files;
}

ExportLimits onnx_limits(OnnxForm form) {
    if (form == OnnxForm::int8) return {std::numeric_limits<double>::max(), 0.995};  // an infinite difference is beyond it
    return {};
}

OnnxCheck::OnnxCheck(const EmbeddingModel& model, const std::vector<Route>& routes) {
    const at::NoGradGuard no_gradients;
    if (routes.empty()) add_texts(model, {});
    for (const Route& route : routes) add_texts(model, route);
}

void OnnxCheck::add_texts(const EmbeddingModel& model, const Route& route) {
    const Encoder& encoder = *model.encoders.at(static_cast<std::size_t>(route.encoder));
    const std::string behind = route.instruction.empty() ? "" : " behind " + faceter::quoted(route.instruction, 40);
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < export_check_texts().size(); ++i) {
        Text own;
        own.text = route.instruction + export_check_texts()[i];
        own.name = export_text_name(i) + behind;
        model.tokenizer->encode(own.text, model.max_length, own.ids);
        const PackedBatch batch = make_packed_batch({{own.ids.data(), static_cast<std::int64_t>(own.ids.size()), 0, route.path}});
        own.hidden = own.ids.empty() ? at::zeros({0, encoder.config().hidden_dim}) : encoder.forward(batch, {}).to(at::kFloat);
        own.embedding = model.embed(encoder, batch, {}).select(0, 0).to(at::kFloat);
        all.push_back(texts_.size());
        texts_.push_back(std::move(own));
    }
    const auto longest =
        std::max_element(all.begin(), all.end(), [&](auto a, auto b) { return texts_[a].ids.size() < texts_[b].ids.size(); });
    add_batch({*longest});
    all.erase(longest);
    add_batch(all);
}

void OnnxCheck::add_batch(const std::vector<std::size_t>& texts) {
    std::size_t length = 1;
    for (const std::size_t i : texts) length = std::max(length, texts_[i].ids.size());
    const std::vector<std::int64_t> shape{static_cast<std::int64_t>(texts.size()), static_cast<std::int64_t>(length)};
    Batch batch{texts, at::zeros(shape, at::kLong), at::zeros(shape, at::kLong)};
    for (std::size_t row = 0; row < texts.size(); ++row) {
        const std::vector<std::int32_t>& ids = texts_[texts[row]].ids;
        std::copy(ids.begin(), ids.end(), batch.ids.data_ptr<std::int64_t>() + row * length);
        std::fill_n(batch.mask.data_ptr<std::int64_t>() + row * length, ids.size(), 1);
    }
    batches_.push_back(std::move(batch));
}

void OnnxCheck::require_tokens(const fs::path& folder) const {
    const OnnxModules modules(folder);
    for (const Text& text : texts_)
        if (modules.tokens(text.text) != text.ids)
            throw failure("the export's tokenizer gives other tokens of {} than the model's; nothing was left", text.name);
}

void OnnxCheck::compare(ExportDifference& difference, const Batch& batch, OnnxForm form, const OnnxModules& modules,
                        const Outputs& outputs) const {
    for (std::size_t row = 0; row < batch.texts.size(); ++row) {
        const Text& text = texts_[batch.texts[row]];
        const std::string& name = text.name;
        const auto at = static_cast<std::int64_t>(row);
        difference.compare(text.embedding, outputs.embedding[at], name);
        const std::int64_t tokens = text.hidden.size(0);
        const at::Tensor own = outputs.hidden[at].narrow(0, 0, tokens);
        difference.compare(text.embedding, modules.embedding(own), name + ", pooled by the folder's modules");
        if (form == OnnxForm::int8 && tokens > 0) difference.compare(text.hidden.flatten(), own.flatten(), name + ", its hidden states");
        for (std::int64_t token = 0; form == OnnxForm::float32 && token < tokens; ++token)
            difference.compare(text.hidden[token], own[token], name + ", its hidden states");
        ++difference.texts;
    }
}

ExportDifference OnnxCheck::by_faceter(const fs::path& folder, OnnxForm form) const {
    const at::NoGradGuard no_gradients;
    const OnnxRun run(read_onnx(folder / onnx_file_of(form)));
    const OnnxModules modules(folder);
    ExportDifference difference;
    difference.by = "faceter";
    for (const Batch& batch : batches_) {
        const auto outputs = run({{"input_ids", batch.ids}, {"attention_mask", batch.mask}});
        compare(difference, batch, form, modules, {outputs.at("last_hidden_state"), outputs.at("sentence_embedding")});
    }
    return difference;
}

std::optional<ExportDifference> OnnxCheck::by_onnxruntime(const fs::path& folder, OnnxForm form, std::string& why) const {
    std::vector<OnnxRequest> requests;
    for (const Batch& batch : batches_) {
        const auto* ids = batch.ids.data_ptr<std::int64_t>();
        const auto* mask = batch.mask.data_ptr<std::int64_t>();
        requests.push_back({batch.ids.size(0), batch.ids.size(1), {ids, ids + batch.ids.numel()}, {mask, mask + batch.mask.numel()}});
    }
    const std::int64_t hidden = texts_.front().hidden.size(1), dim = texts_.front().embedding.size(0);
    auto answer = ask_onnxruntime(folder / onnx_file_of(form), requests, hidden, dim, why);
    if (!answer) return std::nullopt;
    const OnnxModules modules(folder);
    ExportDifference difference;
    difference.by = "onnxruntime " + answer->version;
    for (std::size_t i = 0; i < batches_.size(); ++i) {
        const std::int64_t rows = requests[i].rows, columns = requests[i].columns;
        compare(difference, batches_[i], form, modules,
                {at::from_blob(answer->hidden[i].data(), {rows, columns, hidden}, at::kFloat),
                 at::from_blob(answer->embeddings[i].data(), {rows, dim}, at::kFloat)});
    }
    return difference;
}

ExportProof prove_onnx_export(const ExportCheck& check, const OnnxCheck& onnx, const fs::path& folder, const OnnxFiles& files,
                              const Json& source, const ExportStep& step) {
    check.require_prompts(folder);
    onnx.require_tokens(folder);
    ExportRecord record;
    std::string why;
    if (files.int8) record.note("int8", files.int8->to_json());
    for (const OnnxForm form : files.forms) {
        const std::string in = form == OnnxForm::int8 ? " in int8" : "";
        const auto take = [&](ExportDifference difference) {
            difference.by += in;
            record.take(difference, onnx_limits(form));
        };
        step("running the graph" + in + " and comparing");
        take(onnx.by_faceter(folder, form));
        step("comparing in onnxruntime" + in);
        if (const auto difference = onnx.by_onnxruntime(folder, form, why))
            take(*difference);
        else
            record.miss("onnxruntime" + in, why);
    }
    step("comparing in sentence-transformers");
    if (const auto difference = check.by_sentence_transformers(folder, why, PeerBackend::onnx))
        record.take(*difference, {});
    else
        record.miss("sentence-transformers", why);
    return record.write(folder, source);
}

}  // namespace faceter
