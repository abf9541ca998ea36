#include "conform/made_texts.h"

#include <fmt/format.h>

#include "common/json.h"
#include "common/random.h"

namespace faceter::conform {
namespace {

std::string sentence(RandomStream& random, std::size_t first, std::size_t count, std::size_t length) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += (i ? " " : "") + words()[first + random.below(count)];
    return text;
}

void write_lines(const fs::path& file, const std::vector<Json>& records) {
    std::string content;
    for (const Json& record : records) content += record.dump() + "\n";
    write_file_atomic(file, content);
}

void write_folder(const fs::path& folder, const char* name, const char* task) {
    make_directories(folder);
    write_file_atomic(folder / "dataset.json", Json{{"name", name}, {"task", task}}.dump());
}

std::vector<Json> labelled(RandomStream& random, int count) {
    std::vector<Json> records;
    for (int i = 0; i < count; ++i)
        records.push_back({{"text", sentence(random, static_cast<std::size_t>(i % 3) * 32, 32, 3 + random.below(6))},
                           {"label", i % 3},
                           {"label_text", fmt::format("topic {}", i % 3)}});
    return records;
}

/// Each query with the documents of one or two others, and what somebody thought of them, 0 to 1.
std::vector<Json> scored_triplets(const std::vector<Json>& pairs) {
    std::vector<Json> triplets = pairs;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        triplets[i]["scores"] = Json::array({0.5 + static_cast<double>(i % 4) / 6});
        for (std::size_t n = 1; n <= 1 + i % 2; ++n) {
            triplets[i]["negatives"].push_back(pairs[(i + n * 5) % pairs.size()]["document"]);
            triplets[i]["scores"].push_back(static_cast<double>(i * n % 3) / 6);
        }
    }
    return triplets;
}

/// Each query is the beginning of a document; the other documents share words with it.
void write_retrieval(RandomStream& random, const fs::path& folder) {
    std::vector<Json> queries, documents;
    std::string judgements = "query-id\tcorpus-id\tscore\n";
    for (int i = 0; i < 30; ++i) {
        const std::string text = sentence(random, 0, 32, 2 + random.below(3));
        documents.push_back({{"_id", fmt::format("d{}", i)}, {"text", text + " " + sentence(random, 0, 32, 2 + random.below(5))}});
        if (i % 2 != 0) continue;
        queries.push_back({{"_id", fmt::format("q{}", i)}, {"text", text}});
        judgements += fmt::format("q{}\td{}\t1\n", i, i);
    }
    make_directories(folder / "qrels");
    write_lines(folder / "corpus.jsonl", documents);
    write_lines(folder / "queries.jsonl", queries);
    write_file_atomic(folder / "qrels/test.tsv", judgements);
}

}  // namespace

const std::vector<std::string>& words() {
    static const std::vector<std::string> all = [] {
        const char* consonants = "bdfgklmnprst";
        const char* vowels = "aeiou";
        std::vector<std::string> made;
        for (std::size_t i = 0; i < 96; ++i) {
            std::string word;
            for (std::size_t s = 0, code = i * 37 + 11; s < 2 + i % 2; ++s, code = code * 7 + 5)
                word += fmt::format("{}{}", consonants[code % 12], vowels[(code / 12) % 5]);
            made.push_back(word + "xyz"[i % 3] + "aeiou"[i / 3 % 5]);
        }
        return made;
    }();
    return all;
}

Texts write_texts(const fs::path& folder) {
    make_directories(folder);
    RandomStream random(7, "matrix texts");
    Texts texts{folder / "pairs.jsonl", folder / "triplets.jsonl", folder / "unscored.jsonl", folder / "topics.jsonl",
                folder / "similar",     folder / "classes",        folder / "found",          {}};
    std::vector<Json> pairs, scored;
    for (int i = 0; i < 64; ++i) {
        const std::string query = sentence(random, 0, 96, 2 + random.below(5));
        pairs.push_back({{"query", query}, {"document", query + " " + sentence(random, 0, 96, 2 + random.below(9))}});
    }
    for (int i = 0; i < 24; ++i) {
        const std::string first = sentence(random, 0, 96, 4), second = i % 2 ? first + " " + words()[3] : sentence(random, 0, 96, 5);
        scored.push_back({{"sentence1", first}, {"sentence2", second}, {"score", (i * 7 % 5) * 0.2 + (i % 2) * 3}});
    }
    write_lines(texts.pairs, pairs);
    std::vector<Json> triplets = scored_triplets(pairs);
    write_lines(texts.triplets, triplets);
    for (Json& triplet : triplets) triplet.erase("scores");
    write_lines(texts.unscored, triplets);
    write_lines(texts.topics, labelled(random, 48));
    write_folder(texts.similar, "similar", "sts");
    write_lines(texts.similar / "test.jsonl", scored);
    write_folder(texts.classes, "classes", "classification");
    write_lines(texts.classes / "train.jsonl", labelled(random, 48));
    write_lines(texts.classes / "test.jsonl", labelled(random, 30));
    write_folder(texts.found, "found", "retrieval");
    RandomStream of_documents(7, "matrix documents");
    write_retrieval(of_documents, texts.found);
    for (int i = 0; i < 9; ++i) texts.to_embed.push_back(sentence(random, 0, 96, 2 + static_cast<std::size_t>(i)));
    texts.to_embed.insert(texts.to_embed.end(), {"", words()[5], sentence(random, 0, 96, 60)});
    return texts;
}

}  // namespace faceter::conform
