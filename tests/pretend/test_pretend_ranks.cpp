#include <fstream>

#include "common/error.h"
#include "model/accelerator.h"
#include "plugin/teacher.h"
#include "support/ranks.h"
#include "train/rendezvous.h"
#include "training.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr const char* job_variable = "FACETER_TEST_JOB";

/// This process' device in the group.
c10::Device own_device(const Rendezvous& where) { return choose_device("cuda", where.rank, where.size); }

TrainingSettings settings_of(bool sharded) {
    TrainingSettings settings = exact_settings();
    settings.sharding = sharded ? Sharding::zero2 : Sharding::none;
    return settings;
}

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

/// So many texts that ranks share them.
TrainingSet judged_set() { return task_pairs("retrieval", 200); }
std::vector<std::string_view> positives(const TrainingSet& set) {
    std::vector<std::string_view> texts;
    for (const Example& one : set.examples) texts.push_back(set.texts[one.positive]);
    return texts;
}

/// Two network namespaces with a cable between them: hosts that reach each other, at 10.77.0.1 and 10.77.0.2, and nothing else. Root alone
/// can make them.
class TwoHosts {
  public:
    TwoHosts() {
        problem_ =
            run("set -e\n"
                "ip netns add $1\nip netns add $2\n"
                "ip link add left netns $1 type veth peer name right netns $2\n"
                "ip -n $1 addr add 10.77.0.1/24 dev left\nip -n $2 addr add 10.77.0.2/24 dev right\n"
                "for host in $1 $2; do ip -n $host link set lo up; done\n"
                "ip -n $1 link set left up\nip -n $2 link set right up\n");
    }
    ~TwoHosts() { run("ip netns del $1; ip netns del $2"); }
    TwoHosts(const TwoHosts&) = delete;
    TwoHosts& operator=(const TwoHosts&) = delete;

    /// Why there are none; empty: there are.
    const QByteArray& problem() const { return problem_; }
    /// The other ranks are met at the first host's address.
    void start(QProcess& process, int rank, const QString& job) const {
        QProcessEnvironment variables = QProcessEnvironment::systemEnvironment();
        variables.remove("GLOO_SOCKET_IFNAME");
        const std::pair<const char*, QString> settings[] = {{"RANK", QString::number(rank)},
                                                            {"WORLD_SIZE", "2"},
                                                            {"LOCAL_RANK", "0"},
                                                            {"MASTER_ADDR", "10.77.0.1"},
                                                            {"MASTER_PORT", "29500"},
                                                            {"OMP_NUM_THREADS", "1"},
                                                            {job_variable, job},
                                                            {"FACETER_PRETEND_INTERFACE", rank == 0 ? "left" : "right"}};
        for (const auto& [name, value] : settings) variables.insert(name, value);
        process.setProcessEnvironment(variables);
        process.setProcessChannelMode(QProcess::MergedChannels);
        process.start("ip", {"netns", "exec", name(rank), QCoreApplication::applicationFilePath(), "as_pretend_rank"});
    }

  private:
    static QString name(int rank) { return QString("faceter-%1-%2").arg(QCoreApplication::applicationPid()).arg(rank); }
    static QByteArray run(const QString& script) {
        QProcess shell;
        shell.setProcessChannelMode(QProcess::MergedChannels);
        shell.start("sh", {"-c", script, "sh", name(0), name(1)});
        if (!shell.waitForFinished(hang_ms)) return "sh does not answer";
        return shell.exitCode() == 0 ? QByteArray() : "ip: " + shell.readAll();
    }
    QByteArray problem_;
};

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
        if (!wanted.contains("method")) return goes_another_way(*group, device);
        TrainingBench bench(methods[wanted.at("method").get<std::size_t>()], settings_of(wanted.at("sharded").get<bool>()), device,
                            at::kDouble, group.get());
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
    static void goes_another_way(ProcessGroup& group, const c10::Device& device) {
        at::Tensor values = at::ones({group.rank() == 0 ? 4 : 6}, device);
        group.all_reduce_sum(values);
    }
};
static const bool registered_as_rank = register_test("as_pretend_rank.cpp", [] { return std::make_unique<AsPretendRank>(); });

/// Two processes, each with a pretend device of its own.
class TestPretendRanks : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void two_devices_train_as_one_does_data() {
        QTest::addColumn<int>("method");
        QTest::addColumn<bool>("sharded");
        for (const int method : {0, 1, 2, 5})
            for (const bool sharded : {false, true})
                QTest::addRow("%s%s", methods[static_cast<std::size_t>(method)].name, sharded ? ", sharded" : "") << method << sharded;
    }
    void two_devices_train_as_one_does() {
        NEED_SHARED();
        QFETCH(int, method);
        QFETCH(bool, sharded);
        TemporaryDirectory folder;
        const Json job = {{"method", method}, {"sharded", sharded}, {"file", (folder.path() / "weights").string()}};
        Ranks ranks(2, "as_pretend_rank", {{job_variable, QString::fromStdString(job.dump())}});
        const std::string problem = ranks.problem();
        QVERIFY2(problem.empty(), problem.c_str());
        qInfo("%s", ranks.output(0).c_str());
        TrainingBench one(methods[static_cast<std::size_t>(method)], settings_of(sharded), pretend::device(), at::kDouble);
        one.steps(5);
        std::vector<at::Tensor> flat;
        for (const at::Tensor& t : one.weights()) flat.push_back(t.flatten());
        const double difference = relative_difference(read_weights(folder.path() / "weights"), at::cat(flat));
        QVERIFY2(difference < 1e-5, std::to_string(difference).c_str());
    }

    /// None of them can look up the other's name, and the own one is not of the cable.
    void two_hosts_train_as_one_does() {
        NEED_SHARED();
        const TwoHosts hosts;
        if (!hosts.problem().isEmpty()) QSKIP(hosts.problem().constData());
        TemporaryDirectory folder;
        const Json job = {{"method", 0}, {"sharded", true}, {"file", (folder.path() / "weights").string()}};
        QProcess ranks[2];
        for (const int rank : {0, 1}) hosts.start(ranks[rank], rank, QString::fromStdString(job.dump()));
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
