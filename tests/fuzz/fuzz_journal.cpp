#include "common/hash.h"
#include "common/strings.h"
#include "fuzz.h"
#include "record/state.h"
#include "support/sample_runs.h"

using namespace faceter;

namespace {

/// Each line with its right number and seal, as anyone can make them; `raw` bytes as they are behind a '!'.
std::string sealed(std::string_view text) {
    if (text.starts_with('!')) return std::string(text.substr(1));
    std::string all;
    int seq = 0;
    for (const std::string_view line : split(text, '\n')) {
        ++seq;
        const std::string body = fmt::format("{{\"seq\":{},\"t\":{}{}", seq, 1e9 + seq, line);
        all += fmt::format("{},\"crc\":\"{:08x}\"}}\n", body, crc32c(body));
    }
    return all;
}

}  // namespace

/// The journal of an attempt: each line is what follows "t" in an event, such as `,"event":"step","step":1`.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const TemporaryDirectory project;
    static const RunDirectory run = testing::sample_run(project.path());
    static const fs::path file = run.attempt_journal(run.begin_attempt());
    return fuzz_one(data, size, [](std::string_view text) {
        const std::string journal = sealed(text);
        testing::overwrite(file, journal);
        const JournalContent content = read_journal(file);
        FUZZ_CHECK(content.valid_bytes + content.torn_bytes == journal.size());
        for (std::size_t i = 0; i < content.events.size(); ++i) FUZZ_CHECK(content.events[i].seq == static_cast<std::int64_t>(i) + 1);
        const JournalContent copy = content;
        journal_span(file);
        FUZZ_CHECK(read_state(run).attempts == 1);
    });
}
