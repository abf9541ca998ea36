#include "pages/data/data_sets.h"

#include <QCoreApplication>
#include <algorithm>

#include "project/runs_snapshot.h"
#include "widgets/texts.h"

namespace faceter::desktop {
namespace {

struct DataSets {
    Q_DECLARE_TR_FUNCTIONS(DataSets)
};

QString nameOf(const Json& entry, std::size_t index) {
    for (const char* key : {"name", "path", "source"})
        if (entry.is_object() && entry.contains(key) && entry[key].is_string() && !entry[key].get<std::string>().empty())
            return qs(entry[key].get<std::string>()).section(QLatin1Char('/'), -1, -1, QString::SectionSkipEmpty);
    return DataSets::tr("data set %1").arg(index + 1);
}

std::string oneLine(const std::string& text) { return qs(text).simplified().toStdString(); }

std::string plain(const Json& value) { return value.is_null() ? "" : value.is_string() ? value.get<std::string>() : value.dump(); }

/// Members of members as "counts.read": a card is shallow.
void addCard(Table& table, const std::string& name, const Json& value) {
    if (value.is_object())
        for (const auto& [key, child] : value.items()) addCard(table, name.empty() ? key : name + "." + key, child);
    else if (value.is_array())
        for (const Json& child : value) table.add_row({Cell::of(name), Cell::of(oneLine(plain(child)))});
    else if (!value.is_null())
        table.add_row({Cell::of(name), Cell::of(oneLine(plain(value)))});
}

Cell count(const Json& value) { return Cell::of(value.get<double>()); }

/// The same role twice is two columns: "negative", "negative 2".
std::string columnOf(const std::string& role, std::vector<std::string>& taken) {
    std::string name = role;
    for (int n = 2; std::find(taken.begin(), taken.end(), name) != taken.end(); ++n) name = role + " " + std::to_string(n);
    taken.push_back(name);
    return name;
}

struct ShownExample {
    std::vector<std::pair<std::string, std::string>> texts;  ///< column, text
    QString whole;
};

ShownExample shownExample(const Json& example) {
    ShownExample shown;
    std::vector<std::string> taken;
    QStringList parts;
    for (const Json& text : example.at("texts")) {
        const std::string column = columnOf(text.at("role").get<std::string>(), taken);
        const auto body = text.at("text").get<std::string>();
        shown.texts.emplace_back(column, oneLine(body));
        parts << qs(column) + QStringLiteral(":\n") + qs(body) +
                     (text.at("is_whole").get<bool>() ? QString() : DataSets::tr(" … (goes on)"));
    }
    shown.whole = parts.join(QStringLiteral("\n\n"));
    return shown;
}

Table named(const char* name, const QString& caption) {
    Table table;
    table.name = name;
    table.caption = caption.toStdString();
    return table;
}

}  // namespace

Json DataSetRef::question(const Json& settings) const {
    return {{"settings", settings}, {"use", isTraining ? "training" : "evaluation"}, {"task", task.toStdString()}, {"index", index}};
}

std::vector<DataSetRef> dataSetsOf(const Json& settings) {
    std::vector<DataSetRef> sets;
    const auto add = [&](const Json& holder, const char* key, const QString& task, bool isTraining) {
        if (!holder.is_object() || !holder.contains(key) || !holder[key].is_array()) return;
        for (std::size_t i = 0; i < holder[key].size(); ++i) sets.push_back({nameOf(holder[key][i], i), task, isTraining, i});
    };
    if (settings.is_object() && settings.contains("tasks") && settings["tasks"].is_object())
        for (const auto& [name, task] : settings["tasks"].items()) add(task, "train", qs(name), true);
    if (settings.is_object() && settings.contains("evaluation")) add(settings["evaluation"], "datasets", {}, false);
    return sets;
}

Table cardTable(const Json& card) {
    Table table = named("card", DataSets::tr("Card of %1").arg(qs(card.at("name").get<std::string>())));
    table.add_column("", ColumnKind::text);
    table.add_column(DataSets::tr("value").toStdString(), ColumnKind::text);
    for (const char* key : {"name", "use", "task", "task_type", "size"})
        if (const std::string value = plain(card.at(key)); !value.empty()) table.add_row({Cell::of(key), Cell::of(oneLine(value))});
    const auto orElse = [&](const char* key, const QString& missing) {
        table.add_row({Cell::of(key), Cell::of(card.at(key).is_string() ? card.at(key).get<std::string>() : missing.toStdString())});
    };
    orElse("licence", DataSets::tr("not stated beside it"));
    orElse("sha256", DataSets::tr("its files are not here (any more)"));
    addCard(table, "", card.at("card"));
    return table;
}

RowsWithTexts exampleRows(const Json& answer) {
    RowsWithTexts rows{named("examples", DataSets::tr("Examples")), {}};
    std::vector<ShownExample> shown;
    std::vector<std::string> columns;
    for (const Json& example : answer.at("examples")) {
        shown.push_back(shownExample(example));
        for (const auto& [column, text] : shown.back().texts)
            if (std::find(columns.begin(), columns.end(), column) == columns.end()) columns.push_back(column);
    }
    rows.table.add_column(DataSets::tr("no.").toStdString(), ColumnKind::count);
    for (const std::string& column : columns) rows.table.add_column(column, ColumnKind::text);
    const auto hasLabel = [](const Json& example) { return !example.at("label").is_null(); };
    const bool labelled = std::any_of(answer.at("examples").begin(), answer.at("examples").end(), hasLabel);
    if (labelled) rows.table.add_column(DataSets::tr("label").toStdString(), ColumnKind::text);
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const Json& example = answer.at("examples").at(i);
        std::vector<Cell> cells(rows.table.columns.size());
        cells[0] = Cell::of(example.at("number").get<double>() + 1);
        for (const auto& [column, text] : shown[i].texts)
            cells[static_cast<std::size_t>(std::find(columns.begin(), columns.end(), column) - columns.begin()) + 1] = Cell::of(text);
        if (labelled) cells.back() = Cell::of(plain(example.at("label")));
        rows.table.add_row(std::move(cells));
        rows.texts << shown[i].whole;
    }
    return rows;
}

RowsWithTexts duplicateRows(const Json& answer) {
    RowsWithTexts rows{named("duplicates", DataSets::tr("Examples that stand more than once")), {}};
    rows.table.add_column(DataSets::tr("copies").toStdString(), ColumnKind::count);
    rows.table.add_column(DataSets::tr("labels").toStdString(), ColumnKind::text);
    rows.table.add_column(DataSets::tr("texts").toStdString(), ColumnKind::text);
    for (const Json& group : answer.at("first")) {
        const auto text = group.at("text").get<std::string>();
        QStringList places;
        for (const Json& row : group.at("rows")) places << QString::number(row.get<qint64>() + 1);
        const bool differ = group.at("labels_differ").get<bool>();
        rows.table.add_row(
            {count(group.at("copies")), Cell::of(differ ? DataSets::tr("differ").toStdString() : std::string()), Cell::of(oneLine(text))});
        rows.texts << DataSets::tr("Examples no. %1%2\n\n%3")
                          .arg(places.join(QStringLiteral(", ")),
                               group.at("copies").get<qsizetype>() > places.size() ? QStringLiteral(" …") : QString(), qs(text));
    }
    return rows;
}

QString duplicatesText(const Json& answer) {
    const auto number = [&](const char* key) { return countText(answer.at(key).get<qint64>()); };
    if (answer.at("repeated").get<qint64>() == 0)
        return DataSets::tr("None of its %1 examples stands in it twice.").arg(number("examples"));
    return DataSets::tr("%1 of %2 examples stand before in it; %3 stand more than once, %4 of them with different labels.")
        .arg(number("repeated"), number("examples"), number("groups"), number("labels_differ"));
}

RowsWithTexts overlapRows(const Json& answer) {
    RowsWithTexts rows{named("overlap", DataSets::tr("Test texts that stand in training data")), {}};
    rows.table.add_column(DataSets::tr("training set").toStdString(), ColumnKind::text);
    rows.table.add_column(DataSets::tr("test set").toStdString(), ColumnKind::text);
    rows.table.add_column(DataSets::tr("in both").toStdString(), ColumnKind::count);
    rows.table.add_column(DataSets::tr("test texts").toStdString(), ColumnKind::count);
    rows.table.add_column(DataSets::tr("share").toStdString(), ColumnKind::number).unit = "%";
    std::vector<Json> pairs(answer.at("overlaps").begin(), answer.at("overlaps").end());
    const auto shared = [](const Json& pair) { return pair.at("shared_texts").get<qint64>(); };
    std::stable_sort(pairs.begin(), pairs.end(), [&](const Json& a, const Json& b) { return shared(a) > shared(b); });
    for (const Json& pair : pairs) {
        const double all = pair.at("evaluation_texts").get<double>();
        rows.table.add_row({Cell::of(pair.at("training").get<std::string>()), Cell::of(pair.at("evaluation").get<std::string>()),
                            count(pair.at("shared_texts")), count(pair.at("evaluation_texts")),
                            Cell::of(all > 0 ? 100.0 * static_cast<double>(shared(pair)) / all : 0.0)});
        QStringList examples;
        for (const Json& text : pair.at("examples")) examples << qs(text.get<std::string>());
        rows.texts << (examples.isEmpty() ? DataSets::tr("They share no text.") : examples.join(QStringLiteral("\n\n")));
    }
    return rows;
}

}  // namespace faceter::desktop
