#pragma once
#include <string>
#include <vector>

#include "figure/table.h"

namespace faceter {

/// The number of a cell as its column writes it: "45.31", "+1.20", "0.031", "< 0.001", "62 431" (thin spaces), "2 min 14 s", "1.40 GiB".
/// Nothing of the locale. An infinite value is "inf"; NaN is empty.
std::string format_value(const Column& column, double value);
/// The number of a cell, with the cell's own decimals where it has any.
std::string format_value(const Column& column, const Cell& cell);
/// The same of its spread, without a sign: what stands after +-.
std::string format_spread(const Column& column, const Cell& cell);
/// A difference with its sign: "+1.20", "-1.20", "0.00" where there is none, and "+3.1e-05" where the decimals would show zeros only.
std::string format_delta(double value, int decimals);
/// p as text: three decimals, "< 0.001" below.
std::string format_p(double p);
/// "name (unit)".
std::string column_heading(const Column& column);
/// The sentences under a table: what +- and the stars mean, then the table's own footnotes.
std::vector<std::string> table_notes(const Table& table, std::string_view plus_minus = "±");

}  // namespace faceter
