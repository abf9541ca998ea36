#include "data/pair_file.h"
#include "memory_file.h"

using namespace faceter;

namespace {

/// Asks a record for everything under a few names; what is missing or of another kind is a BadRecord, which is counted.
void ask(const Record& record) {
    record.known();
    if (record.find({"labels"})) record.numbers("labels");
    if (record.find({"sentences"})) record.texts("sentences");
    if (const Record::Member* label = record.find({"label"})) label_text(*label);
    record.text_or_number("_id");
    record.text_or_empty("title");
    record.number("score");
    record.text("text");
}

}  // namespace

/// JSON lines, also packed: nothing but data errors may come of them.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static MemoryFile memory("input.jsonl");
    const fs::path& file = memory.put(data, size);
    try {
        RecordErrors errors(RecordErrors::Policy::skip);
        read_records(file, errors, {}, ask);
        DataReport report(RecordErrors::Policy::skip);
        TrainingBuilder builder("fuzz", "retrieval");
        read_pair_file(file, DataEntry(DataRequest{}), builder, report);
        read_labelled_file(file, report);
        builder.finish({}, report, Json::object());
    } catch (const Error&) {
    }
    return 0;
}
