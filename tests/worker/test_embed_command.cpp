#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <QProcess>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>

#include "common/file.h"
#include "support/checkout.h"
#include "support/test.h"

using namespace faceter;
using namespace faceter::testing;

namespace {

constexpr const char* worker = FACETER_BINARY_DIR "/bin/faceter-worker";
constexpr std::size_t npy_header_bytes = 128;

std::string tiny_model() { return (shared_folder() / "fixtures/bert").string(); }

/// The numbers of a .npy file.
template <typename T>
std::vector<T> numbers_in(const fs::path& file) {
    const std::string bytes = read_file(file);
    std::vector<T> numbers((bytes.size() - npy_header_bytes) / sizeof(T));
    std::memcpy(numbers.data(), bytes.data() + npy_header_bytes, numbers.size() * sizeof(T));
    return numbers;
}

std::string npy_header(const fs::path& file) { return read_file(file).substr(10, npy_header_bytes - 10); }

/// Exit code and largest resident memory of `faceter-worker embed` with these arguments behind it.
struct Ended {
    int code = -1;
    std::int64_t peak_bytes = 0;
};
Ended run_embed(std::vector<std::string> arguments, const std::string& model = tiny_model()) {
    arguments.insert(arguments.begin(), {worker, "embed", "--model", model, "--threads", "1"});
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    pid_t child = 0;
    if (::posix_spawn(&child, worker, nullptr, nullptr, pointers.data(), environ) != 0) return {};
    int status = 0;
    rusage usage{};
    ::wait4(child, &status, 0, &usage);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, std::int64_t{usage.ru_maxrss} * 1024};
}

/// Exit code and standard error of `faceter-worker embed` with a run that an earlier version wrote.
std::pair<int, std::string> said_with_run(const QString& run, const QStringList& arguments) {
    QProcess process;
    process.start(
        worker,
        QStringList{"embed", "--threads", "1", "--model", FACETER_SOURCE_DIR "/tests/versions/0.1.0/project/runs/" + run} + arguments);
    process.waitForFinished(-1);
    return {process.exitCode(), process.readAllStandardError().toStdString()};
}

void says(const std::string& text, const std::string& piece) { QVERIFY2(text.find(piece) != std::string::npos, text.c_str()); }

}  // namespace

/// `faceter embed` into files, on the tiny reference model.
class TestEmbedCommand : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;
    std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
    void write_texts(const std::string& name, int count) const {
        std::ofstream out(in(name));
        for (int i = 0; i < count; ++i) out << "a cat number " << i % 50 << "\n";
    }

  private Q_SLOTS:
    void initTestCase() { NEED_SHARED(); }

    /// As "$OUT" of a shell that has none.
    void an_empty_path_is_said_in_words() {
        write_texts("some.txt", 2);
        const QString texts = QString::fromStdString(in("some.txt")), vectors = QString::fromStdString(in("x.npy"));
        for (const QStringList& words : {QStringList{"--output", "", texts}, QStringList{"--output", vectors, ""}}) {
            const auto said = said_with_run("kept-mote-s1-20261123-013413-fb01", words);
            QCOMPARE(said.first, 2);
            says(said.second, "an empty path was given; name a file or folder");
        }
    }

    /// Stored as float32, near those that are computed so, and the same bits however the texts are cut into files.
    void products_in_half_precision_and_integers_give_near_vectors() {
        write_texts("some.txt", 40);
        write_texts("fewer.txt", 3);
        QCOMPARE(run_embed({"--output", in("exact.npy"), in("some.txt")}).code, 0);
        const auto exact = numbers_in<float>(in("exact.npy"));
        const std::size_t dim = exact.size() / 40;
        for (const auto& [compute, cosine] : {std::pair("bf16", 0.999), std::pair("int8", 0.99)}) {
            QCOMPARE(run_embed({"--compute", compute, "--output", in("near.npy"), in("some.txt")}).code, 0);
            QCOMPARE(run_embed({"--compute", compute, "--output", in("few.npy"), in("fewer.txt")}).code, 0);
            const auto near = numbers_in<float>(in("near.npy")), few = numbers_in<float>(in("few.npy"));
            QVERIFY(near != exact);
            QVERIFY(std::equal(few.begin(), few.end(), near.begin()));
            for (std::size_t row = 0; row < 40; ++row) {
                double product = 0, squares = 0, exact_squares = 0;
                for (std::size_t d = row * dim; d < (row + 1) * dim; ++d) {
                    product += double{near[d]} * exact[d];
                    squares += double{near[d]} * near[d];
                    exact_squares += double{exact[d]} * exact[d];
                }
                QVERIFY2(product >= cosine * std::sqrt(squares * exact_squares), compute);
            }
        }
        QVERIFY(run_embed({"--compute", "int4", "--output", in("no.npy"), in("some.txt")}).code != 0);
    }

    void a_folder_in_the_place_of_the_output_is_refused() {
        write_texts("few.txt", 3);
        make_directories(in("folder"));
        QCOMPARE(run_embed({"--output", in("folder"), in("few.txt")}).code, 2);
        QVERIFY(fs::is_empty(in("folder")));
    }

    void the_input_is_not_replaced_by_its_vectors() {
        write_texts("kept.txt", 3);
        fs::create_symlink(in("kept.txt"), in("link.txt"));
        const std::string before = read_file(in("kept.txt"));
        for (const char* output : {"kept.txt", "link.txt"}) {
            const auto outcome = run_embed({"--output", in(output), in("kept.txt")});
            QCOMPARE(outcome.code, 2);
            QCOMPARE(read_file(in("kept.txt")), before);
        }
        QVERIFY(fs::is_symlink(in("link.txt")));
    }

    void an_empty_instruction_switches_a_default_prompt_off() {
        const fs::path model = folder_.path() / "prompted";
        fs::copy(tiny_model(), model, fs::copy_options::recursive);
        fs::permissions(model / "config_sentence_transformers.json", fs::perms::owner_write, fs::perm_options::add);
        write_file_atomic(model / "config_sentence_transformers.json",
                          R"({"prompts": {"query": "find "}, "default_prompt_name": "query"})");
        write_texts("three.txt", 3);
        const auto embedded = [&](std::vector<std::string> options, const std::string& with) {
            options.insert(options.end(), {"--output", in("prompted.npy"), in("three.txt")});
            return run_embed(options, with).code == 0 ? numbers_in<float>(in("prompted.npy")) : std::vector<float>();
        };
        const auto bare = embedded({}, tiny_model()), by_default = embedded({}, model.string());
        QVERIFY(!bare.empty() && bare != by_default);
        QCOMPARE(embedded({"--instruction", ""}, model.string()), bare);
        QCOMPARE(embedded({"--instruction", "find "}, model.string()), by_default);
        QCOMPARE(run_embed({"--task", "query", "--instruction", "", "--output", in("no.npy"), in("three.txt")}, model.string()).code, 2);
    }

    void a_prompt_of_a_folder_with_a_router_leaves_the_choice_to_it() {
        const fs::path model = folder_.path() / "gates";  // as of one task alone: without the tasks of its run
        fs::copy(FACETER_SOURCE_DIR "/tests/versions/0.1.0/exports/gates", model, fs::copy_options::recursive);
        fs::remove(model / "faceter.json");
        write_file_atomic(model / "config_sentence_transformers.json",
                          R"({"prompts": {"default": "find "}, "default_prompt_name": "default"})");
        write_texts("routed.txt", 3);
        const auto embedded = [&](std::vector<std::string> options) {
            options.insert(options.end(), {"--output", in("routed.npy"), in("routed.txt")});
            return run_embed(options, model.string()).code == 0 ? numbers_in<float>(in("routed.npy")) : std::vector<float>();
        };
        const auto routed = embedded({});
        QVERIFY(!routed.empty() && embedded({"--task", "default"}) == routed);
        const auto document = embedded({"--task", "document"});
        QVERIFY(!document.empty() && document != routed);
    }

    void what_texts_without_a_task_lack_of_a_run_is_said() {
        write_texts("run.txt", 2);
        const QStringList plain{"--output", QString::fromStdString(in("run.npy")), QString::fromStdString(in("run.txt"))};
        const auto [lora_code, lora] = said_with_run("kept-lora-s1-20261123-013413-e98b", plain);
        QCOMPARE(lora_code, 0);
        says(lora, "note: without --task none of the tasks' experts, adapters or gates is used; 'faceter describe' lists the tasks");
        says(said_with_run("kept-mote-s1-20261123-013413-fb01", plain).second,
             "no instruction stands in front of the texts, and none of the tasks' experts, adapters or gates is used");
        says(said_with_run("kept-encoders-s1-20261123-013413-de82", plain).second, "the first task's encoder embeds them all");
    }
    void an_instruction_of_several_tasks_does_not_pick_one_of_their_adapters() {
        write_texts("run.txt", 2);
        const QStringList files{"--output", QString::fromStdString(in("run.npy")), QString::fromStdString(in("run.txt"))};
        const auto [code, said] = said_with_run("kept-lora-s1-20261123-013413-e98b", files + QStringList{"--instruction", ""});
        QCOMPARE(code, 2);
        says(said, "is that of several tasks, each with a part of the model of its own; name one by --task");
        QCOMPARE(said_with_run("kept-mote-s1-20261123-013413-fb01", files + QStringList{"--instruction", "bedo "}).first, 0);
    }
    void an_instruction_of_a_routed_run_is_routed_as_its_task_is() {
        write_texts("run.txt", 5);
        const auto embedded = [&](const QStringList& more) {
            const QStringList files{"--output", QString::fromStdString(in("run.npy")), QString::fromStdString(in("run.txt"))};
            const auto [code, said] = said_with_run("kept-gates-s1-20261123-013413-157a", files + more);
            return code == 0 && said.find("none of the tasks'") == std::string::npos ? numbers_in<float>(in("run.npy"))
                                                                                     : std::vector<float>();
        };
        const auto by_task = embedded({"--task", "classification"});
        QVERIFY(!by_task.empty() && by_task != embedded({}));
        QCOMPARE(embedded({"--instruction", "bedo "}), by_task);
    }
    void a_length_that_takes_no_text_is_refused() {
        QProcess process;
        for (const char* length : {"1", "2"}) {
            process.start(worker, {"embed", "--model", QString::fromStdString(tiny_model()), "--max-length", length, "--output",
                                   in("none.npy").c_str(), "-"});
            process.closeWriteChannel();
            QVERIFY(process.waitForFinished(120'000));
            QCOMPARE(process.exitCode(), 2);
            says(process.readAllStandardError().toStdString(), "leaves no room for a text");
        }
        QVERIFY(!fs::exists(in("none.npy")));
    }

    void texts_that_are_cut_are_counted() {
        write_file_atomic(in("lengths.txt"), "a\na cat\na cat and a dog and a cat and a dog\na cat number 1 of all\n");
        const auto said = [&](const QStringList& more) {
            QProcess process;
            process.start(worker, QStringList{"embed", "--model", QString::fromStdString(tiny_model()), "--output",
                                              QString::fromStdString(in("v.npy")), QString::fromStdString(in("lengths.txt"))} +
                                      more);
            return process.waitForFinished(120'000) && process.exitCode() == 0 ? process.readAllStandardError().toStdString() : "failed";
        };
        const std::string cut = said({"--max-length", "6"});
        QVERIFY2(cut.find("warning: 2 of 4 texts have more than 6 tokens and were cut there") != std::string::npos, cut.c_str());
        QCOMPARE(said({}), std::string());
    }

    void int8_vectors_have_their_scales_beside_them() {
        write_texts("few.txt", 7);
        QCOMPARE(run_embed({"--output", in("whole.npy"), in("few.txt")}).code, 0);
        QCOMPARE(run_embed({"--output", in("bytes.npy"), "--precision", "int8", in("few.txt")}).code, 0);
        const auto whole = numbers_in<float>(in("whole.npy")), scales = numbers_in<float>(in("bytes.scales.npy"));
        const auto bytes = numbers_in<std::int8_t>(in("bytes.npy"));
        QCOMPARE(scales.size(), std::size_t{7});
        QCOMPARE(bytes.size(), whole.size());
        const std::size_t dim = whole.size() / 7;
        QVERIFY(npy_header(in("bytes.npy")).find("'shape': (7, " + std::to_string(dim) + ")") != std::string::npos);
        QVERIFY(npy_header(in("bytes.scales.npy")).find("'shape': (7,)") != std::string::npos);
        for (std::size_t i = 0; i < whole.size(); ++i)
            QVERIFY(std::abs(whole[i] - static_cast<float>(bytes[i]) * scales[i / dim]) <= 0.5001f * scales[i / dim]);
        QVERIFY(!fs::exists(in("whole.scales.npy")));
    }

    void memory_does_not_grow_with_the_number_of_texts() {
        write_texts("thousands.txt", 20'000);
        write_texts("many.txt", 600'000);
        const Ended few = run_embed({"--output", in("thousands.npy"), in("thousands.txt")});
        const Ended many = run_embed({"--output", in("many.npy"), in("many.txt")});
        QCOMPARE(few.code, 0);
        QCOMPARE(many.code, 0);
        const auto written = static_cast<std::int64_t>(fs::file_size(in("many.npy")));
        QVERIFY(npy_header(in("many.npy")).find("(600000, ") != std::string::npos);
        QVERIFY2(many.peak_bytes - few.peak_bytes < written / 4,
                 fmt::format("{} and {} bytes for a file of {}", few.peak_bytes, many.peak_bytes, written).c_str());
        fs::remove(in("many.npy"));
    }

    void stopped_while_it_writes_to_a_pipe_it_does_not_say_that_nothing_was_written() {
        write_texts("endless.txt", 600'000);
        QProcess process;
        process.start(worker, {"embed", "--model", QString::fromStdString(tiny_model()), "--output", "/dev/stdout",
                               QString::fromStdString(in("endless.txt"))});
        QVERIFY(process.waitForStarted());
        qint64 bytes = 0;
        QTRY_VERIFY_WITH_TIMEOUT((bytes += process.readAllStandardOutput().size()) > 8192 * 4, 120'000);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(process.waitForFinished(120'000));
        QCOMPARE(process.exitCode(), 6);
        const QByteArray said = process.readAllStandardError();
        QVERIFY2(said.contains("/dev/stdout has ") && said.contains("is not whole"), said.constData());
    }

    void texts_that_are_not_counted_before_do_not_go_into_a_pipe() {
        QProcess process;
        process.start(worker, {"embed", "--model", "/no/such/model", "--output", "/dev/stdout", "-"});
        QVERIFY(process.waitForFinished(120'000));
        QCOMPARE(process.exitCode(), 2);
        says(process.readAllStandardError().toStdString(), "--output /dev/stdout: is a pipe");
        process.start(worker, {"embed", "--model", QString::fromStdString(tiny_model()), "--output", in("from_pipe.npy").c_str(), "-"});
        QVERIFY(process.waitForStarted());
        process.write("a cat\na dog\n");
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished(120'000));
        QCOMPARE(process.exitCode(), 0);
        QVERIFY(npy_header(in("from_pipe.npy")).find("(2, ") != std::string::npos);
    }

    void stopped_in_the_middle_it_leaves_no_file() {
        const TemporaryDirectory out;
        QProcess process;
        process.start(worker, {"embed", "--model", QString::fromStdString(tiny_model()), "--output",
                               QString::fromStdString((out.path() / "v.npy").string()), "-"});
        QVERIFY(process.waitForStarted());
        std::string lines;
        for (int i = 0; i < 9000; ++i) lines += "a cat number " + std::to_string(i % 50) + "\n";
        process.write(lines.data(), static_cast<qint64>(lines.size()));
        const auto written = [&] {  // by now: vectors go to the disk as they are made
            std::uintmax_t bytes = 0;
            for (const auto& file : fs::directory_iterator(out.path())) bytes += file.file_size();
            return bytes;
        };
        QTRY_VERIFY_WITH_TIMEOUT(written() > 8192 * 4, 120'000);
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        process.closeWriteChannel();
        QVERIFY(process.waitForFinished(120'000));
        QCOMPARE(process.exitCode(), 6);
        QVERIFY(process.readAllStandardError().contains("nothing was written"));
        QVERIFY(fs::is_empty(out.path()));
    }
};

FACETER_TEST(TestEmbedCommand)
#include "test_embed_command.moc"
