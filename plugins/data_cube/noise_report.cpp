#include "noise_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace faceter::data_cube {
namespace {

Cell of_count(std::size_t count) { return Cell::of(static_cast<double>(count)); }
Cell of_share(std::size_t part, std::size_t whole) {
    return whole == 0 ? Cell() : Cell::of(100 * static_cast<double>(part) / static_cast<double>(whole));
}

/// What the plan's mask took of a task, the `number`th of its name, and how much of that is noise.
void add_mask(const Plan& plan, const std::vector<char>& noisy, std::size_t number, NoiseFound& found) {
    for (std::uint32_t t = 0; t < plan.tasks().size(); ++t) {
        if (plan.tasks()[t].name != found.task || number-- > 0 || plan.tasks()[t].phi.size() != noisy.size()) continue;
        found.planned = true;
        for (std::uint32_t i = 0; i < noisy.size(); ++i) {
            found.noisy_in_all += noisy[i];
            if (plan.gives_loss(t, i)) continue;
            ++found.masked;
            found.masked_noisy += noisy[i];
        }
    }
}

/// Of numbers that may be missing.
class WeightedMean {
  public:
    void add(double value, std::size_t weight) {
        if (std::isnan(value)) return;
        sum_ += value * static_cast<double>(weight);
        weight_ += static_cast<double>(weight);
    }
    double value() const { return weight_ > 0 ? sum_ / weight_ : std::numeric_limits<double>::quiet_NaN(); }

  private:
    double sum_ = 0, weight_ = 0;
};

void add_row(Table& table, const NoiseFound& found) {
    table.add_row({Cell::of(found.task), of_count(found.examples), of_count(found.noisy), Cell::of(found.before), Cell::of(found.after),
                   found.planned ? of_count(found.masked) : Cell(),
                   found.planned ? of_share(found.masked_noisy, found.noisy_in_all) : Cell(),
                   found.planned ? of_share(found.masked_noisy, found.masked) : Cell()});
}

}  // namespace

double separation(const TaskDifficulty& task, const std::vector<char>& noisy) {
    std::vector<std::pair<float, bool>> ranked;
    for (std::size_t i = 0; i < task.phi.size() && i < noisy.size(); ++i)
        if (!(task.marks[i] & (no_negative | not_finite))) ranked.emplace_back(task.phi[i], noisy[i] != 0);
    std::sort(ranked.begin(), ranked.end());
    double more_difficult = 0, below = 0;
    for (std::size_t i = 0; i < ranked.size();) {
        std::size_t end = i;
        double noisy_here = 0, others_here = 0;
        for (; end < ranked.size() && ranked[end].first == ranked[i].first; ++end) (ranked[end].second ? noisy_here : others_here) += 1;
        more_difficult += others_here * (below + noisy_here / 2);
        below += noisy_here;
        i = end;
    }
    const double others = static_cast<double>(ranked.size()) - below;  // below: all noisy ones by now
    return below > 0 && others > 0 ? more_difficult / (below * others) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<NoiseFound> find_noise(const std::vector<TaskFit>& fits, const std::vector<std::vector<char>>& noisy, const Plan* plan) {
    std::vector<NoiseFound> all;
    std::map<std::string, std::size_t> of_name;
    for (std::size_t f = 0; f < fits.size(); ++f) {
        const TaskFit& fit = fits[f];
        const std::size_t number = of_name[fit.name]++;
        if (noisy[f].empty()) continue;
        std::vector<char> measured;
        for (const std::uint32_t example : fit.examples) measured.push_back(noisy[f].at(example));
        NoiseFound found;
        found.task = fit.name;
        found.examples = measured.size();
        found.noisy = static_cast<std::size_t>(std::count(measured.begin(), measured.end(), 1));
        found.before = separation(fit.before, measured);
        found.after = separation(fit.after, measured);
        if (plan) add_mask(*plan, noisy[f], number, found);
        all.push_back(std::move(found));
    }
    return all;
}

NoiseFound all_noise(const std::vector<NoiseFound>& tasks) {
    NoiseFound all;
    all.task = "all tasks";
    WeightedMean before, after;
    for (const NoiseFound& task : tasks) {
        all.examples += task.examples, all.noisy += task.noisy;
        all.masked += task.masked, all.masked_noisy += task.masked_noisy, all.noisy_in_all += task.noisy_in_all;
        all.planned |= task.planned;
        before.add(task.before, task.noisy);
        after.add(task.after, task.noisy);
    }
    all.before = before.value();
    all.after = after.value();
    return all;
}

Table noise_table(const std::vector<NoiseFound>& tasks, const std::string& run) {
    Table table;
    table.name = "data_cube_noise";
    table.caption = fmt::format("Injected noise (noise_rate) among the difficult examples: {}", run);
    table.add_column("task", ColumnKind::text);
    table.add_column("examples", ColumnKind::count);
    table.add_column("noisy", ColumnKind::count);
    for (const char* when : {"before", "after"}) table.add_column(when, ColumnKind::number, 3).group = "noise is the more difficult";
    table.add_column("masked", ColumnKind::count);
    table.add_column("noise that is masked", ColumnKind::number, 1).unit = "%";
    table.add_column("masked that is noise", ColumnKind::number, 1).unit = "%";
    for (const NoiseFound& task : tasks) add_row(table, task);
    add_row(table, all_noise(tasks));
    table.footnotes = {
        "Noise is the more difficult: the share of pairs of a noisy and another example of a task in which the noisy one has the smaller "
        "sim(q, s+) - sim(q, s-); 0.5 is chance. Before is the untrained start model.",
        "A mask that took as many at random would mask that share of the noise, and what it masks would be noise at the noise's rate."};
    return table;
}

Json noise_json(const std::vector<NoiseFound>& tasks) {
    const auto number = [](double value) { return std::isnan(value) ? Json() : Json(value); };
    const NoiseFound all = all_noise(tasks);
    Json json{{"examples", all.examples}, {"noisy", all.noisy}, {"before", number(all.before)}, {"after", number(all.after)}};
    if (all.planned) json["mask"] = {{"masked", all.masked}, {"masked_noisy", all.masked_noisy}, {"noisy", all.noisy_in_all}};
    return json;
}

}  // namespace faceter::data_cube
