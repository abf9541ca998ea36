#include "compare/study_tables.h"

#include <cmath>
#include <set>

#include "stats/descriptive.h"
#include "stats/number.h"

namespace faceter {
namespace {

Cell count_of(std::size_t n) { return Cell::of(static_cast<double>(n)); }

}  // namespace

Table claims_table(const std::vector<ClaimOutcome>& claims) {
    Table table;
    table.name = "claims";
    for (const char* name : {"claim", "verdict"}) table.add_column(name, ColumnKind::text);
    for (const char* name : {"effect", "from", "to"}) table.add_column(name, ColumnKind::delta, 3);
    for (const char* name : {"p", "p (Holm)"}) table.add_column(name, ColumnKind::p_value);
    table.add_column("seeds", ColumnKind::count);
    table.add_column("power", ColumnKind::number, 2);
    table.add_column("p of equivalence (Holm)", ColumnKind::p_value);
    for (const ClaimOutcome& one : claims) {
        const bool tested = !std::isnan(one.test.p);  // else its adjusted p is 1, and says nothing
        table.add_row({Cell::of(one.claim.claim), Cell::of(std::string(verdict_name(one.verdict))), Cell::of(one.effect.estimate),
                       Cell::of(one.effect.interval.low), Cell::of(one.effect.interval.high), Cell::of(one.test.p),
                       Cell::of(tested ? one.adjusted.holds : not_a_number), count_of(one.seeds.size()), Cell::of(one.power),
                       Cell::of(tested ? one.adjusted.equivalent : not_a_number)});
    }
    return table;
}

Table set_effects_table(const std::vector<ClaimOutcome>& claims) {
    Table table;
    table.name = "effects";
    for (const char* name : {"claim", "data set"}) table.add_column(name, ColumnKind::text);
    for (const char* name : {"effect", "from", "to"}) table.add_column(name, ColumnKind::delta, 3);
    for (const char* name : {"p (Holm over the sets)", "p of the opposite"}) table.add_column(name, ColumnKind::p_value);
    for (const ClaimOutcome& one : claims)
        for (const SetEffect& set : one.sets)
            table.add_row({Cell::of(one.claim.claim), Cell::of(set.set), Cell::of(set.effect), Cell::of(set.interval.low),
                           Cell::of(set.interval.high), Cell::of(set.p), Cell::of(set.p_against)});
    return table;
}

Table scores_table(const std::map<std::string, std::map<std::string, std::vector<double>>>& by_variant_and_set) {
    Table table;
    table.name = "scores";
    table.add_column("data set", ColumnKind::text);
    std::set<std::string> sets;
    for (const auto& [variant, scores] : by_variant_and_set) {
        table.add_column(variant, ColumnKind::number, 2);
        for (const auto& [set, values] : scores) sets.insert(set);
    }
    for (const std::string& set : sets) {
        std::vector<Cell> cells{Cell::of(set)};
        for (const auto& [variant, scores] : by_variant_and_set) {
            const auto found = scores.find(set);
            cells.push_back(found == scores.end() ? Cell{}
                                                  : Cell::of(mean(found->second), standard_deviation(found->second),
                                                             static_cast<std::int64_t>(found->second.size())));
        }
        table.add_row(std::move(cells));
    }
    return table;
}

Table costs_table(const std::vector<StudyCost>& costs) {
    Table table;
    table.name = "costs";
    table.add_column("variant", ColumnKind::text);
    table.add_column("runs", ColumnKind::count);
    table.add_column("hours", ColumnKind::number, 2);
    for (const StudyCost& cost : costs) table.add_row({Cell::of(cost.variant), count_of(cost.runs), Cell::of(cost.hours)});
    return table;
}

}  // namespace faceter
