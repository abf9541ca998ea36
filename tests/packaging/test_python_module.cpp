#include "packaging/command.h"
#include "support/sample_runs.h"

using namespace faceter;
using namespace faceter::packaging;
using namespace faceter::testing;

/// The module of the Python wheel, beside the programs as the wheel lays them.
class TestPythonModule : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    Outcome python(const QString& code, const fs::path& interpreter = "python3") const {
        return faceter::packaging::run(interpreter, {"-c", "import faceter\n" + code}, {{"PYTHONPATH", text(folder_.path())}});
    }

    /// The Python on the path may be another than the distribution's, which `packaging/setup.sh --tests` gives numpy.
    static fs::path python_with_numpy() {
        for (const char* interpreter : {"python3", "/usr/bin/python3"})
            if (run(interpreter, {"-c", "import numpy"}).code == 0) return interpreter;
        return {};
    }

  private Q_SLOTS:
    void initTestCase() {
        if (!fs::exists(binaries / "bin/faceter")) QSKIP("programs are not built");
        fs::copy(project / "packaging/python/faceter", folder_.path() / "faceter");
        fs::create_directories(folder_.path() / "faceter/programs");
        for (const char* program : {"faceter", "faceter-worker"})
            fs::create_symlink(binaries / "bin" / program, folder_.path() / "faceter/programs" / program);
    }
    /// Made of a bundle of one script, and installed into an environment of its own.
    void the_wheel_puts_the_program_on_the_path_and_a_typed_package_beside_it() {
        const fs::path bundle = folder_.path() / "faceter-9.8.7", venv = folder_.path() / "my venv";
        for (const char* part : {"lib", "share/doc/faceter"}) fs::create_directories(bundle / part);
        overwrite(bundle / "lib/glibc-floor", "2.17\n");
        overwrite(bundle / "share/doc/faceter/README.md", "# Faceter\n");
        overwrite(bundle / "faceter", "#!/bin/sh\necho \"called $*, $(basename \"$FACETER_TORCH\")\"\n");
        fs::permissions(bundle / "faceter", fs::perms::owner_all);
        const Outcome made = run("python3", {text(project / "packaging/make_wheel.py"), text(bundle),
                                             text(project / "packaging/python/faceter"), text(folder_.path())});
        VERIFY_CODE(made, 0);
        VERIFY_CODE(run("python3", {"-m", "venv", "--without-pip", text(venv)}), 0);
        VERIFY_CODE(run("python3",
                        {"-m", "pip", "--python", text(venv / "bin/python"), "install", "--no-deps", "--no-index", made.output.trimmed()}),
                    0);
        const auto packages = [&] { return run(venv / "bin/python", {"-c", "import sysconfig; print(sysconfig.get_path('purelib'))"}); };
        const fs::path site = packages().output.trimmed().toStdString();
        fs::create_directories(site / "torch");
        overwrite(site / "torch/__init__.py", "");
        QCOMPARE(run(venv / "bin/faceter", {"list", "--json"}).output, QString("called list --json, torch\n"));
        QCOMPARE(run(venv / "bin/python", {"-c", "import faceter; print(faceter.__version__, faceter.call('check', 'a b.yaml'))"}).output,
                 QString("9.8.7 called check a b.yaml, torch\n\n"));
        QVERIFY2(fs::exists(site / "faceter/py.typed"), "type checkers pass over a package without it");
    }
    void runs_are_a_list_of_dictionaries() {
        const RunDirectory run = sample_run(folder_.path() / "project");
        const Outcome listed = python("for run in faceter.runs('" + text(folder_.path() / "project") + "'): print(run['id'])");
        VERIFY_CODE(listed, 0);
        QCOMPARE(listed.output, QString::fromStdString(run.info().id + "\n"));
        const Outcome none = python("print(faceter.runs('" + text(folder_.path() / "project") + "', where='seed > 5'))");
        VERIFY_CODE(none, 0);
        QCOMPARE(none.output, QString("[]\n"));
    }
    void what_the_program_says_and_its_exit_code_are_the_errors() {
        const Outcome outcome = python("try: faceter.call('lisst')\nexcept faceter.FaceterError as error: print(error.code, error)");
        VERIFY_CODE(outcome, 0);
        QVERIFY2(outcome.output.startsWith("2 faceter: unknown command 'lisst'"), qPrintable(outcome.output));
    }
    /// The same numbers as embed() has, of more texts than one request takes; a wrong call between leaves the model open.
    void a_model_stays_open_between_calls() {
        NEED_SHARED();
        const fs::path interpreter = python_with_numpy();
        if (interpreter.empty()) QSKIP("no python3 has numpy: packaging/setup.sh --tests");
        const Outcome outcome = python("folder = '" + text(shared_folder() / "fixtures/bert") + "'\n" + R"(
texts = ['one text', 'another \U0001F600', '', 'a\nb']
with faceter.Model(folder, threads=1) as model:
    program = model._process.pid
    few = model.embed(texts)
    assert few.shape[0] == 4 and few.dtype.name == 'float32', few
    assert (few == faceter.embed(texts, folder, threads=1)).all()
    many = model.embed(texts * 1100)
    assert many.shape[0] == 4400 and abs(many[-4:] - few).max() < 1e-6
    assert model.embed([]).shape == (0, few.shape[1])
    assert (model.embed(texts, instruction='query: ') != few)[0].any()
    try: model.embed(texts, task='missing')
    except faceter.FaceterError as error: print(error.code)
    assert (model.embed(texts) == few).all() and model._process.pid == program
try: model.embed(texts)
except faceter.FaceterError as error: print(error)
model.close()
try: faceter.Model('/no/such/folder').embed(['a'])
except faceter.FaceterError as error: print(error.code)
)",
                                       interpreter);
        VERIFY_CODE(outcome, 0);
        QCOMPARE(outcome.output, QString("2\nthis model was closed; open another Model\n4\n"));
    }
    /// Answers of one process were taken for another's: they share the pipes that they inherit.
    void a_process_that_was_forked_opens_the_model_for_itself() {
        NEED_SHARED();
        const fs::path interpreter = python_with_numpy();
        if (interpreter.empty()) QSKIP("no python3 has numpy: packaging/setup.sh --tests");
        const Outcome outcome = python("folder = '" + text(shared_folder() / "fixtures/bert") + "'\n" + R"(
import os, sys
texts = [[f'text {i} of {child}' for i in range(3)] for child in range(2)]
model = faceter.Model(folder, threads=1)
right = [model.embed(some) for some in texts]
children = []
for child in range(2):
    process = os.fork()
    if process == 0:
        good = all((model.embed(texts[child]) == right[child]).all() for _ in range(20))
        os._exit(0 if good else 1)
    children.append(process)
idle = os.fork()
if idle == 0: sys.exit(0)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children + [idle]])
assert (model.embed(texts[0]) == right[0]).all()
)",
                                       interpreter);
        VERIFY_CODE(outcome, 0);
        QCOMPARE(outcome.output, QString("[0, 0, 0]\n"));
    }
    /// An interrupted call ends the program beside, and the next one is answered by another.
    void what_is_interrupted_is_taken_back() {
        NEED_SHARED();
        const fs::path interpreter = python_with_numpy();
        if (interpreter.empty()) QSKIP("no python3 has numpy: packaging/setup.sh --tests");
        const Outcome outcome = python("folder = '" + text(shared_folder() / "fixtures/bert") + "'\n" + R"(
import signal, os
model = faceter.Model(folder)
few = model.embed(['a text'])
answer = model._answer
def interrupted(number):
    model._answer = answer
    raise KeyboardInterrupt
model._answer = interrupted
try: model.embed(['some text'] * 4000)
except KeyboardInterrupt: print('interrupted')
assert (model.embed(['a text']) == few).all()
os.kill(model._process.pid, signal.SIGKILL)
try: model.embed(['a text'])
except faceter.FaceterError as error: print(error)
)",
                                       interpreter);
        VERIFY_CODE(outcome, 0);
        QCOMPARE(outcome.output, QString("interrupted\nfaceter-worker ended with -9\n"));
    }
    /// As of a signal's handler, in the middle of a request.
    void any_other_exception_takes_a_call_back_too() {
        NEED_SHARED();
        const fs::path interpreter = python_with_numpy();
        if (interpreter.empty()) QSKIP("no python3 has numpy: packaging/setup.sh --tests");
        const Outcome outcome = python("folder = '" + text(shared_folder() / "fixtures/bert") + "'\n" + R"(
model = faceter.Model(folder, threads=1)
few = model.embed(['a text'])
send = model._send
def cut(message):
    model._send = send
    model._process.stdin.write(b'half a line')
    model._process.stdin.flush()
    raise TimeoutError('an alarm')
model._send = cut
try: model.embed(['a text'])
except TimeoutError as error: print(error)
assert (model.embed(['a text']) == few).all()
)",
                                       interpreter);
        VERIFY_CODE(outcome, 0);
        QCOMPARE(outcome.output, QString("an alarm\n"));
    }
    void the_project_of_a_model_may_be_a_path() {
        const Outcome outcome = python(
            "import json, pathlib\n"
            "with faceter.Model('minilm', project=pathlib.Path('/a b')) as model: print(json.dumps(model._params))");
        VERIFY_CODE(outcome, 0);
        QCOMPARE(outcome.output, QString("{\"model\": \"minilm\", \"project\": \"/a b\"}\n"));
    }
    void one_text_is_not_taken_for_its_letters() {
        const Outcome outcome = python("try: faceter.embed('a text', model='minilm')\nexcept TypeError as error: print(error)");
        VERIFY_CODE(outcome, 0);
        QVERIFY2(outcome.output.contains("give [text]"), qPrintable(outcome.output));
    }
    void what_is_no_text_is_named_by_its_place() {
        const Outcome outcome = python("try: faceter.embed(['a', None], model='minilm')\nexcept TypeError as error: print(error)");
        VERIFY_CODE(outcome, 0);
        QCOMPARE(outcome.output, QString("texts[1] is NoneType, not str\n"));
    }
    /// Scraped JSON has them; the program would name a line of a file that is gone.
    void half_a_character_is_named_by_its_place() {
        const Outcome outcome = python("try: faceter.embed(['a', 'b\\ud83d'], model='minilm')\nexcept ValueError as error: print(error)");
        VERIFY_CODE(outcome, 0);
        QVERIFY2(outcome.output.startsWith("texts[1] has half of a character at 1"), qPrintable(outcome.output));
    }
    /// None would be looked for on the hub.
    void what_is_no_name_of_a_model_or_project_is_refused() {
        const Outcome outcome = python(
            "for ask in (lambda: faceter.embed(['a'], None), lambda: faceter.evaluate(3, '/a'), lambda: faceter.runs(None)):\n"
            "    try: ask()\n"
            "    except TypeError as error: print(error)");
        VERIFY_CODE(outcome, 0);
        QCOMPARE(outcome.output, QString("model is NoneType; give a name or a folder\nmodel is int; give a name or a folder\n"
                                         "project is NoneType; give a name or a folder\n"));
    }
    void no_folder_to_score_on_is_said_in_the_words_of_python() {
        const Outcome outcome = python("try: faceter.evaluate('minilm', iter([]))\nexcept ValueError as error: print(error)");
        VERIFY_CODE(outcome, 0);
        QVERIFY2(outcome.output.contains("data is empty; give a folder"), qPrintable(outcome.output));
    }
    void one_folder_to_score_on_need_not_be_in_a_list() {
        const Outcome outcome = python(
            "faceter.call = lambda *words: print(*words) or '{}'\nfaceter.evaluate('m', '/data/set')\nfaceter.evaluate('m', ['/a', '/b'])");
        VERIFY_CODE(outcome, 0);
        QCOMPARE(outcome.output, QString("evaluate --model m --data /data/set --json\nevaluate --model m --data /a --data /b --json\n"));
    }
};

FACETER_TEST(TestPythonModule)
#include "test_python_module.moc"
