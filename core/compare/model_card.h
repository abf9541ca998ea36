#pragma once
#include <map>
#include <optional>
#include <string>

#include "record/run_directory.h"

namespace faceter {

/// What an exported folder is, beside the run that it was made of.
struct ExportedFolder {
    std::string target;                          ///< "sentence-transformers", "onnx", "peft", "faceter"
    std::string route;                           ///< "retrieval.query" where it serves one alone; empty: all that the run has
    std::map<std::string, std::string> prompts;  ///< name -> what goes in front of a text
    std::string default_prompt;                  ///< a name, or empty
    std::string only_faceter;                    ///< why no other program loads it, as "its ..."; empty: they do
    std::string proof;                           ///< ExportProof::lines()
    fs::path start_model;                        ///< the folder that training began with; empty: not known
    /// Of PEFT: the folder of each adapter -> the prompts that it is for, joined; empty where a router chose its texts.
    std::map<std::string, std::string> adapters = {};
    /// Of ONNX: what its int8 form keeps in float32, as a sentence or empty; nothing where it has no such form.
    std::optional<std::string> int8 = {};
};

/// README.md of the folder (Mitchell et al., 2019; the hub's front matter): what it was trained on, its scores with the test against the
/// start model of the same experiment where the project has one, prompts, how to load it, the start model's licence, and who proved it.
std::string model_card(const RunDirectory& run, const ExportedFolder& folder);

/// The licence that a model folder's README.md names in its front matter ("apache-2.0"); empty: it names none.
std::string licence_of(const fs::path& folder);

}  // namespace faceter
