#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "eval/embedder.h"
#include "eval/set_mining.h"

namespace faceter {

class ProcessGroup;

/// A model that judges texts for what is done before training: consistency filtering, mining, difficulties, task vectors.
class Teacher {
  public:
    virtual ~Teacher() = default;
    /// float32 [N, D] on the host.
    virtual at::Tensor embed(std::span<const std::string_view> texts, const Route& route) = 0;
    /// Of its weights and settings: a key for what was measured with it.
    virtual std::string fingerprint() const = 0;
    /// On every rank but 0 of a run: embeds what rank 0 asks for, until it lets go. Alone, both do nothing.
    virtual void serve() {}
    virtual void let_go() {}
};

/// A model as teacher, on the device that it is moved to. What it embedded it knows as long as that takes no more than `max_bytes`. With a
/// group, all its ranks embed what rank 0 asks for.
class ModelTeacher final : public Teacher {
  public:
    static constexpr std::size_t most_bytes = std::size_t(2) << 30;
    /// Another model than the one that is trained: a name or folder as `model` takes. `max_length`: at most so many tokens; 0: its own.
    ModelTeacher(const std::string& name, std::size_t max_length, const c10::Device& device, ProcessGroup* group,
                 std::size_t max_bytes = most_bytes);
    ModelTeacher(std::unique_ptr<EmbeddingModel> model, const c10::Device& device, ProcessGroup* group, std::size_t max_bytes = most_bytes);
    /// A model as it stands, which must outlive this.
    ModelTeacher(const EmbeddingModel& model, ProcessGroup* group);

    at::Tensor embed(std::span<const std::string_view> texts, const Route& route) override { return embedder_.embed(texts, route); }
    std::string fingerprint() const override { return embedder_.model().fingerprint(); }
    void serve() override;
    void let_go() override;
    /// Called with how many of some texts are embedded, now and then; may throw to stop, alone: other ranks would wait for what was begun.
    void set_progress(std::function<void(std::size_t)> progress) { embedder_.set_progress(std::move(progress)); }

    /// Whether the model has a route for the task's texts of its own.
    bool knows(const std::string& task) const;
    /// The task's route, where the model has one (another run's by the task's name). Else, of a model that is not at hand or without a
    /// task, the folder's prompt and adapter for queries or documents by the names in use, else its default prompt.
    Route route(const std::string& task, Role role) const;
    /// Embeddings of a task's texts, ready to be compared by the model's similarity.
    TeacherEmbedder of_task(const std::string& task);
    /// In this company and no other: the same texts at another time, or in another process, give the same bits. Nothing is remembered.
    at::Tensor embed_afresh(std::span<const std::string_view> texts, const Route& route) const {
        return embed_texts(embedder_.model(), texts, route);
    }
    std::int64_t dim() const { return embedder_.model().dim(); }
    Similarity similarity() const { return embedder_.model().folder.similarity; }

  private:
    std::unique_ptr<EmbeddingModel> own_;
    CachedEmbedder embedder_;
    ProcessGroup* group_;
};

}  // namespace faceter
