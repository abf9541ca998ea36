#include "pages/compose/negatives_text.h"

#include <QCoreApplication>
#include <QStringList>

#include "experiment/batch_negatives.h"
#include "project/runs_snapshot.h"

namespace faceter::desktop {
namespace {

struct NegativesText {
    Q_DECLARE_TR_FUNCTIONS(NegativesText)
  public:
    static QString places(BatchNegatives::From from) {
        switch (from) {
            case BatchNegatives::From::data_set:
                return tr("pairs of a data set");
            case BatchNegatives::From::task:
                return tr("pairs of the task");
            case BatchNegatives::From::all_tasks:
                return tr("pairs of all tasks");
            case BatchNegatives::From::curriculum:
                break;
        }
        return tr("pairs as the curriculum plans them");
    }

    static QString counts(const BatchNegatives& batch) {
        if (!batch.in_batch) return tr("as %1 counts them").arg(qs(batch.objective));
        const QString inBatch = tr("%1 in-batch").arg(*batch.in_batch);
        if (!batch.hard) return tr("%1 and the hard ones that the data give").arg(inBatch);
        if (*batch.hard == 0) return inBatch;
        return tr("%1 and up to %2 hard (%3 with each pair)").arg(inBatch).arg(*batch.hard).arg(batch.hard_each.value_or(0));
    }

    static QString of(const BatchNegatives& batch) {
        QStringList tasks;
        for (const std::string& task : batch.tasks) tasks << qs(task);
        QString text =
            tr("%1: %2; batches of %3 %4").arg(tasks.join(QStringLiteral(", ")), counts(batch)).arg(batch.pairs).arg(places(batch.from));
        if (batch.most_tokens > 0) text += tr(", up to %1 tokens").arg(batch.most_tokens);
        if (batch.chunk > 0) text += tr(", computed %1 at a time").arg(batch.chunk);
        return batch.stage.empty() ? text : qs(batch.stage) + QStringLiteral(" · ") + text;
    }
};

}  // namespace

QString negativesText(const std::vector<const ResolvedRun*>& runs) {
    const std::vector<AlikeRuns> alike = alike_runs(runs);
    QStringList lines;
    for (const AlikeRuns& group : alike) {
        QStringList names;
        for (const std::string& name : group.names) names << qs(name);
        for (const BatchNegatives& batch : group.batches)
            lines << (alike.size() > 1 ? names.join(QStringLiteral(", ")) + QStringLiteral(" · ") : QString()) + NegativesText::of(batch);
    }
    return lines.join(QLatin1Char('\n'));
}

}  // namespace faceter::desktop
