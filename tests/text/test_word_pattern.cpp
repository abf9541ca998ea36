#include "common/random.h"
#include "support/test.h"
#include "text/regex.h"
#include "text/word_pattern.h"

using namespace faceter;

namespace {

using Spans = std::vector<std::pair<std::size_t, std::size_t>>;

constexpr std::pair<WordPattern, std::string_view> patterns[] = {
    {WordPattern::gpt2, R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)"},
    {WordPattern::single,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"},
    {WordPattern::triple,
     R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"}};

Spans by_engine(const Regex& regex, std::string_view text) {
    Spans spans;
    Regex::Budget budget(text.size() + (1 << 20));
    regex.for_each_match(text, budget, [&](std::size_t begin, std::size_t end) { spans.emplace_back(begin, end); });
    return spans;
}
Spans by_hand(WordPattern pattern, std::string_view text) {
    Spans spans;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end) spans.emplace_back(at, end = match_word(pattern, text, at));
    return spans;
}

std::string random_text(RandomStream& random) {
    static const std::vector<std::string> parts = {"'",  "s",      "S",          "t",      "re",     "R",      "VE",     "ll",     "d",
                                                   "a",  "\u017F", "\u00E9",     "\u4E2D", "1",      "23",     "\u0663", "\u00BD", " ",
                                                   "  ", "\t",     "\n",         "\r\n",   "\u00A0", "\u3000", "\u0085", ".",      "-",
                                                   "!?", "\u0301", "\U0001F600", "\u200D", "x'",     "\x1F",   "\u2028"};
    std::string text;
    for (std::uint64_t left = random.below(12) + 1; left > 0; --left) text += parts[random.below(parts.size())];
    return text;
}

}  // namespace

class TestWordPattern : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void a_pattern_matched_by_hand_gives_what_the_engine_gives() {
        RandomStream random(7, "words");
        for (const auto& [pattern, text_of_pattern] : patterns) {
            QCOMPARE(known_word_pattern(text_of_pattern), std::optional(pattern));
            const Regex regex(text_of_pattern, "t");
            for (int i = 0; i < 20'000; ++i) {
                const std::string text = random_text(random);
                QVERIFY2(by_hand(pattern, text) == by_engine(regex, text), text.c_str());
            }
        }
    }
    void another_pattern_is_not_known() { QVERIFY(!known_word_pattern(R"(\s+)") && !known_word_pattern("")); }
    void matches_are_found_as_find_iter_finds_them() {
        QCOMPARE(by_engine(Regex("b*", "t"), "abba"), (Spans{{0, 0}, {1, 3}, {4, 4}}));
        QCOMPARE(by_engine(Regex("", "t"), "\u00E9x"), (Spans{{0, 0}, {2, 2}, {3, 3}}));
        QCOMPARE(by_engine(Regex(" {2,}", "t"), "a   b c  "), (Spans{{1, 4}, {7, 9}}));
        QCOMPARE(by_engine(Regex("(?<=a)b|^c", "t"), "abbc\nc"), (Spans{{1, 2}, {5, 6}}));
    }
    void a_match_may_begin_far_in_a_long_text() {
        const std::string text = std::string(3'000'000, 'a') + "\u00E9b";
        QCOMPARE(by_engine(Regex("\u00E9", "t"), text), (Spans{{3'000'000, 3'000'002}}));
    }
};

FACETER_TEST(TestWordPattern)
#include "test_word_pattern.moc"
