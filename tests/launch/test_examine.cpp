#include "common/error.h"
#include "launch/examine.h"
#include "support/fake_programs.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

/// A profile's doctor, with a srun and an ssh that run here what they are told to run elsewhere.
class TestExamine : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    FakePrograms programs_;

    std::string in(const char* name) const { return (folder_.path() / name).string(); }
    /// Says what it sees and was called with.
    void write_program() const {
        write_file_atomic(in("faceter"), "#!/bin/sh\nprintf '{\"problems\": [\"%s: %s\"], \"cores\": 4}' \"$TONE\" \"$*\"\n");
        fs::permissions(in("faceter"), fs::perms(0700));
    }
    Profile slurm() const {
        return parse_profile(
            "kind: slurm\npartition: gpu\ngpus_per_node: 2\nnodes: 3\nenvironment: {TONE: red}\nsetup: [echo loaded]\nfaceter: " +
                in("faceter") + "\n",
            "/config/cluster.yaml");
    }
    Profile ssh(const std::string& more = "") const {
        return parse_profile(
            "kind: ssh\nhost: box\nenvironment: {TONE: blue}\nfolder: " + in("project") + "\nfaceter: " + in("faceter") + "\n" + more,
            "/config/box.yaml");
    }

  private Q_SLOTS:
    void init() { write_program(); }
    void a_node_is_asked_with_the_profiles_place_and_preparation() {
        programs_.answers("srun", "echo \"$*\" > '" + in("words") + "'\nwhile [ \"$1\" != bash ]; do shift; done\nexec \"$@\"");
        QCOMPARE(examine_through(slurm())["problems"][0].get<std::string>(), std::string("red: doctor --json"));
        const std::string words = read_file(in("words"), 1 << 16);
        for (const char* word : {"--nodes=1", "--ntasks=1", "--partition=gpu", "--gpus-per-node=2", "--time=5"})
            QVERIFY2(words.find(word) != std::string::npos, words.c_str());
    }
    void another_machine_is_asked_and_asks_its_own_cluster() {
        programs_.answers("ssh", "while [ \"$1\" != sh ]; do shift; done\nexec \"$@\"");
        QCOMPARE(examine_through(ssh())["problems"][0].get<std::string>(), std::string("blue: doctor --json"));
        QCOMPARE(examine_through(ssh("profile: low\n"))["problems"][0].get<std::string>(),
                 std::string("blue: doctor --json --profile low"));
    }
    void what_is_said_instead_is_the_error() {
        programs_.answers("srun", "echo 'srun: error: invalid partition specified: gpu' >&2; exit 1");
        EXPECT_ERROR(examine_through(slurm()), "srun", "invalid partition");
        programs_.answers("srun", "echo hello");
        EXPECT_ERROR(examine_through(slurm()), "srun");
        programs_.answers("srun", "echo '{\"problems\": [], \"memory_bytes\": \"much\"}'");
        EXPECT_ERROR(examine_through(slurm()), "memory_bytes", "much");
        programs_.answers("srun", "echo '{\"problems\": [], \"findings\": [{\"what\": 1}]}'");
        EXPECT_ERROR(examine_through(slurm()), "findings", "what");
        programs_.answers("srun", "echo '[1]'");
        EXPECT_ERROR(examine_through(slurm()), "[1]", "faceter doctor");
    }
};

FACETER_TEST(TestExamine)
#include "test_examine.moc"
