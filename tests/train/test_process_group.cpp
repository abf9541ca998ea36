#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <QThread>
#include <csignal>

#include "common/error.h"
#include "common/random.h"
#include "support/checkout.h"
#include "support/ranks.h"
#include "support/tensors.h"
#include "train/balance.h"
#include "train/group_optimizer.h"
#include "train/rendezvous.h"
#include "train/training_settings.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

Rendezvous from(const std::map<std::string, std::string>& variables) {
    return Rendezvous::from(
        [&](const std::string& name) { return variables.contains(name) ? std::optional(variables.at(name)) : std::nullopt; });
}

/// A port of 127.0.0.1 that nobody listens on.
int free_port() {
    const int s = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(s, reinterpret_cast<sockaddr*>(&address), size);
    ::getsockname(s, reinterpret_cast<sockaddr*>(&address), &size);
    ::close(s);
    return ntohs(address.sin_port);
}

/// As many rows as the rank's number.
std::vector<std::int64_t> known_counts(int size) {
    std::vector<std::int64_t> counts;
    for (int r = 0; r < size; ++r) counts.push_back(r);
    return counts;
}

}  // namespace

/// What the processes do that the tests below start.
class AsMember : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void works() {
        const std::string job = qgetenv("FACETER_TEST_JOB").toStdString();
        if (job.empty()) QSKIP("started by the tests of test_process_group");
        if (job.starts_with("work")) return waits_for_work(job);
        const auto group = join_gloo_group(Rendezvous::from_environment(), {30, job == "hangs" ? 4.0 : 30.0, 30});
        job == "collects" ? collects(*group) : job == "sends rows" ? sends_rows(*group) : leaves(*group, job);
    }

  private:
    static void collects(ProcessGroup& group) {
        const int rank = group.rank(), size = group.size();
        at::Tensor sums = at::arange(5, at::kDouble) * (rank + 1);
        group.all_reduce_sum(sums);
        QVERIFY(at::equal(sums, at::arange(5, at::kDouble) * (size * (size + 1) / 2)));
        const at::Tensor rows = group.all_gather_rows(at::full({rank, 3}, rank, at::kFloat));  // rank 0 has none
        QCOMPARE(rows.size(0), static_cast<std::int64_t>(size * (size - 1) / 2));
        std::int64_t row = 0;
        for (int r = 0; r < size; ++r)
            for (int i = 0; i < r; ++i) QCOMPARE(rows[row++][2].item<float>(), static_cast<float>(r));
        QCOMPARE(group.all_gather_rows(at::empty({0, 3})).size(0), std::int64_t{0});
        QVERIFY(at::equal(group.all_gather_rows(at::full({rank, 3}, rank, at::kFloat), known_counts(group.size())), rows));
        EXPECT_ERROR(group.all_gather_rows(at::empty({rank + 1, 3}), known_counts(group.size())), "rows to share");
        const at::Tensor part = group.reduce_scatter_sum(at::arange(2 * size, at::kDouble));
        QVERIFY(at::equal(part, (at::arange(2, at::kDouble) + 2 * rank) * size));
        QVERIFY(at::equal(group.all_gather_parts(at::full({2}, rank, at::kLong)), at::arange(2 * size, at::kLong).div(2, "floor")));
        QCOMPARE(text_of_root(group, rank == 0 ? "stage-000" : "something else"), std::string("stage-000"));
        group.barrier();
    }

    /// A table that fills a bucket alone: once its rows travel that have gradients, once all of them.
    static void sends_rows(ProcessGroup& group) {
        const auto steps = [&](bool rows_only) {
            const at::Tensor table = at::ones({2'100'000, 4}).requires_grad_(), bias = at::ones({6}).requires_grad_();
            GroupAdamW optimizer({{"table", table}, {"bias", bias, false}}, {}, group, Sharding::none);
            for (int i = 0; i < 2; ++i) {
                if (rows_only) optimizer.only_rows(table, {5, 6, 7, 2'000'000});
                if (i == 1) optimizer.send_while_backward({});
                const at::Tensor own = at::tensor({std::int64_t{5} + group.rank(), std::int64_t{2'000'000}}, at::kLong);
                if (group.rank() < 2)
                    ((table.index_select(0, own) * (1 + group.rank())).pow(2).sum() + bias.sum())
                        .backward();  // the last rank has nothing to do
                optimizer.step(0.1, 1, {});
                optimizer.zero_grad();
            }
            return std::pair(table.detach(), bias.detach());
        };
        const auto all = steps(false), rows = steps(true);
        QVERIFY(at::equal(all.first, rows.first) && at::equal(all.second, rows.second));
        QVERIFY(all.first[5][0].item<float>() < all.first[7][0].item<float>() &&
                all.first[2'000'000][0].item<float>() < all.first[7][0].item<float>());
    }

    /// Rank 0 is at work for longer than a step may take, or its machine stands still meanwhile.
    static void waits_for_work(const std::string& job) {
        const auto group = join_gloo_group(Rendezvous::from_environment(), {30, 2, 86400});
        at::Tensor one = at::ones({1});
        group->all_reduce_sum(one);
        if (group->rank() == 0 && job == "work stands still") ::raise(SIGSTOP);
        if (group->rank() == 0) QThread::sleep(5);
        if (group->rank() == 0 || job == "work") return group->barrier();
        EXPECT_ERROR(group->barrier(), std::string("rank 0 of 2 is gone without a word"), std::string("no answer from it within 2 s"));
    }

    /// The last rank goes in the way that the job says; the others name it.
    static void leaves(ProcessGroup& group, const std::string& job) {
        at::Tensor one = at::ones({1});
        group.all_reduce_sum(one);
        if (group.rank() == group.size() - 1) {
            if (job == "dies") ::raise(SIGKILL);
            if (job == "hangs") ::raise(SIGSTOP);
            group.fail("the disk is full");
            return;
        }
        const std::string rank = "rank " + std::to_string(group.size() - 1);
        EXPECT_ERROR(
            group.all_reduce_sum(one), rank,
            std::string(job == "dies"    ? "gone without a word"
                        : job == "hangs" ? " of 3 "  // whoever waits longest sees the other survivor go before its own 4 s are over
                                         : "failed: the disk is full"));
    }
};
static const bool registered_as_member = register_test("as_member.cpp", [] { return std::make_unique<AsMember>(); });

class TestProcessGroup : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void torchruns_variables_are_read() {
        const Rendezvous r = from({{"RANK", "3"},
                                   {"WORLD_SIZE", "8"},
                                   {"LOCAL_RANK", "1"},
                                   {"LOCAL_WORLD_SIZE", "2"},
                                   {"MASTER_ADDR", "gpu01"},
                                   {"MASTER_PORT", "29400"}});
        QVERIFY(r.rank == 3 && r.size == 8 && r.local_rank == 1 && r.local_size == 2 && r.file.empty());
        QCOMPARE(r.place(), std::string("gpu01:29400"));
        QCOMPARE(from({}).size, 1);
        QCOMPARE(from({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).size, 1);
    }

    void slurms_variables_are_translated() {
        const std::map<std::string, std::string> step = {{"SLURM_PROCID", "5"},
                                                         {"SLURM_NTASKS", "8"},
                                                         {"SLURM_LOCALID", "1"},
                                                         {"SLURM_STEP_ID", "0"},
                                                         {"SLURM_NODELIST", "gpu[007-010,12]"},
                                                         {"SLURM_JOB_ID", "123456"}};
        const Rendezvous r = from(step);
        QVERIFY(r.rank == 5 && r.size == 8 && r.local_rank == 1);
        QCOMPARE(r.place(), std::string("gpu007:23456"));
        auto batch_script = step;  // no srun: one process, whatever the job's tasks
        batch_script.erase("SLURM_STEP_ID");
        QCOMPARE(from(batch_script).size, 1);
        const auto beside = [&](const std::map<std::string, std::string>& more) {
            auto all = step;
            all.insert(more.begin(), more.end());
            return from(all).local_size;
        };
        QCOMPARE(beside({}), 1);
        QCOMPARE(beside({{"SLURM_NTASKS_PER_NODE", "4"}}), 4);
        QCOMPARE(beside({{"SLURM_TASKS_PER_NODE", "2(x3),1"}}), 2);
        QCOMPARE(beside({{"SLURM_TASKS_PER_NODE", "2(x3),1"}, {"SLURM_NODEID", "3"}}), 1);
        QCOMPARE(beside({{"SLURM_NTASKS_PER_NODE", "8"}, {"SLURM_STEP_TASKS_PER_NODE", "3,5"}, {"SLURM_NODEID", "1"}}), 5);
        for (const char* broken : {"x", "2(x", "2(x0)", "2(xa)", "0", ",", "2(x1)"})
            QCOMPARE(beside({{"SLURM_NTASKS_PER_NODE", "4"}, {"SLURM_TASKS_PER_NODE", broken}, {"SLURM_NODEID", "1"}}), 4);
        auto other = step;
        other["MASTER_ADDR"] = "10.0.0.7";
        other["MASTER_PORT"] = "4000";
        QCOMPARE(from(other).place(), std::string("10.0.0.7:4000"));
        for (const auto& [list, host] :
             std::map<std::string, std::string>{{"login1", "login1"}, {"a,b", "a"}, {"n[3,5-7]", "n3"}, {"r[1-2]-ib,x[1-2]", "r1-ib"}})
            QCOMPARE(first_host(list), host);
    }

    void variables_that_do_not_fit_are_named() {
        EXPECT_ERROR(from({{"RANK", "x"}, {"WORLD_SIZE", "2"}}), std::string("RANK is 'x'"));
        EXPECT_ERROR(from({{"RANK", "1"}}), std::string("WORLD_SIZE is not"));
        EXPECT_ERROR(from({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}}), std::string("rank 2 of 2"));
        EXPECT_ERROR(from({{"RANK", "1"}, {"WORLD_SIZE", "2"}}), std::string("MASTER_ADDR"));
        EXPECT_ERROR(from({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}), std::string("MASTER_PORT is not"));
        EXPECT_ERROR(from({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "70000"}}), std::string("1 to 65535"));
        EXPECT_ERROR(first_host("gpu[1-2"), std::string("gpu[1-2"));
        EXPECT_ERROR(first_host(""), std::string("names no host"));
    }

    void a_batch_is_shared_out_whole_and_evenly() {
        for (int size = 1; size < 6; ++size)
            for (std::int64_t count = 0; count < 14; ++count) {
                std::int64_t next = 0;
                for (int r = 0; r < size; ++r) {
                    const Share share = share_of(count, r, size);
                    QCOMPARE(share.begin, next);
                    QVERIFY(share.size() == count / size || share.size() == count / size + 1);
                    QVERIFY(r == 0 || share.size() <= share_of(count, r - 1, size).size());
                    next = share.end;
                }
                QCOMPARE(next, count);
            }
    }

    void shares_of_uneven_pairs_are_about_the_same_work_and_lose_none() {
        RandomStream random(3, "shares");
        for (const int ranks : {2, 3, 4, 7})
            for (const std::size_t count : {0u, 1u, 5u, 64u, 257u}) {
                BatchPlan plan;
                std::map<std::uint32_t, double> work_of;  // of each example; some are ten times others
                std::vector<double> work;
                for (std::uint32_t i = 0; i < count; ++i) {
                    plan.items.push_back({0, i});
                    plan.keep.push_back(i % 3 == 0);
                    work.push_back(work_of[i] = 10 + static_cast<double>(random.below(90)));
                }
                balance_shares(plan, work, ranks);
                std::set<std::uint32_t> seen;
                double least = 1e300, most = 0;
                for (int r = 0; r < ranks; ++r) {
                    const Share share = share_of(static_cast<std::int64_t>(count), r, ranks);
                    double sum = 0;
                    for (std::int64_t i = share.begin; i < share.end; ++i) {
                        const std::uint32_t example = plan.items[static_cast<std::size_t>(i)].example;
                        QVERIFY(seen.insert(example).second);
                        QCOMPARE(plan.keep[static_cast<std::size_t>(i)], std::int64_t{example % 3 == 0});
                        sum += work_of[example];
                    }
                    least = std::min(least, sum);
                    most = std::max(most, sum);
                }
                QCOMPARE(seen.size(), count);
                if (count >= 64)
                    QVERIFY2(most < 1.06 * least,
                             qPrintable(QString("%1 ranks, %2 pairs: %3 and %4").arg(ranks).arg(count).arg(least).arg(most)));
            }
    }

    void buckets_hold_every_value_once_and_never_those_of_two_experts() {
        std::vector<Parameter> parameters;
        for (int i = 0; i < 12; ++i) parameters.push_back({std::to_string(i), at::zeros({i % 5 + 1, 3}), true, Path::of_expert(i % 4 - 1)});
        const auto buckets = make_buckets(parameters, 4, 20);
        std::set<std::size_t> seen;
        for (const Bucket& bucket : buckets) {
            QCOMPARE(bucket.numel % 4, std::int64_t{0});
            std::int64_t next = 0;
            for (const Bucket::Member& member : bucket.members) {
                QVERIFY(seen.insert(member.parameter).second);
                QVERIFY(parameters[member.parameter].owner == bucket.owner);
                QCOMPARE(member.offset, next);
                next += member.numel;
            }
            QVERIFY(next <= bucket.numel && bucket.numel < next + 4);
        }
        QCOMPARE(seen.size(), parameters.size());
        QVERIFY(buckets.size() > 4);
    }

    void the_size_of_buckets_is_a_setting() {
        const auto read = [](const Json& training) {
            return TrainingSettings::from_json({{"training", training}, {"objective", Json::object()}}).bucket_values;
        };
        QCOMPARE(read(Json::object()), usual_bucket_values);
        QCOMPARE(read({{"gradient_bucket", 8}}), usual_bucket_values);
        QCOMPARE(read({{"gradient_bucket", 0.5}}), std::int64_t{1} << 17);
        QCOMPARE(read({{"gradient_bucket", 1e-9}}), std::int64_t{1});  // each parameter alone
    }

    void three_processes_gather_and_add_up() {
        Ranks ranks(3, "as_member", {{"FACETER_TEST_JOB", "collects"}});
        const std::string problem = ranks.problem();
        QVERIFY2(problem.empty(), problem.c_str());
    }

    void rows_that_have_gradients_give_the_steps_of_whole_tables() {
        Ranks ranks(3, "as_member", {{"FACETER_TEST_JOB", "sends rows"}});
        const std::string problem = ranks.problem();
        QVERIFY2(problem.empty(), problem.c_str());
    }

    void processes_meet_at_a_host_and_port_as_under_torchrun() {
        Ranks ranks(2, "as_member",
                    {{"FACETER_TEST_JOB", "collects"},
                     {"FACETER_RENDEZVOUS", ""},
                     {"MASTER_ADDR", "127.0.0.1"},
                     {"MASTER_PORT", QString::number(free_port())}});
        const std::string problem = ranks.problem();
        QVERIFY2(problem.empty(), problem.c_str());
    }

    void the_others_name_a_rank_that_goes_data() {
        QTest::addColumn<QString>("job");
        for (const char* job : {"dies", "hangs", "fails"}) QTest::newRow(job) << job;
    }
    void the_others_name_a_rank_that_goes() {
        QFETCH(QString, job);
        Ranks ranks(3, "as_member", {{"FACETER_TEST_JOB", job}});
        for (const int rank : {0, 1}) {
            const int code = ranks.finish(rank);
            QVERIFY2(code == 0, ranks.output(rank).c_str());
        }
    }

    /// No packet says that a machine is off or a cable out, and evaluation and checkpoints may take a day.
    void others_wait_for_the_work_of_a_rank_that_is_there() {
        for (const char* job : {"work", "work stands still"}) {
            Ranks ranks(2, "as_member",
                        {{"FACETER_TEST_JOB", job},
                         {"FACETER_RENDEZVOUS", ""},
                         {"MASTER_ADDR", "127.0.0.1"},
                         {"MASTER_PORT", QString::number(free_port())}});
            const int code = ranks.finish(1);
            QVERIFY2(code == 0, ranks.output(1).c_str());
        }
    }

    void a_rendezvous_that_refuses_is_named_with_host_and_port() {
        Rendezvous r;
        r.rank = 1;
        r.size = 2;
        r.host = "127.0.0.1";
        r.port = free_port();
        EXPECT_ERROR(join_gloo_group(r, {1, 1, 1}), r.place(), std::string("rank 1"), std::string("rank 0"));
    }

    void ranks_that_do_not_come_are_named() {
        TemporaryDirectory folder;
        Rendezvous r;
        r.size = 3;
        r.file = folder.path() / "store";
        EXPECT_ERROR(join_gloo_group(r, {0.2, 1, 1}), std::string("ranks 1, 2 of 3 did not come"), r.file.string());
    }

    /// Its virtual functions depend on macros of the wheel's own build, which the headers here do not know.
    void c10ds_gloo_store_is_never_made_here() {
        QProcess nm;
        nm.start("nm", {"-C", FACETER_BINARY_DIR "/lib/libfaceter-learn.so"});
        if (!nm.waitForStarted()) QSKIP("no nm");
        QVERIFY(nm.waitForFinished());
        const QByteArray symbols = nm.readAllStandardOutput();
        QVERIFY(symbols.contains("ProcessGroupGloo"));
        QVERIFY(!symbols.contains("vtable for c10d::ProcessGroupGloo::GlooStore"));
    }
};

FACETER_TEST(TestProcessGroup)
#include "test_process_group.moc"
