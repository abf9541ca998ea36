#include <cmath>

#include "common/hash.h"
#include "data_cube/plan_file.h"
#include "fuzz.h"
#include "memory_file.h"

using namespace faceter;
using namespace faceter::data_cube;

/// The stored plan of Data-CUBE, its hash right as anyone can make it; behind an 'h' the header alone, its size right too.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static MemoryFile memory("input.plan");
    return fuzz_one(data, size, [](std::string_view text) {
        std::string body(text);
        if (text.starts_with('h')) {
            const std::uint64_t header = text.size() - 1;
            body = std::string(reinterpret_cast<const char*>(&header), sizeof header) + std::string(text.substr(1)) + std::string(64, '\0');
        }
        const std::string bytes = "FACETER-PLAN-1\n" + hash128(body).hex() + body;
        const PlanRecord plan = read_plan(memory.put(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
        FUZZ_CHECK(plan.tour.tour.size() == plan.tasks.size() && plan.similarities.num_tasks() == plan.tasks.size());
        for (const TaskDifficulty& task : plan.tasks) FUZZ_CHECK(task.phi.size() == task.marks.size());
    });
}
