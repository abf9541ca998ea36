#pragma once
#include <QString>
#include <QStringList>
#include <optional>
#include <string>

namespace faceter::desktop {

/// One column of the runs table. Its id ("state", "type:retrieval", "set:scifact", "setting:training.learning_rate",
/// "series:loss:min") is what is stored.
struct RunColumn {
    enum class Kind {
        name,
        state,
        experiment,
        variant,
        method,
        point,
        key_settings,
        seed,
        score,
        task_type,
        set,
        setting,
        series,
        loss,
        step,
        time,
        created,
        attempts,
        tags,
        note
    };
    Kind kind = Kind::name;
    std::string key;  ///< of task_type, set and setting; of series SeriesValue::text()

    QString id() const;
    QString title() const;
    QString toolTip() const;
    /// Right-aligned, with mean and spread in groups.
    bool isNumber() const;
    /// In percent, the larger the better.
    bool isScore() const { return kind == Kind::score || kind == Kind::task_type || kind == Kind::set; }
    /// 1: the greatest value is the best, -1: the least (the best of a loss); 0: none is marked.
    int direction() const;
    bool operator==(const RunColumn&) const = default;

    /// Nothing where the id is of no known kind.
    static std::optional<RunColumn> fromId(const QString& id);
};

}  // namespace faceter::desktop
