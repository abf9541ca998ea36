#include <cmath>
#include <fstream>

#include "common/error.h"
#include "common/file.h"
#include "model/accelerator.h"
#include "plugin/teacher.h"
#include "support/ranks.h"
#include "train/memory_forecast.h"
#include "train/rendezvous.h"
#include "two_hosts.h"
#include "watched.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr const char* job_variable = "FACETER_TEST_JOB";

/// This process' device in the group.
c10::Device own_device(const Rendezvous& where) { return choose_device("cuda", {.rank = where.rank, .size = where.size}); }

TrainingSettings settings_of(bool sharded, std::int64_t bucket = usual_bucket_values) {
    TrainingSettings settings = exact_settings();
    settings.bucket_values = bucket;
    settings.sharding = sharded ? Sharding::zero2 : Sharding::none;
    return settings;
}

/// Those with a guide stand behind the others.
const Method& method_of(std::size_t number) {
    return number < methods.size() ? methods[number] : guided_methods.at(number - methods.size());
}
const int gist = static_cast<int>(methods.size());

void write_weights(const fs::path& file, const std::vector<at::Tensor>& weights) {
    std::ofstream out(file, std::ios::binary);
    for (const at::Tensor& t : weights)
        out.write(static_cast<const char*>(t.contiguous().data_ptr()), static_cast<std::streamsize>(t.nbytes()));
}

at::Tensor read_weights(const fs::path& file) {
    const at::Tensor all = at::empty({static_cast<std::int64_t>(fs::file_size(file) / sizeof(double))}, at::kDouble);
    std::ifstream(file, std::ios::binary).read(static_cast<char*>(all.data_ptr()), static_cast<std::streamsize>(all.nbytes()));
    return all;
}

std::unique_ptr<EmbeddingModel> tiny_model() { return EmbeddingModel::open(ModelFolder::open(shared_folder() / "fixtures/bert")); }

/// What a job measures of memory: several buckets, of which some are sent while backward goes on.
TrainingSettings measured_settings(const Json& job) {
    TrainingSettings settings = settings_of(job.at("sharded").get<bool>(), 20000);
    settings.batch_size = 20;
    settings.gradient_cache_chunk = job.at("chunk").get<std::int64_t>();
    return settings;
}

TrainingSettings in_bfloat16(bool sharded) {
    TrainingSettings settings = settings_of(sharded);
    settings.bf16 = true;
    return settings;
}

std::vector<double> losses_of(TrainingBench& bench) {
    std::vector<double> losses;
    for (int i = 0; i < 5; ++i) losses.push_back(bench.trainer->train_step().loss);
    return losses;
}

/// Of a run whose numbers are read late.
TrainingSettings late_settings(bool sharded, std::int64_t bucket, std::int64_t pairs) {
    TrainingSettings settings = six_steps(4);
    if (pairs > 0) settings.batch_size = pairs;
    settings.bucket_values = bucket;
    settings.sharding = sharded ? Sharding::zero2 : Sharding::none;
    return settings;
}

/// So many texts that ranks share them.
TrainingSet judged_set() { return task_pairs("retrieval", 200); }
std::vector<std::string_view> positives(const TrainingSet& set) {
    std::vector<std::string_view> texts;
    for (const Example& one : set.examples) texts.push_back(set.texts[one.positive]);
    return texts;
}

}  // namespace

/// What the processes do that the tests below start.
class AsPretendRank : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void works() {
        const QByteArray job = qgetenv(job_variable);
        if (job.isEmpty()) QSKIP("started by the tests of test_pretend_ranks");
        const Json wanted = Json::parse(job.toStdString());
        const Rendezvous where = Rendezvous::from_environment();
        const c10::Device device = own_device(where);
        const auto group = join_gloo_group(where, {60, 60, 60}, device);
        if (wanted.contains("judged")) return judges(*group, device, wanted.at("judged").get<std::string>());
        if (wanted.contains("broken")) return runs(*group, device, wanted);
        if (!wanted.contains("method")) return goes_another_way(*group, device);
        if (wanted.contains("chunk")) return measures(*group, device, wanted);
        if (wanted.contains("losses")) return tells_losses(*group, device, wanted);
        TrainingBench bench(method_of(wanted.at("method").get<std::size_t>()),
                            settings_of(wanted.at("sharded").get<bool>(), wanted.at("bucket").get<std::int64_t>()), device, at::kDouble,
                            group.get());
        bench.steps(2);
        pretend::reset_counts();
        bench.steps(3);
        const auto counts = pretend::counts();
        qInfo("a step has %.1f waits, %.0f allocations", static_cast<double>(counts.waits) / 3,
              static_cast<double>(counts.allocations) / 3);
        for (const auto& [place, times] : pretend::waits_by_place()) qInfo("  %d %s", static_cast<int>(times), place.c_str());
        if (group->rank() == 0) write_weights(wanted.at("file").get<std::string>(), bench.weights());
    }

  private:
    static void judges(ProcessGroup& group, const c10::Device& device, const std::string& file) {
        ModelTeacher teacher(tiny_model(), device, &group);
        pretend::reset_counts();
        if (group.rank() == 0) {
            const TrainingSet set = judged_set();
            const at::Tensor rows = teacher.embed(positives(set), teacher.route("", Role::document));
            teacher.let_go();
            write_weights(file, {rows.to(at::kDouble)});
        } else {
            teacher.serve();
        }
        QVERIFY(pretend::counts().operators > 0);
    }
    /// Those of steps in bfloat16.
    static void tells_losses(ProcessGroup& group, const c10::Device& device, const Json& job) {
        TrainingBench bench(method_of(job.at("method").get<std::size_t>()), in_bfloat16(job.at("sharded").get<bool>()), device, at::kFloat,
                            &group);
        const std::vector<double> losses = losses_of(bench);
        if (group.rank() == 0) write_weights(job.at("losses").get<std::string>(), {at::tensor(losses, at::kDouble)});
    }
    /// The most bytes of a first step.
    static void measures(ProcessGroup& group, const c10::Device& device, const Json& job) {
        const std::uint64_t before = device_memory(device).held;
        TrainingBench bench(methods[job.at("method").get<std::size_t>()], measured_settings(job), device, at::kFloat, &group);
        pretend::reset_counts();
        bench.steps(1);
        const auto most = static_cast<double>(device_memory(device).most - before);
        if (group.rank() == 0) write_weights(job.at("file").get<std::string>(), {at::tensor({most}, at::kDouble)});
    }
    /// A whole run, with its end as that of a worker: FILE.RANK has what was told, FILE rank 0's weights.
    static void runs(ProcessGroup& group, const c10::Device& device, const Json& job) {
        WatchedRun run(
            late_settings(job.at("sharded").get<bool>(), job.at("bucket").get<std::int64_t>(), job.at("pairs").get<std::int64_t>()), device,
            job.at("broken").get<int>(), &group);
        TrainerEvents events = run.events();
        events.step = [&, add = events.step](const StepReport& report) {
            add(report);
            if (report.step == 2 && group.rank() == job.at("short_of_memory").get<int>()) pretend::fail_allocation(300);
        };
        const std::string error = run.error_of(events), file = job.at("file").get<std::string>();
        if (!error.empty()) group.fail(error);
        write_file_atomic(file + "." + std::to_string(group.rank()),
                          Json{{"order", run.order}, {"error", error}, {"numbers", run.numbers}, {"tokens", run.tokens}}.dump());
        if (group.rank() == 0) write_weights(file, run.bench.weights());
    }
    static void goes_another_way(ProcessGroup& group, const c10::Device& device) {
        at::Tensor values = at::ones({group.rank() == 0 ? 4 : 6}, device);
        group.all_reduce_sum(values);
    }
};
static const bool registered_as_rank = register_test("as_pretend_rank.cpp", [] { return std::make_unique<AsPretendRank>(); });

/// Two processes, each with a pretend device of its own.
class TestPretendRanks : public QObject {
    Q_OBJECT
    /// What each rank of a run says, which ends as soon as both have ended.
    static std::vector<Json> ranks_run(const fs::path& file, bool sharded, int bucket, int broken, int short_of_memory, int pairs = 0) {
        const Json job = {{"sharded", sharded}, {"bucket", bucket},     {"broken", broken}, {"short_of_memory", short_of_memory},
                          {"pairs", pairs},     {"file", file.string()}};
        Ranks ranks(2, "as_pretend_rank", {{job_variable, QString::fromStdString(job.dump())}});
        const std::string problem = ranks.problem();
        if (!problem.empty()) qWarning("%s", problem.c_str());
        return {read_json(file.string() + ".0"), read_json(file.string() + ".1")};
    }
  private Q_SLOTS:
    void two_devices_train_as_one_does_data() {
        QTest::addColumn<int>("method");
        QTest::addColumn<bool>("sharded");
        QTest::addColumn<int>("bucket");
        const int usual = usual_bucket_values;
        for (const int method : {0, 1, 2, 5, gist})
            for (const bool sharded : {false, true})
                QTest::addRow("%s%s", method_of(static_cast<std::size_t>(method)).name, sharded ? ", sharded" : "")
                    << method << sharded << usual;
        for (const bool sharded : {false, true})
            for (const int bucket : {1, 997})
                QTest::addRow("buckets of %d%s", bucket, sharded ? ", sharded" : "") << 1 << sharded << bucket;
    }
    void two_devices_train_as_one_does() {
        NEED_SHARED();
        QFETCH(int, method);
        QFETCH(bool, sharded);
        QFETCH(int, bucket);
        TemporaryDirectory folder;
        const Json job = {{"method", method}, {"sharded", sharded}, {"bucket", bucket}, {"file", (folder.path() / "weights").string()}};
        Ranks ranks(2, "as_pretend_rank", {{job_variable, QString::fromStdString(job.dump())}});
        const std::string problem = ranks.problem();
        QVERIFY2(problem.empty(), problem.c_str());
        qInfo("%s", ranks.output(0).c_str());
        TrainingBench one(method_of(static_cast<std::size_t>(method)), settings_of(sharded), pretend::device(), at::kDouble);
        one.steps(5);
        std::vector<at::Tensor> flat;
        for (const at::Tensor& t : one.weights()) flat.push_back(t.flatten());
        const double difference = relative_difference(read_weights(folder.path() / "weights"), at::cat(flat));
        QVERIFY2(difference < 1e-5, std::to_string(difference).c_str());
    }

    /// A sum in another order is another rounding, of which AdamW makes steps: the first loss has none behind it.
    void in_bfloat16_two_devices_train_nearly_as_one_does_data() {
        QTest::addColumn<int>("method");
        QTest::addColumn<bool>("sharded");
        for (const int method : {0, 1, 2, gist})
            for (const bool sharded : {false, true})
                QTest::addRow("%s%s", method_of(static_cast<std::size_t>(method)).name, sharded ? ", sharded" : "") << method << sharded;
    }
    void in_bfloat16_two_devices_train_nearly_as_one_does() {
        NEED_SHARED();
        QFETCH(int, method);
        QFETCH(bool, sharded);
        TemporaryDirectory folder;
        const std::string file = (folder.path() / "losses").string();
        const Json job = {{"method", method}, {"sharded", sharded}, {"losses", file}};
        Ranks ranks(2, "as_pretend_rank", {{job_variable, QString::fromStdString(job.dump())}});
        const std::string problem = ranks.problem();
        QVERIFY2(problem.empty(), problem.c_str());
        TrainingBench one(method_of(static_cast<std::size_t>(method)), in_bfloat16(sharded), pretend::device());
        const at::Tensor expected = at::tensor(losses_of(one), at::kDouble), got = read_weights(file);
        QCOMPARE(got.numel(), expected.numel());
        const at::Tensor off = (got - expected).abs() / expected.abs().clamp_min(1);
        qInfo("the first loss is off by %.2g, the worst by %.2g", off[0].item<double>(), off.max().item<double>());
        QVERIFY(off[0].item<double>() < 0.02);
        QVERIFY(off.max().item<double>() < 0.1);
    }

    void a_forecast_knows_what_a_second_device_spares_and_what_sums_take_data() {
        QTest::addColumn<int>("method");
        QTest::addColumn<bool>("sharded");
        QTest::addColumn<int>("chunk");
        for (const int method : {0, 1, 2, 3, 5})
            for (const bool sharded : {false, true})
                for (const int chunk : {0, 4})
                    QTest::addRow("%s%s, chunk %d", methods[static_cast<std::size_t>(method)].name, sharded ? ", sharded" : "", chunk)
                        << method << sharded << chunk;
    }
    void a_forecast_knows_what_a_second_device_spares_and_what_sums_take() {
        NEED_SHARED();
        QFETCH(int, method);
        QFETCH(bool, sharded);
        QFETCH(int, chunk);
        TemporaryDirectory folder;
        const Json job = {{"method", method}, {"sharded", sharded}, {"chunk", chunk}, {"file", (folder.path() / "most").string()}};
        Ranks ranks(2, "as_pretend_rank", {{job_variable, QString::fromStdString(job.dump())}});
        const std::string problem = ranks.problem();
        QVERIFY2(problem.empty(), problem.c_str());
        const Method& one = methods[static_cast<std::size_t>(method)];
        TrainingBench bench(one, measured_settings(job), c10::kCPU);
        const auto objective = [&](const EmbeddingModel& shapes) { return TrainingBench::objective_of(one, shapes); };
        const BatchPlan plan = bench.curriculum->next();
        const auto forecast = [&](int processes) {
            return static_cast<double>(
                forecast_memory(*bench.model, {bench.stage, *bench.batcher, measured_settings(job), objective, processes}, plan).most);
        };
        const double most = read_weights(folder.path() / "most").item<double>(), off = forecast(2) / most - 1;
        qInfo("%.0f bytes, forecast %+.2f %%; of one process %+.2f %%", most, 100 * off, 100 * (forecast(1) / most - 1));
        QVERIFY(std::abs(off) < 0.05);
    }

    /// The numbers of a step are gathered while the sums of the next one's gradients are under way.
    void what_two_devices_read_late_is_what_one_reads_data() {
        QTest::addColumn<bool>("sharded");
        QTest::addColumn<int>("bucket");
        QTest::addColumn<int>("broken");
        for (const int broken : {0, 3})
            for (const bool sharded : {false, true})
                for (const int bucket : {997, static_cast<int>(usual_bucket_values)})
                    QTest::addRow("buckets of %d%s%s", bucket, sharded ? ", sharded" : "", broken > 0 ? ", broken" : "")
                        << sharded << bucket << broken;
    }
    void what_two_devices_read_late_is_what_one_reads() {
        NEED_SHARED();
        QFETCH(bool, sharded);
        QFETCH(int, bucket);
        QFETCH(int, broken);
        TemporaryDirectory folder;
        const auto told = ranks_run(folder.path() / "weights", sharded, bucket, broken, -1);
        WatchedRun one(late_settings(false, bucket, 0), c10::kCPU, broken);
        const std::string error = one.error_of(one.events());
        QCOMPARE(error.empty(), broken == 0);
        for (const int rank : {0, 1}) {
            QCOMPARE(told[rank].at("error").get<std::string>(), error);
            const std::string saved = rank == 0 || sharded ? "saved4 5late 6 saved6 " : "5late 6 ";
            QCOMPARE(told[rank].at("order").get<std::string>(), broken > 0 ? "1late 2late " : "1late 2late 3late 4 " + saved);
            QVERIFY(largest_difference(told[rank].at("numbers").get<std::vector<double>>(), one.numbers) < 1e-5);
            QCOMPARE(told[rank].at("tokens").get<std::int64_t>(), one.tokens);
        }
        std::vector<at::Tensor> flat;
        for (const at::Tensor& t : one.bench.weights()) flat.push_back(t.flatten());
        QVERIFY(relative_difference(read_weights(folder.path() / "weights"), at::cat(flat)) < 1e-5);
    }

    /// A rank without a share of the batch has sent its sums before it waits for the numbers of the step before.
    void a_rank_without_a_share_keeps_nobody_waiting_data() {
        QTest::addColumn<bool>("sharded");
        for (const bool sharded : {false, true}) QTest::addRow("%s", sharded ? "sharded" : "whole") << sharded;
    }
    void a_rank_without_a_share_keeps_nobody_waiting() {
        NEED_SHARED();
        QFETCH(bool, sharded);
        TemporaryDirectory folder;
        const auto told = ranks_run(folder.path() / "weights", sharded, 1, 0, -1, 1);
        QCOMPARE(told[0].at("error").get<std::string>(), std::string());
        QCOMPARE(told[1].at("error").get<std::string>(), std::string());
        QCOMPARE(told[1].at("numbers").size(), std::size_t{18});
    }

    /// It is at something else than the others, and tells them why it goes instead of asking them for the numbers of the step before.
    void a_device_without_memory_is_named_to_the_others() {
        NEED_SHARED();
        TemporaryDirectory folder;
        const auto told = ranks_run(folder.path() / "weights", false, 997, 0, 1);
        const std::string own = told[1].at("error"), others = told[0].at("error");
        QVERIFY2(own.find("out of memory at step 4") != std::string::npos, own.c_str());
        QVERIFY2(others.find("rank 1 of 2 failed: ") != std::string::npos && others.find(own) != std::string::npos, others.c_str());
    }

    /// None of them can look up the other's name, and the own one is not of the cable.
    void two_hosts_train_as_one_does() {
        NEED_SHARED();
        const TwoHosts hosts;
        if (!hosts.problem().isEmpty()) QSKIP(hosts.problem().constData());
        TemporaryDirectory folder;
        const Json job = {
            {"method", 0}, {"sharded", true}, {"bucket", usual_bucket_values}, {"file", (folder.path() / "weights").string()}};
        QProcess ranks[2];
        for (const int rank : {0, 1})
            hosts.start(ranks[rank], rank, {{job_variable, QString::fromStdString(job.dump())}},
                        {QCoreApplication::applicationFilePath(), "as_pretend_rank"});
        for (QProcess& process : ranks) {
            QVERIFY(process.waitForFinished(5 * hang_ms));
            QVERIFY2(process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0, process.readAll());
        }
        TrainingBench one(methods[0], settings_of(true), pretend::device(), at::kDouble);
        one.steps(5);
        std::vector<at::Tensor> flat;
        for (const at::Tensor& t : one.weights()) flat.push_back(t.flatten());
        QVERIFY(relative_difference(read_weights(folder.path() / "weights"), at::cat(flat)) < 1e-5);
    }

    void a_teachers_texts_are_shared_by_the_devices() {
        NEED_SHARED();
        TemporaryDirectory folder;
        const std::string file = (folder.path() / "rows").string();
        Ranks ranks(2, "as_pretend_rank", {{job_variable, QString::fromStdString(Json{{"judged", file}}.dump())}});
        const std::string problem = ranks.problem();
        QVERIFY2(problem.empty(), problem.c_str());
        ModelTeacher here(tiny_model(), c10::kCPU, nullptr);
        const TrainingSet set = judged_set();
        const at::Tensor wanted = here.embed(positives(set), here.route("", Role::document));
        QVERIFY(max_difference(read_weights(file), wanted.flatten()) < 1e-5);
    }

    void a_rank_that_goes_another_way_is_named() {
        Ranks ranks(2, "as_pretend_rank", {{job_variable, "{}"}});
        for (const int rank : {0, 1}) {
            QVERIFY(ranks.finish(rank) != 0);
            const std::string output = ranks.output(rank);
            QVERIFY2(output.find("rank 0 does all-reduce of 4 Float, rank 1 does all-reduce of 6 Float") != std::string::npos ||
                         output.find("rank 1 does all-reduce of 6 Float, rank 0 does all-reduce of 4 Float") != std::string::npos,
                     output.c_str());
        }
    }
};

FACETER_TEST(TestPretendRanks)
#include "test_pretend_ranks.moc"
