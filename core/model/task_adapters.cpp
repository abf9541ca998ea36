#include "model/task_adapters.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "common/error.h"
#include "common/file.h"
#include "common/strings.h"

namespace faceter {
namespace {

/// The stacked adapters of a release: W + alpha / r B[t] A[t] of a linear layer, E + alpha / r A[t] B[t] of a table of embeddings.
class Stack {
  public:
    Stack(const EncoderConfig& config, const Json& json, const Weights& weights, const std::string& name)
        : names_(config.released.value_or(config.names)),
          weights_(weights),
          tasks_(json_at<std::vector<std::string>>(json, "lora_adaptations", name)) {
        form_.rank = json_at<std::int64_t>(json, "lora_rank", name);
        form_.alpha = json_at<double>(json, "lora_alpha", name);
        form_.targets = {"all-linear"};
        if (form_.rank < 1 || form_.rank > 4096) throw data_error("{}: lora_rank is {}, expected 1 to 4096", name, form_.rank);
        const std::string first = part(names_.word, 'A');
        for (const std::string& prefix : names_.prefixes)
            if (weights.find(prefix + first)) prefix_ = prefix;
    }

    const std::vector<std::string>& tasks() const { return tasks_; }
    const AdapterConfig& form() const { return form_; }

    LowRankUpdate update(const LinearPlace& place, std::int64_t all_rows, std::int64_t task) const {
        const std::string module = fmt::format(fmt::runtime(names_.block), place.block) + name_of(place.which);
        const at::Tensor a = read(part(module, 'A'), {form_.rank, place.columns}, task),
                         b = read(part(module, 'B'), {all_rows, form_.rank}, task);
        return {place, a, b.narrow(0, place.first_row, place.rows).clone()};
    }
    TableUpdate update(const TablePlace& place, std::int64_t task) const {
        const std::string& module = place.which == EmbeddingTable::word ? names_.word : names_.token_type;
        return {place, read(part(module, 'A'), {place.rows, form_.rank}, task).t().contiguous(),
                read(part(module, 'B'), {form_.rank, place.columns}, task).t().contiguous()};
    }

  private:
    static std::string part(const std::string& module, char which) {
        return fmt::format("{}.parametrizations.weight.0.lora_{}", module, which);
    }
    /// The release joins query, key and value.
    const std::string& name_of(BlockLinear which) const {
        switch (which) {
            case BlockLinear::qkv:
                return names_.qkv.front();
            case BlockLinear::attention_output:
                return names_.attention_output;
            case BlockLinear::up:
                return names_.up.front();
            case BlockLinear::down:
                break;
        }
        return names_.down;
    }
    at::Tensor read(const std::string& own_name, std::vector<std::int64_t> shape, std::int64_t task) const {
        const std::string name = prefix_ + own_name;
        shape.insert(shape.begin(), static_cast<std::int64_t>(tasks_.size()));
        const TensorInfo& info = weights_.at(name);
        if (info.shape != shape)
            throw data_error("{}: tensor '{}' has shape [{}], config.json makes it [{}]", weights_.description(), name,
                             fmt::join(info.shape, ", "), fmt::join(shape, ", "));
        const at::Tensor all = at::empty(shape, at::kFloat);
        weights_.read_float(name, {all.data_ptr<float>(), static_cast<std::size_t>(all.numel())});
        return all.select(0, task).clone();
    }

    EncoderNames names_;
    const Weights& weights_;
    std::vector<std::string> tasks_;
    AdapterConfig form_;
    std::string prefix_;
};

/// Of what a block joins.
std::int64_t rows_of(const std::vector<LinearPlace>& places, const LinearPlace& of) {
    std::int64_t rows = 0;
    for (const LinearPlace& place : places)
        if (place.block == of.block && place.which == of.which) rows += place.rows;
    return rows;
}

void add_stacked(Encoder& encoder, const ModelFolder& files) {
    const Weights weights = files.weights();
    const Stack stack(encoder.config(), files.config, weights, (files.encoder_folder / "config.json").string());
    const auto places = encoder.linears();
    for (std::size_t task = 0; task < stack.tasks().size(); ++task) {
        Adapter adapter{stack.tasks()[task], stack.form(), {}, {}};
        adapter.blocks.resize(encoder.blocks().size());
        const auto index = static_cast<std::int64_t>(task);
        for (const LinearPlace& place : places) adapter.at(place).push_back(stack.update(place, rows_of(places, place), index));
        for (const TablePlace& place : encoder.tables()) adapter.tables.push_back(stack.update(place, index));
        encoder.add_adapter(std::move(adapter));
    }
}

std::vector<fs::path> adapter_folders(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder))
        if (fs::exists(entry.path() / "adapter_config.json") && fs::exists(entry.path() / "adapter_model.safetensors"))
            found.push_back(entry.path());
    std::sort(found.begin(), found.end());
    return found;
}

std::string plain_name(std::string name) {
    std::replace_if(
        name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
    return name;
}

}  // namespace

void open_task_adapters(EmbeddingModel& model, const ModelFolder& files) {
    Encoder& encoder = *model.encoders.front();
    if (files.config.contains("lora_adaptations") && encoder.config().released) {
        add_stacked(encoder, files);
        return;
    }
    for (const fs::path& folder : adapter_folders(files.folder))
        encoder.add_adapter(folder.filename().string(), AdapterFolder::open(folder));
}

std::optional<std::size_t> find_task_adapter(const EmbeddingModel& model, const std::string& task) {
    const auto& adapters = model.encoders.front()->adapters();
    std::optional<std::size_t> nearly;
    for (std::size_t i = 0; i < adapters.size(); ++i) {
        if (adapters[i].name == task) return i;
        if (!nearly && plain_name(adapters[i].name) == plain_name(task)) nearly = i;
    }
    return nearly;
}

}  // namespace faceter
