#pragma once
#include "eval/embedder.h"
#include "train/process_group.h"

/// Evaluation by all processes of a run: rank 0 scores, and what it embeds on the way all of them embed.
namespace faceter {

/// embed_texts() on rank 0, a share of the texts on each rank; the others are in serve_embeddings(). Few texts are embedded by rank 0
/// alone.
at::Tensor embed_on_all_ranks(const EmbeddingModel& model, ProcessGroup& group, std::span<const std::string_view> texts, const Route& route,
                              const EmbedOptions& options);

/// On every rank but 0: embeds what rank 0 asks for until it lets go. The model must be rank 0's.
void serve_embeddings(const EmbeddingModel& model, ProcessGroup& group);

/// On rank 0, when its scores are done. Alone it does nothing.
void let_servers_go(ProcessGroup& group);

}  // namespace faceter
