#include "data/pair_file.h"
#include "memory_file.h"

using namespace faceter;

namespace {

void read(const fs::path& file) {
    try {
        DataReport report(RecordErrors::Policy::skip);
        TrainingBuilder builder("fuzz", "retrieval");
        read_pair_file(file, DataEntry(DataRequest{}), builder, report);
        read_labelled_file(file, report);
        builder.finish({}, report, Json::object());
    } catch (const Error&) {
    }
}

}  // namespace

/// Tables with tabs and with commas, as pairs and as labelled texts.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static MemoryFile tabs("input.tsv"), commas("input.csv");
    read(tabs.put(data, size));
    read(commas.put(data, size));
    return 0;
}
