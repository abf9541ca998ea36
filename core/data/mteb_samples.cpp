#include "data/mteb_samples.h"

#include <algorithm>
#include <iterator>

#include "common/strings.h"

namespace faceter {
namespace {

// Sets of texts of mteb 2.26 whose number (samples_per_label in mteb/tasks/classification and multilabel_classification) is not 8: by their
// names there and those of their repositories, as plain_set_name() has them.
constexpr std::string_view sets_of_16[] = {"angrytweets",
                                           "csfacebookcomments",
                                           "czechproductreviewsentiment",
                                           "czechsomesentiment",
                                           "dalaj",
                                           "danishpoliticalcomments",
                                           "dkhate",
                                           "emotion",
                                           "estonianvalence",
                                           "humeemotion",
                                           "humetoxicconversations",
                                           "lcc",
                                           "lccsentiment",
                                           "toxicconversations",
                                           "toxicconversations50k"};
constexpr std::string_view sets_of_20[] = {"cscsfdmoviereviews", "csfdczmoviereviewsentiment", "csfdskmoviereviewsentiment"};
constexpr std::string_view sets_of_32[] = {"afrisentilang",
                                           "amazoncounterfactual",
                                           "amazoncounterfactualde",
                                           "amazoncounterfactualen",
                                           "amazoncounterfactualenext",
                                           "amazoncounterfactualja",
                                           "chatbotconversationalsentimentanalysistoneuser",
                                           "deepsentipers",
                                           "digikalamag",
                                           "dutchgovernmentbias",
                                           "faintent",
                                           "humetweetsentimentextraction",
                                           "iconclass",
                                           "iflytek",
                                           "jdreview",
                                           "mtebnldutchgovernmentbiasdetection",
                                           "mtebnliconclasscls",
                                           "multilingualscala",
                                           "multilingualsentiment",
                                           "nlptwitteranalysis",
                                           "nordiclang",
                                           "onlineshopping",
                                           "pershop",
                                           "pershopdomain",
                                           "pershopintent",
                                           "persiantextemotion",
                                           "scala",
                                           "sentimentdksf",
                                           "sid",
                                           "style",
                                           "synperchatbotconvsaanger",
                                           "synperchatbotconvsafear",
                                           "synperchatbotconvsafriendship",
                                           "synperchatbotconvsahappiness",
                                           "synperchatbotconvsajealousy",
                                           "synperchatbotconvsalove",
                                           "synperchatbotconvsasadness",
                                           "synperchatbotconvsasatisfaction",
                                           "synperchatbotconvsasurprise",
                                           "synperchatbotconvsatonechatbot",
                                           "synperchatbotconvsatoneuser",
                                           "synperchatbotragtonechatbot",
                                           "synperchatbotragtoneuser",
                                           "synperchatbotsatisfactionlevel",
                                           "synperchatbottonechatbot",
                                           "synperchatbottoneuser",
                                           "synpertexttone",
                                           "syntheticpersianchatbotconversationalsentimentanalysisanger",
                                           "syntheticpersianchatbotconversationalsentimentanalysisfear",
                                           "syntheticpersianchatbotconversationalsentimentanalysisfriendship",
                                           "syntheticpersianchatbotconversationalsentimentanalysishappiness",
                                           "syntheticpersianchatbotconversationalsentimentanalysisjealousy",
                                           "syntheticpersianchatbotconversationalsentimentanalysislove",
                                           "syntheticpersianchatbotconversationalsentimentanalysissadness",
                                           "syntheticpersianchatbotconversationalsentimentanalysissatisfaction",
                                           "syntheticpersianchatbotconversationalsentimentanalysissurprise",
                                           "syntheticpersianchatbotconversationalsentimentanalysistonechatbot",
                                           "syntheticpersianchatbotragtonechatbot",
                                           "syntheticpersianchatbotragtoneuser",
                                           "syntheticpersianchatbotsatisfactionlevel",
                                           "syntheticpersianchatbottonechatbot",
                                           "syntheticpersianchatbottoneuser",
                                           "syntheticpersiantexttone",
                                           "tnews",
                                           "tweetsentimentextraction",
                                           "waimai",
                                           "yahooanswerstopics",
                                           "yueopenricereview"};
constexpr std::string_view sets_of_128[] = {"dutchcola", "mtebnldutchcola", "mtebnlvabbmlclspr", "vabbmultilabel", "yelpreviewfull"};

void remove_end(std::string& text, std::string_view end) {
    if (text.ends_with(end)) text.resize(text.size() - end.size());
}

/// "EmotionClassification.v2" and "emotion-classification" are "emotion".
std::string plain_set_name(std::string_view folder) {
    std::string plain;
    for (const char c : lowercase_ascii(folder))
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) plain += c;
    for (const std::string_view version : {"v2", "v3"}) remove_end(plain, version);
    if (plain != "multilingualsentimentclassification") remove_end(plain, "classification");  // another set than MultilingualSentiment
    return plain;
}

int mteb_number(std::string_view set) {
    const auto is_among = [&](const auto& sets) { return std::find(std::begin(sets), std::end(sets), set) != std::end(sets); };
    return is_among(sets_of_16) ? 16 : is_among(sets_of_20) ? 20 : is_among(sets_of_32) ? 32 : is_among(sets_of_128) ? 128 : 8;
}

}  // namespace

int examples_per_label(const FolderContext& context) {
    if (context.entry.examples_per_label > 0) return context.entry.examples_per_label;
    return mteb_number(plain_set_name(context.entry.need_path().filename().string()));
}

}  // namespace faceter
