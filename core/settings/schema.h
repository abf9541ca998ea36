#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/json.h"

namespace faceter {

enum class FieldType {
    boolean,
    integer,
    real,
    text,
    choice,   ///< one of `choices`
    path,     ///< a file or folder; relative to the experiment file
    list,     ///< of `item`s
    map,      ///< from free names to `item`s
    section,  ///< a nested schema
    any,      ///< taken as it is (checked by its reader)
};

struct Schema;

/// Another setting (dotted, of the same run) that must keep its default where one is set, or a value that another setting of the same
/// method must not have ("training=one_by_one"), and why.
struct Exclusion {
    std::string setting, reason;
};

/// Another setting of the same method that must not keep its default where one has `value`, and why.
struct Need {
    std::string value, setting, reason;
    std::size_t most = 0;  ///< items that it has at most, of a list; 0: any number
};

/// One setting, declared once: YAML check, --help, the desktop's forms and the JSON Schema all come from here.
struct Field {
    std::string key;
    FieldType type = FieldType::text;
    std::string description;       ///< one sentence
    Json default_value = nullptr;  ///< null: no default
    bool required = false;
    bool nullable = false;  ///< null (or leaving it out) means "not set"
    std::string unit;       ///< "steps", "s", "MiB", ...
    std::optional<double> minimum, maximum;
    bool exclusive_minimum = false;
    std::vector<std::string> choices;
    std::string source;                 ///< "MoTE, section 5.1"; "paper-silent" where the default is ours because the paper says nothing
    std::vector<Exclusion> exclusions;  ///< of a variant's setting: checked with the experiment file
    std::string not_above;              ///< of a number: another setting of the same method that it is at most
    /// What a text, the items of a list and the keys of a map may name: texts in which <task> stands for any task, <KEY> for any item of
    /// another setting of the same method, <task but KEY> for any task that is none of these, <parts of X> for any number from 2 on below
    /// that of X, and <number>, at the end, for itself. <several of X> and <if KEY> stand for nothing, in a name that there is only where X
    /// are two or more, or the setting is true. "<pattern>": a text with stars that some instruction is like; "<layer>": the end of a
    /// layer's name in the start model. Empty: anything.
    std::vector<std::string> names;
    std::string names_where;  ///< the setting of the same method under which it is read, "router=fixed", "balance!=0"; empty: always
    std::string not_all;      ///< of a list of names: why it may not name all that there are; empty: it may
    /// Of a variant: read only where the start model has no token-routed blocks; what it has of them stands in place of it.
    bool of_dense_start = false;
    std::vector<Need> needed;               ///< of a method's choice: checked with the experiment file
    std::shared_ptr<const Field> item;      ///< list, map
    std::shared_ptr<const Schema> section;  ///< section

    // So that declarations read as one line each: real("temperature", 0.05, "...").above(0).from("MoTE, section 3.2")
    Field&& at_least(double value) && {
        minimum = value;
        return std::move(*this);
    }
    Field&& above(double value) && {
        minimum = value;
        exclusive_minimum = true;
        return std::move(*this);
    }
    Field&& at_most(double value) && {
        maximum = value;
        return std::move(*this);
    }
    Field&& in(std::string unit_name) && {
        unit = std::move(unit_name);
        return std::move(*this);
    }
    Field&& from(std::string where) && {
        source = std::move(where);
        return std::move(*this);
    }
    Field&& excludes(std::string setting, std::string reason) && {
        exclusions.push_back({std::move(setting), std::move(reason)});
        return std::move(*this);
    }
    Field&& at_most_that_of(std::string other) && {
        not_above = std::move(other);
        return std::move(*this);
    }
    Field&& naming(std::vector<std::string> forms, std::string where = "") && {
        names = std::move(forms);
        names_where = std::move(where);
        return std::move(*this);
    }
    Field&& where_start_is_dense() && {
        of_dense_start = true;
        return std::move(*this);
    }
    Field&& but_not_all(std::string reason) && {
        not_all = std::move(reason);
        return std::move(*this);
    }
    Field&& needs(std::string value, std::string setting, std::string reason, std::size_t most = 0) && {
        needed.push_back({std::move(value), std::move(setting), std::move(reason), most});
        return std::move(*this);
    }
    Field&& must() && {
        required = true;
        return std::move(*this);
    }
    Field&& optional() && {
        nullable = true;
        default_value = nullptr;
        return std::move(*this);
    }
};

Field boolean(std::string key, bool fallback, std::string description);
Field integer(std::string key, std::int64_t fallback, std::string description);
Field real(std::string key, double fallback, std::string description);
Field text(std::string key, std::string fallback, std::string description);
Field path(std::string key, std::string fallback, std::string description);
Field choice(std::string key, std::vector<std::string> choices, std::string fallback, std::string description);
Field list(std::string key, Field item, std::string description);
Field map(std::string key, Field item, std::string description);
Field section(std::string key, Schema schema, std::string description);
Field any(std::string key, std::string description);

struct Schema {
    std::string name;
    std::string summary;
    std::vector<Field> fields;

    const Field* find(std::string_view key) const;
    std::vector<std::string> keys() const;
};

Json schema_to_json(const Schema& schema);
Schema schema_from_json(const Json& json, std::string_view name);
/// A JSON Schema (draft 2020-12) for editors.
Json schema_to_json_schema(const Schema& schema);

}  // namespace faceter
