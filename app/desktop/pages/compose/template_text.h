#pragma once

namespace faceter::desktop {

/// What a new experiment begins with: a good first one on this machine's package index, short, with a line on each part.
inline constexpr const char* template_text =
    R"(# A first experiment on this machine's own package index: does an instruction in front of the text help?
name: first
description: A plain and an instruction-conditioned encoder on descriptions of Debian packages

model: minilm          # a Hugging Face folder, or org/name in its cache, serves as well
max_length: 64         # tokens
seeds: [1]             # one run each; three or more make differences testable

tasks:
  retrieval:           # from a one-line synopsis to the long description
    instructions: {query: "search query: ", document: "search document: "}
    train:
      - {name: synopses, source: debian, view: synopsis_description, max_examples: 1200}
  classification:      # description -> section of the archive
    instructions: {text: "classification: "}
    train:
      - {name: sections, source: debian, view: section, max_examples: 800}

variants:
  EM: {method: dense}          # no instructions
  IC: {method: instruction}    # the instruction stands in front of the text

training:
  batch_size: 32
  learning_rate: 2.0e-5

evaluation:
  datasets:
    - {name: synopses, source: debian, view: synopsis_description, task: retrieval, max_documents: 2000, max_queries: 200}
    - {name: sections, source: debian, view: section, task: classification, max_examples: 400}
)";

}  // namespace faceter::desktop
