#include "figure/elided_name.h"

#include <QApplication>

#include "view_support.h"

namespace faceter::desktop {

class TestElidedName : public QObject {
    Q_OBJECT
    const QFontMetricsF metrics_{QApplication::font()};

    QString in_room_of(const QString& shown, const QString& name) const {
        return elidedName(name, metrics_, metrics_.horizontalAdvance(shown) + 0.5);
    }

  private Q_SLOTS:
    void what_fits_stays_as_it_is() {
        const QString name = QStringLiteral("IC · learning_rate=2e-5,batch_size=16");
        QCOMPARE(in_room_of(name, name), name);
    }
    void keys_of_a_point_give_way_before_its_values() {
        const QString shown = QStringLiteral("IC · lr=2e-5,bs=16");
        QCOMPARE(in_room_of(shown, QStringLiteral("IC · learning_rate=2e-5,batch_size=16")), shown);
        QCOMPARE(in_room_of(shown, QStringLiteral("IC · training.learning_rate=2e-5,training.batch_size=16")), shown);
    }
    void where_lines_break_a_whole_name_stands_with_short_keys() {
        QCOMPARE(withShortKeys(QStringLiteral("IC · training.learning_rate=2e-5,training.batch_size=16 (n = 3)")),
                 QStringLiteral("IC · lr=2e-5,bs=16 (n = 3)"));
        QCOMPARE(withShortKeys(QStringLiteral("a mixture")), QStringLiteral("a mixture"));
    }
    void that_it_is_the_baseline_gives_way_before_the_variant() {
        const QString shown = QStringLiteral("IC · lr=2e-5,bs=16");
        QCOMPARE(in_room_of(shown, QStringLiteral("IC · learning_rate=2e-5,batch_size=16 (baseline)")), shown);
    }
    void what_stands_before_the_point_gives_way_next() {
        const QString shown = QStringLiteral("a mixtur… lr=2e-5,bs=16");
        const QString cut = in_room_of(shown, QStringLiteral("a mixture of very many experts · learning_rate=2e-5,batch_size=16"));
        QVERIFY2(cut.startsWith("a mix") && cut.endsWith("…lr=2e-5,bs=16"), qPrintable(cut));
    }
    void points_that_differ_in_one_value_stay_apart() {
        QSet<QString> shown;
        for (const char* rate : {"1.0e-5", "2.0e-5", "3.0e-5"})
            shown << in_room_of(QStringLiteral("a_dense_enc…lr=1.0e-5,bs=16"),
                                QStringLiteral("a_dense_encoder_with_a_long_name · learning_rate=%1,batch_size=16").arg(rate));
        QCOMPARE(shown.size(), qsizetype{3});
    }
    void a_name_without_a_point_is_cut_in_its_middle() {
        const QString cut = in_room_of(QStringLiteral("a name tha… for it"), QStringLiteral("a name that has too much in it for it"));
        QVERIFY2(cut.startsWith("a name") && cut.contains(QChar(0x2026)) && cut.endsWith("it"), qPrintable(cut));
    }
    void the_number_of_seeds_does_not_hide_the_point() {
        const QString name = QStringLiteral("EM · training.learning_rate=1e-05,training.batch_size=32 (n = 5)");
        for (const char* shown : {"EM · lr=1e-05,bs=32 (n = 5)", "EM · lr=1e-05,bs=32"})
            QCOMPARE(in_room_of(QString::fromUtf8(shown), name), QString::fromUtf8(shown));
        const QString cut =
            in_room_of(QStringLiteral("a mixture… lr=1e-05 (n = 5)"), QStringLiteral("a mixture of experts · learning_rate=1e-05 (n = 5)"));
        QVERIFY2(cut.startsWith("a mix") && cut.endsWith("…lr=1e-05 (n = 5)"), qPrintable(cut));
    }
    void in_a_narrow_column_the_values_stay_without_their_keys() {
        const QString name = QStringLiteral("EM · training.learning_rate=1e-05,training.batch_size=32");
        for (const char* shown : {"EM · 1e-05,32", "EM 1e-05,32"})
            QCOMPARE(in_room_of(QString::fromUtf8(shown), name), QString::fromUtf8(shown));
    }
    void switches_keep_their_keys_which_alone_tell_them_apart() {
        QSet<QString> shown;
        for (const char* key : {"instance_level", "task_level"})
            shown << in_room_of(QStringLiteral("IC · data_cube xx=false"),
                                QStringLiteral("IC · curriculum=data_cube %1=false").arg(QString::fromLatin1(key)));
        QCOMPARE(shown.size(), qsizetype{2});
    }
    void where_not_even_the_values_fit_the_variant_keeps_its_beginning() {
        for (const auto& [name, values, variant] :
             {std::tuple("EM · training.learning_rate=1e-05,training.batch_size=32", "1e-05,32", "EM "),
              {"EM training.learning_rate=1e-05,training.batch_size=32", "1e-05,32", "EM "},
              {"a mixture of very many experts · learning_rate=2e-5,batch_size=16", "2e-5,16", "a"}}) {
            const double room = metrics_.horizontalAdvance(QString::fromUtf8(values)) + (variant[0] == 'a' ? -1 : 1);
            const QString cut = elidedName(QString::fromUtf8(name), metrics_, room);
            QVERIFY2(cut.startsWith(QLatin1String(variant)) && cut.endsWith(QChar(0x2026)), qPrintable(cut));
            QVERIFY2(metrics_.horizontalAdvance(cut) <= room, qPrintable(cut));
        }
    }
    void groups_of_a_comparison_keep_their_point() {
        const QString shown = QStringLiteral("EM lr=1e-05,bs=32"), two = QStringLiteral("EM lr=1e-05,bs=32 (first)");
        QCOMPARE(in_room_of(shown, QStringLiteral("EM training.learning_rate=1e-05,training.batch_size=32")), shown);
        QCOMPARE(in_room_of(two, QStringLiteral("EM training.learning_rate=1e-05,training.batch_size=32 (first)")), two);
    }
    void a_swept_method_keeps_its_settings_with_short_keys() {
        for (const char* between : {" · ", " "})
            for (const char* tail : {"", " (n = 3)"}) {
                const auto named = [&](const char* point) {
                    return QStringLiteral("IC") + QString::fromUtf8(between) + QString::fromUtf8(point) + QString::fromUtf8(tail);
                };
                const QString whole = named("curriculum=data_cube instance_level=false,batch_size=16"),
                              shown = named("c=data_cube il=false,bs=16");
                QCOMPARE(withShortKeys(whole), shown);
                QCOMPARE(in_room_of(shown, whole), shown);
            }
        QCOMPARE(in_room_of(QStringLiteral("IC data_cube il=false"), QStringLiteral("IC · curriculum=data_cube instance_level=false")),
                 QStringLiteral("IC data_cube il=false"));
    }
    void what_stands_behind_a_name_of_arabic_stays_behind_it() {
        const QString name = QString::fromUtf8("\u062a\u062c\u0631\u0628\u0629"), held = QChar(0x2068) + name + QChar(0x2069);
        for (const char* behind : {"", " (n = 2)", " · seed 1", " · lr=2e-5 (n = 2)"})
            QCOMPARE(elidedName(name + QString::fromUtf8(behind), metrics_, 1000), held + QString::fromUtf8(behind));
        QCOMPARE(isolated(QStringLiteral("EM · seed 1")), QStringLiteral("EM · seed 1"));
        QCOMPARE(in_room_of(name + QStringLiteral(" · lr=2e-5"), name + QStringLiteral(" · learning_rate=2e-5")),
                 held + QStringLiteral(" · lr=2e-5"));
        QVERIFY(!(held + QStringLiteral(" (n = 2)")).isRightToLeft());
    }
    void keys_of_what_is_no_point_stay() {
        for (const char* text : {"/data/year=2024/language=en/x.yaml", "give batch_size=16 or more, and try again"}) {
            const QString whole = QString::fromUtf8(text);
            const double room = metrics_.horizontalAdvance(whole) * 0.8;
            QCOMPARE(elidedName(whole, metrics_, room), metrics_.elidedText(whole, Qt::ElideMiddle, room));
        }
    }
    void nothing_is_wider_than_its_room() {
        const QString name = QStringLiteral("experiment · a variant · learning_rate=2e-5,batch_size=16");
        for (double room = 10; room < metrics_.horizontalAdvance(name) + 20; room += 3) {
            const QString cut = elidedName(name, metrics_, room);
            QVERIFY2(cut.size() <= 1 || metrics_.horizontalAdvance(cut) <= room, qPrintable(cut));
        }
    }
};

FACETER_TEST(TestElidedName)

}  // namespace faceter::desktop

#include "test_elided_name.moc"
