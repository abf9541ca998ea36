#include "plan_file.h"

#include <cstring>

#include "common/error.h"
#include "common/hash.h"

namespace faceter::data_cube {
namespace {

// magic, hash of the rest, size of the header, header (JSON), then the arrays that it gives the sizes of: similarities, and per task phi
// and marks.
constexpr std::string_view magic = "FACETER-PLAN-1\n";
constexpr std::size_t hash_digits = 32, size_bytes = 8;
constexpr std::uint64_t max_bytes = std::uint64_t{4} << 30, max_tasks = 100'000;

template <typename T>
void append(std::string& bytes, const T* values, std::size_t count) {
    bytes.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

/// Takes arrays off the front of the file's bytes.
class Cursor {
  public:
    Cursor(std::string_view bytes, std::string name) : rest_(bytes), name_(std::move(name)) {}
    std::string_view take(std::uint64_t size) {
        if (size > rest_.size()) throw data_error("{}: the stored plan is cut short; remove the file, and it is computed again", name_);
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    template <typename T>
    void read(std::vector<T>& values, std::uint64_t count) {
        const std::string_view bytes = take(count > max_bytes ? max_bytes : count * sizeof(T));
        values.resize(count);
        if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    }
    bool empty() const { return rest_.empty(); }

  private:
    std::string_view rest_;
    std::string name_;
};

Json header_of(const PlanRecord& record) {
    Json tasks = Json::array(), trace = Json::array();
    for (const TaskDifficulty& task : record.tasks) tasks.push_back({{"name", task.name}, {"examples", task.phi.size()}});
    for (const TourPoint& point : record.tour.trace) trace.push_back({point.step, point.total, point.temperature});
    return {{"key", record.key},
            {"plan", record.plan_hash},
            {"tasks", tasks},
            {"tour", record.tour.tour},
            {"total", record.tour.total},
            {"chain", record.tour.chain},
            {"start_temperature", record.tour.start_temperature},
            {"trace", trace},
            {"drops_masked", record.drops_masked},
            {"details", record.details}};
}

void read_header(const Json& header, const std::string& name, PlanRecord& record) {
    record.key = json_at<std::string>(header, "key", name);
    record.plan_hash = json_at<std::string>(header, "plan", name);
    record.tour.tour = json_at<Tour>(header, "tour", name);
    record.tour.total = json_at<double>(header, "total", name);
    record.tour.chain = json_at<std::int64_t>(header, "chain", name);
    record.tour.start_temperature = json_at<double>(header, "start_temperature", name);
    for (const auto& point : json_at<std::vector<std::vector<double>>>(header, "trace", name)) {
        if (point.size() != 3) throw data_error("{}: a point of the trace has {} numbers, expected 3", name, point.size());
        const auto step = whole_number<std::int64_t>(Json(point[0]));
        if (!step) throw data_error("{}: a point of the trace is at step {}, which is no whole number", name, point[0]);
        record.tour.trace.push_back({*step, point[1], point[2]});
    }
    record.drops_masked = json_or(header, "drops_masked", false, name);
    record.details = json_at<Json>(header, "details", name);
}

void check_tour(const PlanRecord& record, const std::string& name) {
    std::vector<char> seen(record.tasks.size(), 0);
    for (const std::uint32_t task : record.tour.tour) {
        if (task >= seen.size() || seen[task]) throw data_error("{}: its tour does not visit every task once", name);
        seen[task] = 1;
    }
    if (record.tour.tour.size() != seen.size())
        throw data_error("{}: its tour has {} tasks of {}", name, record.tour.tour.size(), seen.size());
}

}  // namespace

void write_plan(const fs::path& file, const PlanRecord& record) {
    const std::string header = header_of(record).dump();
    std::string body;
    const std::uint64_t size = header.size();
    append(body, &size, 1);
    body += header;
    append(body, record.similarities.data(), record.similarities.num_tasks() * record.similarities.num_tasks());
    for (const TaskDifficulty& task : record.tasks) {
        append(body, task.phi.data(), task.phi.size());
        append(body, task.marks.data(), task.marks.size());
    }
    make_directories(file.parent_path());
    write_file_atomic(file, std::string(magic) + hash128(body).hex() + body);
}

PlanRecord read_plan(const fs::path& file) {
    const std::string bytes = read_file(file, max_bytes), name = file.string();
    Cursor cursor(bytes, name);
    if (!std::string_view(bytes).starts_with(magic))
        throw data_error("{}: no stored plan; remove the file, and it is computed again", name);
    cursor.take(magic.size());
    const std::string_view hash = cursor.take(hash_digits);
    if (hash128(std::string_view(bytes).substr(magic.size() + hash_digits)).hex() != hash)
        throw data_error("{}: the stored plan is damaged (its hash differs); remove the file, and it is computed again", name);
    std::uint64_t size = 0;
    std::memcpy(&size, cursor.take(size_bytes).data(), size_bytes);
    const Json header = parse_json(cursor.take(size), name);
    PlanRecord record;
    read_header(header, name, record);
    const Json tasks = json_at<Json>(header, "tasks", name);
    if (tasks.size() > max_tasks) throw data_error("{}: {} tasks, at most {} are expected", name, tasks.size(), max_tasks);
    std::vector<float> values;
    cursor.read(values, tasks.size() * tasks.size());
    record.similarities = Similarities(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i)
        for (std::size_t j = i + 1; j < tasks.size(); ++j) record.similarities.set(i, j, values[i * tasks.size() + j]);
    for (const Json& entry : tasks) {
        TaskDifficulty& task = record.tasks.emplace_back();
        task.name = json_at<std::string>(entry, "name", name);
        const auto examples = json_at<std::uint64_t>(entry, "examples", name);
        cursor.read(task.phi, examples);
        cursor.read(task.marks, examples);
    }
    if (!cursor.empty()) throw data_error("{}: bytes follow the stored plan", name);
    check_tour(record, name);
    return record;
}

}  // namespace faceter::data_cube
