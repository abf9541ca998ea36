#pragma once
#include <string>
#include <vector>

#include "common/file.h"

namespace faceter::conform {

/// The made language: 96 words of two or three syllables.
const std::vector<std::string>& words();

/// Tiny data sets in its words, written once for all cells.
struct Texts {
    fs::path pairs;                     ///< pairs.jsonl: queries and documents that share words
    fs::path triplets;                  ///< triplets.jsonl: the same with a hard negative or two each, and scores
    fs::path unscored;                  ///< unscored.jsonl: those without the scores
    fs::path topics;                    ///< topics.jsonl: labelled, a label a third of the words
    fs::path similar, classes, found;   ///< evaluation folders: STS, classification, retrieval
    std::vector<std::string> to_embed;  ///< ordinary ones, then an empty one, one of a single word, and one beyond any limit here
};
Texts write_texts(const fs::path& folder);

}  // namespace faceter::conform
