#include <fmt/format.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "eval/embedder.h"
#include "plugin/model_writer.h"
#include "plugin/run_model.h"
#include "support/checkout.h"
#include "support/sample_runs.h"
#include "support/tensors.h"
#include "support/test.h"
#include "worker/served_run.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

const Json served_tasks = {{"nature", {{"type", "retrieval"}, {"instructions", {{"query", "query: "}, {"document", "passage: "}}}}},
                           {"music", {{"type", "clustering"}, {"instructions", {{"query", "group: "}, {"document", "group: "}}}}},
                           {"weather", {{"type", "classification"}, {"instructions", {{"query", "label: "}, {"document", "label: "}}}}}};

/// Over all parts, back and forth; "" is the request that names no task.
const std::vector<std::string> asked{
    "nature.query",   "music.query",  "", "nature.document", "nature.document", "weather.query", "weather.document",
    "music.document", "nature.query", "", "nature.query"};

/// A folder as a run of `variant` leaves it, every part with weights of its own.
void write_trained(const fs::path& folder, const std::string& start, const Json& variant) {
    const at::NoGradGuard no_grad;
    const Json settings = {{"model", start}, {"tasks", served_tasks}, {"variant", variant}};
    const auto model = open_start_model(settings);
    variant_of(settings)->prepare(*model);
    at::manual_seed(3);
    for (const auto& encoder : model->encoders)
        for (const Parameter& p : encoder->parameters()) p.tensor.add_(0.01 * at::randn(p.tensor.sizes()));
    make_directories(folder);
    write_model(folder, *model);
}

/// A run of MoTE that was trained, for two steps.
RunDirectory trained_run(const fs::path& folder) {
    std::string text = "tasks:\n";
    for (const auto& [name, task] : served_tasks.items())
        text += fmt::format("  {}:\n    type: {}\n    instructions: {}\n    train: [{{source: file, path: pairs.jsonl}}]\n", name,
                            task.at("type").get<std::string>(), task.at("instructions").dump());
    return served_run(folder, text + "variants: {MoTE: {method: mote}}\n");
}

Json request_for(const std::string& prompt, const Json& texts) {
    Json request = {{"inputs", texts}};
    if (!prompt.empty()) request["prompt_name"] = prompt;
    return request;
}

/// The numbers as they were sent: of which not a digit may differ.
std::string answer_of(const Server& server, const std::string& prompt, const Json& texts) {
    const HttpAnswer answer = server.ask("POST", "/embed", request_for(prompt, texts).dump());
    return answer.status == 200 ? answer.body : fmt::format("{}: {}", answer.status, answer.body);
}

Json resident_in(const Server& server) { return Json::parse(server.ask("GET", "/info").body).at("models").at(0).at("resident"); }

}  // namespace

/// `faceter serve --resident N`: parts that wait on disk.
class TestServeResident : public QObject {
    Q_OBJECT
    TemporaryDirectory root_;
    const Json texts_ = {"a cat", "the dog runs over the old bridge", "", "Straße"};

    fs::path folder_of(const std::string& name, const Json& variant) const {
        const fs::path folder = root_.path() / name;
        if (!fs::exists(folder)) write_trained(folder, tiny_model(), variant);
        return folder;
    }
    /// Where expert weights lie apart from all others.
    fs::path mixture() const { return folder_of("mixture", {{"method", "mote"}}); }

  private Q_SLOTS:
    void initTestCase() { NEED_SHARED(); }

    void answers_are_those_of_the_whole_model_to_the_bit_data() {
        QTest::addColumn<QString>("variant");
        QTest::addColumn<int>("resident");
        for (const int resident : {1, 2, 100}) {
            QTest::addRow("MoTE, %d", resident) << R"({"method": "mote"})" << resident;
            QTest::addRow("MoTE in every block with shared norms, %d", resident)
                << R"({"method": "mote", "placement": "every", "expert_norms": "shared"})" << resident;
            QTest::addRow("specialists, %d", resident) << R"({"method": "specialists"})" << resident;
        }
    }
    void answers_are_those_of_the_whole_model_to_the_bit() {
        QFETCH(QString, variant);
        QFETCH(int, resident);
        const fs::path folder =
            folder_of(std::to_string(std::hash<std::string>()(variant.toStdString())), Json::parse(variant.toStdString()));
        const Server whole({}, QProcessEnvironment::systemEnvironment(), folder.string());
        const Server part({"--resident", QString::number(resident)}, QProcessEnvironment::systemEnvironment(), folder.string());
        std::set<std::string> different;
        for (const std::string& prompt : asked) {
            const std::string wanted = answer_of(whole, prompt, texts_);
            QVERIFY2(wanted.starts_with("[["), wanted.c_str());
            QCOMPARE(answer_of(part, prompt, texts_), wanted);
            different.insert(wanted);
            QVERIFY(part.metric("faceter_resident_parts") <= resident);
        }
        QVERIFY(different.size() >= 3);  // each part answers otherwise
        QVERIFY(resident > 3 || part.metric("faceter_parts_given_up_total") > 0);
    }
    void a_trained_run_answers_as_embed_does() {
        const RunDirectory run = trained_run(root_.path());
        const auto model = open_run_model(run);
        const Server server({"--resident", "1"}, QProcessEnvironment::systemEnvironment(), run.folder().string());
        const std::vector<std::string_view> texts{"a cat", "the dog runs"};
        for (const std::string& prompt : asked) {
            const ServedRoute route = prompt.empty() ? ServedRoute{} : parse_route(prompt, model->tasks);
            const at::Tensor wanted = embed_texts(*model, texts, prompt.empty() ? Route{} : model->route(route.task, route.role));
            const Json found = Json::parse(answer_of(server, prompt, {"a cat", "the dog runs"}));
            for (std::int64_t i = 0; i < 2; ++i)
                QVERIFY(max_difference(at::tensor(found.at(static_cast<std::size_t>(i)).get<std::vector<float>>()), wanted[i]) < 1e-6);
        }
    }
    /// Queries and documents, each embedded by itself, and those of a server: int8 learns from the texts of all tasks.
    void int8_gives_each_task_the_vectors_of_embed() {
        const Server server({"--compute", "int8"}, QProcessEnvironment::systemEnvironment(), mixture().string());
        const fs::path texts = root_.path() / "int8.txt", file = root_.path() / "int8.npy";
        write_file_atomic(texts, "a cat\nthe dog runs\n");
        for (const std::string prompt : {"weather.query", "nature.document"}) {
            const ChildResult made = run_child({FACETER_BINARY_DIR "/bin/faceter-worker", "embed", "--model", mixture().string(), "--task",
                                                prompt, "--compute", "int8", "--threads", "1", "--output", file.string(), texts.string()},
                                               std::chrono::seconds(100), 1 << 16);
            QVERIFY2(made.exit_code == 0, made.last_lines.c_str());
            const std::string bytes = read_file(file);
            std::vector<float> wanted((bytes.size() - 128) / sizeof(float));
            std::memcpy(wanted.data(), bytes.data() + 128, wanted.size() * sizeof(float));
            std::vector<float> found;
            const Json answer = Json::parse(answer_of(server, prompt, {"a cat", "the dog runs"}));
            for (const Json& one : answer)
                for (const Json& number : one) found.push_back(number.get<float>());
            QCOMPARE(found.size(), wanted.size());
            QVERIFY2(max_difference(at::tensor(found), at::tensor(wanted)) < 1e-6, prompt.c_str());
        }
    }
    void what_is_in_memory_and_how_often_it_was_read_is_told() {
        const Server server({"--resident", "1"}, QProcessEnvironment::systemEnvironment(), mixture().string());
        const Json before = resident_in(server);
        QCOMPARE(before.at("at_most").get<int>(), 1);
        QCOMPARE(before.at("reads").get<int>(), 0);
        for (int i = 0; i < 3; ++i) answer_of(server, "weather.query", texts_);
        const Json after = resident_in(server);
        QCOMPARE(after.at("now").get<int>(), 1);
        QCOMPARE(after.at("reads").get<int>(), 1);
        QCOMPARE(after.at("given_up").get<int>(), 1);
        QVERIFY(after.at("prompts").dump().find("weather.query") != std::string::npos);
        QVERIFY(after.at("prompts").dump().find("nature.query") == std::string::npos);
        QCOMPARE(server.metric("faceter_parts_read_total"), 1.0);
        QCOMPARE(server.metric("faceter_resident_parts"), 1.0);
        const Server whole({}, QProcessEnvironment::systemEnvironment(), mixture().string());
        QVERIFY(!Json::parse(whole.ask("GET", "/info").body).at("models").at(0).contains("resident"));
        QCOMPARE(whole.metric("faceter_resident_parts"), -1.0);
    }
    void a_number_is_read_as_it_was_checked() {
        const Server server({"--resident", "0x2"}, QProcessEnvironment::systemEnvironment(), mixture().string());
        QCOMPARE(resident_in(server).at("at_most").get<int>(), 2);
    }
    void the_one_that_was_not_asked_for_longest_makes_room() {
        const Server server({"--resident", "2"}, QProcessEnvironment::systemEnvironment(), mixture().string());
        for (const char* prompt : {"nature.query", "music.query", "nature.query", "weather.query", "nature.query"})
            answer_of(server, prompt, texts_);
        QCOMPARE(resident_in(server).at("reads").get<int>(), 2);  // music, weather in its place; nature stayed
    }
    void one_whose_texts_pass_beside_others_stays() {
        const Server server({"--resident", "2", "--batch-tokens", "256"}, QProcessEnvironment::systemEnvironment(), mixture().string());
        const Json many(2000, "the dog runs over the old bridge and the cat runs over the new bridge to the river beside the garden");
        HttpClient nature(server.port), music(server.port);
        nature.ask("POST", "/embed", request_for("nature.query", many).dump());
        QTRY_COMPARE_WITH_TIMEOUT(server.metric("faceter_waiting_texts"), 2000.0, patience_ms);
        music.ask("POST", "/embed", request_for("music.query", many).dump());
        QTRY_COMPARE_WITH_TIMEOUT(server.metric("faceter_parts_read_total"), 1.0, patience_ms);
        answer_of(server, "weather.query", texts_);
        QCOMPARE(server.metric("faceter_waiting_texts"), 4000.0);  // both were under way
        QCOMPARE(nature.read().status, 200);
        QCOMPARE(music.read().status, 200);
        QCOMPARE(server.metric("faceter_parts_read_total"), 3.0);  // music, weather, and the one that had made room
    }
    void many_clients_of_all_tasks_get_each_its_own() {
        const Server whole({}, QProcessEnvironment::systemEnvironment(), mixture().string());
        const Server server({"--resident", "1"}, QProcessEnvironment::systemEnvironment(), mixture().string());
        std::vector<std::thread> clients;
        std::vector<std::string> wrong(asked.size());
        for (std::size_t c = 0; c < asked.size(); ++c)
            clients.emplace_back([&, c] {
                for (int i = 0; i < 6; ++i) {
                    const Json texts = {fmt::format("client {} asks {}", c, i)};
                    if (const std::string found = answer_of(server, asked[c], texts); found != answer_of(whole, asked[c], texts))
                        wrong[c] = found;
                }
            });
        for (std::thread& client : clients) client.join();
        for (const std::string& found : wrong) QVERIFY2(found.empty(), found.substr(0, 200).c_str());
        QCOMPARE(server.metric("faceter_resident_parts"), 1.0);
        QCOMPARE(server.metric("faceter_waiting_texts"), 0.0);
    }
    void an_expert_that_cannot_be_read_costs_its_own_texts_alone() {
        const fs::path folder = folder_of("damaged", {{"method", "mote"}}), weights = folder / "model.safetensors";
        const Server server({"--resident", "2"}, QProcessEnvironment::systemEnvironment(), folder.string());
        const std::string there = answer_of(server, "nature.query", texts_), before = answer_of(server, "music.query", texts_);
        const std::string bytes = read_file(weights);
        overwrite(weights, bytes.substr(0, bytes.size() / 8));
        const std::string failed = answer_of(server, "weather.query", texts_);
        QVERIFY2(failed.starts_with("500") && failed.find("model.safetensors") != std::string::npos, failed.substr(0, 300).c_str());
        QCOMPARE(answer_of(server, "music.query", texts_), before);  // it is in memory
        overwrite(weights, bytes);
        QVERIFY(answer_of(server, "weather.query", texts_).starts_with("[["));
        QCOMPARE(answer_of(server, "nature.query", texts_), there);
    }
    void what_cannot_wait_on_disk_is_refused_with_the_reason_data() {
        QTest::addColumn<QString>("variant");
        QTest::addColumn<QStringList>("more");
        QTest::addColumn<QString>("reason");
        QTest::newRow("dense") << R"({"method": "dense"})" << QStringList() << "the same weights";
        QTest::newRow("token-routed") << R"({"method": "token_routed_moe"})" << QStringList() << "any token";
        QTest::newRow("adapters") << R"({"method": "task_lora", "rank": 2})" << QStringList() << "adapters";
        QTest::newRow("int8") << R"({"method": "mote"})" << QStringList{"--compute", "int8"} << "measured over all of them";
        QTest::newRow("none") << R"({"method": "mote"})" << QStringList{"--resident", "0"} << "--resident";
        QTest::newRow("a word") << R"({"method": "mote"})" << QStringList{"--resident", "some"} << "--resident";
    }
    void what_cannot_wait_on_disk_is_refused_with_the_reason() {
        QFETCH(QString, variant);
        QFETCH(QStringList, more);
        QFETCH(QString, reason);
        const fs::path folder =
            folder_of(std::to_string(std::hash<std::string>()(variant.toStdString())), Json::parse(variant.toStdString()));
        if (!more.contains("--resident"))
            more << "--resident"
                 << "1";
        QProcess server;
        server.start(FACETER_BINARY_DIR "/bin/faceter-worker",
                     QStringList{"serve", QString::fromStdString(folder.string()), "--port", "0"} + more);
        QVERIFY(server.waitForFinished(patience_ms));
        const QByteArray said = server.readAllStandardError();
        QVERIFY(server.exitCode() != 0);
        QVERIFY2(said.contains(reason.toUtf8()), said.constData());
    }
    void memory_is_that_of_the_parts_that_may_be_there() {
        NEED_MINILM();
        const fs::path folder = root_.path() / "large";
        write_trained(folder, minilm_folder().string(), {{"method", "mote"}, {"placement", "every"}});
        const Server whole({}, QProcessEnvironment::systemEnvironment(), folder.string());
        const Server part({"--resident", "1"}, QProcessEnvironment::systemEnvironment(), folder.string());
        for (int round = 0; round < 3; ++round)
            for (const std::string& prompt : asked) QCOMPARE(answer_of(part, prompt, texts_), answer_of(whole, prompt, texts_));
        const double expert_mib = 6 * 2 * 384 * 1536 * 4 / 1048576.0;  // 27; there are the dense blocks and four experts
        const double saved = whole.peak_mib() - part.peak_mib();
        QVERIFY2(saved > 2.5 * expert_mib, fmt::format("{} of {} MiB", saved, whole.peak_mib()).c_str());
    }
};

FACETER_TEST(TestServeResident)
#include "test_serve_resident.moc"
