#pragma once
#include <QLineEdit>

#include "desktop/support/sample_project.h"
#include "pages/runs/runs_delegate.h"
#include "pages/runs/runs_model.h"
#include "pages/runs/runs_page.h"
#include "pages/runs/runs_view.h"
#include "support/test.h"

namespace faceter::testing {

using namespace faceter::desktop;

/// The page in a window of its own, on the sample project: start, EM (2 seeds), Mix (2 seeds).
struct OpenedRunsPage {
    TemporaryDirectory project;
    Workspace workspace;
    std::unique_ptr<RunsPage> page;
    RunsView* table = nullptr;
    RunsModel* model = nullptr;

    explicit OpenedRunsPage(std::size_t runs = 99) {
        make_sample_project(project.path(), runs);
        open();
    }
    void open(const QJsonObject& state = {}) {
        page.reset();
        if (!open_and_wait(workspace, project.path())) qFatal("the project did not open");
        workspace.setExperiment({});
        page = std::make_unique<RunsPage>(workspace);
        page->restore(state);
        page->resize(1000, 700);
        page->show();
        page->activateWindow();
        table = page->table();
        model = page->model();
        QVERIFY(QTest::qWaitForWindowActive(page.get()));
        QVERIFY(settled());
        table->setFocus();
    }
    bool settled() {
        return QTest::qWaitFor([&] { return page->isReady() && workspace.session()->isIdle(); }, 10000);
    }
    template <typename Widget>
    Widget* find(const char* name) {
        return page->findChild<Widget*>(QLatin1String(name));
    }
    QStringList column(RunColumn::Kind kind, const std::string& key = {}) const {
        QStringList texts;
        const auto& columns = model->columns();
        const auto place = std::find(columns.begin(), columns.end(), RunColumn{kind, key});
        for (int row = 0; place != columns.end() && row < model->rowCount(); ++row)
            texts << model->index(row, static_cast<int>(place - columns.begin())).data().toString();
        return texts;
    }
    void clickResume(int row) {
        const auto& columns = model->columns();
        const auto time = std::find(columns.begin(), columns.end(), RunColumn{RunColumn::Kind::time, {}});
        const QModelIndex index = model->index(row, static_cast<int>(time - columns.begin()));
        table->scrollTo(index);
        QStyleOptionViewItem option;
        option.font = table->font();
        option.rect = table->visualRect(index);
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, RunsDelegate::resumeRect(option, index).center());
    }
    QStringList runs() const {
        QStringList ids;
        for (int row = 0; row < model->rowCount(); ++row) ids << model->index(row, 0).data(RunsModel::runRole).toString();
        return ids;
    }
    void type(const QString& expression) {
        auto* field = find<QLineEdit>("runsFilter");
        field->setFocus();
        field->selectAll();
        QTest::keyClicks(field, expression);
        QTest::keyClick(field, Qt::Key_Escape);  // the list of words
        QTest::keyClick(field, Qt::Key_Return);
    }
    /// After a dialog has closed.
    void focusTable() {
        page->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(page.get()));
        table->setFocus();
    }
    void clickLine(int row, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        QTest::mouseClick(table->viewport(), Qt::LeftButton, modifiers, table->visualRect(model->index(row, 1)).center());
    }
    const RunRow& run(const QString& id) const {
        return workspace.runs()->runs[static_cast<std::size_t>(workspace.runs()->find(id.toStdString()))];
    }
};

}  // namespace faceter::testing
