#include <algorithm>
#include <cmath>
#include <map>

#include "common/strings.h"
#include "compare/mteb_results.h"
#include "experiment/suite.h"

namespace faceter {
namespace {

/// Our names of measures where MTEB has others.
const std::map<std::string, std::string>& mteb_measures() {
    static const std::map<std::string, std::string> names{{"macro_f1", "f1"}, {"weighted_f1", "f1_weighted"}};
    return names;
}

Json fraction(double percent) { return std::isfinite(percent) ? Json(std::round(percent * 1e4) / 1e6) : Json(); }

/// What MTEB calls the main score of a task type.
std::string main_measure(const std::string& task_type, const std::string& ours) {
    return task_type == "pair_classification" ? "max_ap" : ours;
}

Json score_object(const Json& metrics, const std::string& task_type, const std::string& metric, double score, const std::string& subset,
                  const Json& languages) {
    Json object = Json::object();
    for (const auto& [name, value] : metrics.items()) {
        const auto renamed = mteb_measures().find(name);
        object[renamed == mteb_measures().end() ? name : renamed->second] = value.is_number() ? fraction(value.get<double>()) : Json();
    }
    object[metric] = fraction(score);
    // The model's own similarity is the cosine here.
    if (task_type == "sts" || task_type == "summarisation")
        for (const char* name : {"spearman", "pearson"}) object[name] = object.value(std::string("cosine_") + name, Json());
    const std::string main = main_measure(task_type, metric);
    object["main_score"] = object.contains(main) ? object[main] : object[metric];
    object["hf_subset"] = subset;
    object["languages"] = languages;
    return object;
}

/// Codes of two letters, as MTEB's subsets are called, as MTEB writes the languages.
const std::map<std::string_view, std::string_view>& language_codes() {
    static const std::map<std::string_view, std::string_view> codes{
        {"af", "afr-Latn"}, {"am", "amh-Ethi"}, {"ar", "ara-Arab"}, {"as", "asm-Beng"}, {"az", "aze-Latn"}, {"be", "bel-Cyrl"},
        {"bg", "bul-Cyrl"}, {"bn", "ben-Beng"}, {"bs", "bos-Latn"}, {"ca", "cat-Latn"}, {"cs", "ces-Latn"}, {"cy", "cym-Latn"},
        {"da", "dan-Latn"}, {"de", "deu-Latn"}, {"el", "ell-Grek"}, {"en", "eng-Latn"}, {"eo", "epo-Latn"}, {"es", "spa-Latn"},
        {"et", "est-Latn"}, {"eu", "eus-Latn"}, {"fa", "fas-Arab"}, {"fi", "fin-Latn"}, {"fr", "fra-Latn"}, {"ga", "gle-Latn"},
        {"gl", "glg-Latn"}, {"gu", "guj-Gujr"}, {"ha", "hau-Latn"}, {"he", "heb-Hebr"}, {"hi", "hin-Deva"}, {"hr", "hrv-Latn"},
        {"hu", "hun-Latn"}, {"hy", "hye-Armn"}, {"id", "ind-Latn"}, {"is", "isl-Latn"}, {"it", "ita-Latn"}, {"ja", "jpn-Jpan"},
        {"jv", "jav-Latn"}, {"ka", "kat-Geor"}, {"kk", "kaz-Cyrl"}, {"km", "khm-Khmr"}, {"kn", "kan-Knda"}, {"ko", "kor-Hang"},
        {"ky", "kir-Cyrl"}, {"lt", "lit-Latn"}, {"lv", "lav-Latn"}, {"mk", "mkd-Cyrl"}, {"ml", "mal-Mlym"}, {"mn", "mon-Cyrl"},
        {"mr", "mar-Deva"}, {"ms", "msa-Latn"}, {"mt", "mlt-Latn"}, {"my", "mya-Mymr"}, {"nb", "nob-Latn"}, {"ne", "nep-Deva"},
        {"nl", "nld-Latn"}, {"nn", "nno-Latn"}, {"or", "ory-Orya"}, {"pa", "pan-Guru"}, {"pl", "pol-Latn"}, {"ps", "pus-Arab"},
        {"pt", "por-Latn"}, {"ro", "ron-Latn"}, {"ru", "rus-Cyrl"}, {"rw", "kin-Latn"}, {"sk", "slk-Latn"}, {"sl", "slv-Latn"},
        {"sq", "sqi-Latn"}, {"sr", "srp-Cyrl"}, {"sv", "swe-Latn"}, {"sw", "swh-Latn"}, {"ta", "tam-Taml"}, {"te", "tel-Telu"},
        {"th", "tha-Thai"}, {"tl", "tgl-Latn"}, {"tr", "tur-Latn"}, {"uk", "ukr-Cyrl"}, {"ur", "urd-Arab"}, {"uz", "uzn-Latn"},
        {"vi", "vie-Latn"}, {"yo", "yor-Latn"}, {"zh", "cmn-Hans"}};
    return codes;
}

/// "deu-Latn" or "deu_Latn", three letters of ISO 639-3 and a script of ISO 15924; else empty.
std::string language_and_script(std::string_view name) {
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    if (name.size() != 8 || (name[3] != '-' && name[3] != '_') || name[4] < 'A' || name[4] > 'Z') return {};
    const std::string letters = std::string(name.substr(0, 3)) + std::string(name.substr(5));
    if (!std::all_of(letters.begin(), letters.end(), is_lower)) return {};
    return std::string(name.substr(0, 3)) + "-" + std::string(name.substr(4));
}

/// Languages as MTEB writes them, where a subset's name says which: "en", "zh-CN", "en-de", "deu-Latn", "eng_Latn-deu_Latn"; English for
/// the sets of the English suites.
Json languages_of(const std::string& subset, bool known) {
    if (subset == "default") return known ? Json({"eng-Latn"}) : Json::array();
    if (const std::string whole = language_and_script(subset); !whole.empty()) return Json({whole});
    Json languages = Json::array();
    for (const std::string_view part : split(subset, '-')) {
        const auto code = language_codes().find(part);
        const std::string language = code == language_codes().end() ? language_and_script(part) : std::string(code->second);
        if (!language.empty() && std::find(languages.begin(), languages.end(), Json(language)) == languages.end())
            languages.push_back(language);
    }
    return languages;
}

std::string task_name_of(const Json& result) {
    const SuiteSet* set = set_by_name(result.at("name").get<std::string>());
    return set && !set->mteb.empty() ? set->mteb : result.at("name").get<std::string>();
}

std::string split_of(const SuiteSet* set, const Json& settings) {
    if (settings.contains("split") && settings["split"].is_string()) return settings["split"];
    return set ? set->entry.value("split", std::string("test")) : "test";
}

}  // namespace

Json mteb_result(const Json& result, double seconds) {
    const SuiteSet* set = set_by_name(result.at("name").get<std::string>());
    const std::string type = result.at("task_type"), metric = result.at("metric");
    Json scores = Json::array();
    if (result.contains("subsets")) {
        for (const Json& subset : result["subsets"]) {
            const std::string name = subset.at("name");
            scores.push_back(
                score_object(subset.at("metrics"), type, metric, subset.at("score").get<double>(), name, languages_of(name, set)));
        }
    } else {
        const Json only = set ? set->entry.value("subsets", Json::array()) : Json::array();
        const std::string name = only.size() == 1 ? only[0].get<std::string>() : "default";
        scores.push_back(score_object(result.at("metrics"), type, metric,
                                      result.at("score").is_number() ? result["score"].get<double>() : std::nan(""), name,
                                      languages_of(name, set)));
    }
    const Json settings = result.value("settings", Json::object());
    return {{"dataset_revision", "faceter:" + settings.value("data_fingerprint", std::string("unknown"))},
            {"task_name", task_name_of(result)},
            {"mteb_version", nullptr},
            {"scores", {{split_of(set, settings), scores}}},
            {"evaluation_time", seconds},
            {"kg_co2_emissions", nullptr}};
}

std::string mteb_file_name(const Json& result) { return safe_file_name(task_name_of(result)) + ".json"; }

std::string mteb_model_name(const std::string& model) {
    const std::size_t slash = model.find('/');
    const bool has_both =
        slash != std::string::npos && slash > 0 && slash + 1 < model.size() && model.find('/', slash + 1) == std::string::npos;
    return has_both ? model : "faceter/" + safe_file_name(model);
}

Json mteb_model_meta(const MtebModel& model) {
    const auto known = [](std::int64_t number) { return number > 0 ? Json(number) : Json(); };
    Json meta = {{"name", model.name},
                 {"revision", model.revision},
                 {"framework", Json::array({"PyTorch"})},  // of mteb's own list: libtorch, and safetensors folders
                 {"n_parameters", known(model.num_parameters)},
                 {"max_tokens", known(model.max_tokens)},
                 {"embed_dim", known(model.embedding_dim)},
                 {"similarity_fn_name", model.similarity},
                 {"use_instructions", model.uses_instructions},
                 {"modalities", Json::array({"text"})}};
    if (!model.adapted_from.empty()) meta["adapted_from"] = model.adapted_from;
    for (const char* unknown : {"loader", "release_date", "languages", "memory_usage_mb", "license", "open_weights", "public_training_code",
                                "public_training_data", "training_datasets"})
        meta[unknown] = nullptr;
    return meta;
}

std::string mteb_model_folder(const std::string& model) {
    std::string folder;
    for (const char c : model) folder += c == '/' ? std::string("__") : std::string(1, c);
    return safe_file_name(folder);
}

}  // namespace faceter
