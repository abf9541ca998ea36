#include <fstream>

#include "compare/study.h"
#include "support/test.h"

using namespace faceter;

/// The files of studies in a project, by their names.
class TestStudyRecord : public QObject {
    Q_OBJECT
    TemporaryDirectory folder_;

    Study named(const std::string& name) const {
        std::ofstream(folder_.path() / "e.yaml") << "name: e\n";
        std::ofstream(folder_.path() / "s.yaml") << "name: " << name << "\nquestion: q\nhypothesis: h\npilot_deviation: 0.3\n"
                                                 << "seeds: [1, 2, 3, 4, 5]\nclaims:\n  - {claim: A over B, better: A, than: B}\n"
                                                 << "experiments:\n  - {file: e.yaml}\n";
        return read_study(folder_.path() / "s.yaml");
    }

  private Q_SLOTS:
    void a_study_does_not_write_into_the_record_of_another_whose_name_makes_the_same_file() {
        const Study first = named("m\xC3\xA4"), second = named("m\xC3\xB6");
        QCOMPARE(study_record_file(folder_.path(), first.name), study_record_file(folder_.path(), second.name));
        record_study(first, folder_.path());
        EXPECT_ERROR(record_study(second, folder_.path()), "is the record of the study 'm\xC3\xA4'", "give this study another name");
        EXPECT_ERROR(read_study_record(second, folder_.path()), "is the record of the study 'm\xC3\xA4'");
        QVERIFY(read_study_record(first, folder_.path()).deviations.empty());
    }
    void a_study_has_a_name() {
        for (const char* name : {"''", "' '"}) EXPECT_ERROR(named(name), "s.yaml", "name is empty");
    }
};

FACETER_TEST(TestStudyRecord)
#include "test_study_record.moc"
