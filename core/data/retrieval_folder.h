#pragma once
#include "data/evaluation_set.h"
#include "data/folder_layout.h"

namespace faceter {

/// A data error where the corpus, the queries or the judgements of the split are missing.
void require_retrieval_files(const FolderContext& context);
/// Corpus, and the queries that the split has judgements of. Data errors name file and line.
RetrievalData read_retrieval(FolderContext& context);
/// The corpus alone.
TextTable read_documents(FolderContext& context);
/// The candidates of each query (has_candidates()), parted by the judgements: what is relevant, and all others. Queries without one of both
/// are left out and counted.
RerankingData read_candidates(FolderContext& context);

}  // namespace faceter
