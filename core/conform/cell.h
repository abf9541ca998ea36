#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "conform/column.h"
#include "conform/embeddings.h"
#include "conform/made_texts.h"
#include "conform/moved_weights.h"
#include "conform/programs.h"
#include "record/run_directory.h"

namespace faceter::conform {

/// What holds for every cell, in the order in which it is tried.
extern const std::vector<std::string> all_laws;
/// With those that a law needs: what embeddings are compared with comes from `embed`, and exported folders from `export`.
std::set<std::string> with_needed(std::set<std::string> laws);

/// Embeddings of an exported folder by another library: {"embeddings": [[...]]}, or {"error": why}. `prompt`: the name of one of the
/// folder's prompts; empty: its default.
using Peer = std::function<Json(const fs::path& folder, const std::string& prompt, const std::vector<std::string>& texts)>;

/// What all cells share.
struct Laboratory {
    fs::path folder;  ///< of which each cell takes one of its own
    Texts texts;
    Programs programs;
    Catalogue catalogue;
    Peer peer{};           ///< empty: none is at hand
    double dropout = 0.1;  ///< of every training
};

/// A checkpoint to start from.
struct StartModel {
    std::string name;
    fs::path folder;
};

/// A law that a cell breaks: what was seen, and the command that shows it.
struct Finding {
    std::string law, what, command;
};

struct CellResult {
    std::string start, column;
    std::string refused;                        ///< by `faceter check`: why; empty where it is not
    std::vector<std::string> held;              ///< laws
    std::map<std::string, std::string> limits;  ///< law -> why it does not apply, as the program itself says
    std::vector<Finding> wrong;
    std::map<std::string, double> apart{};  ///< law that compares embeddings -> the largest difference (row_difference) that was seen
    std::string name() const { return start + " x " + column; }
    Json to_json() const;
    static CellResult from_json(const Json& json);
};

/// One start model under one variant, through every operation of the command line.
class Cell {
  public:
    /// `laws`: which to try, all where it is empty; check and train always are, and what they need (with_needed).
    Cell(const Laboratory& laboratory, const StartModel& start, const Column& column, std::set<std::string> laws);
    CellResult run();

  private:
    struct Route {
        std::string task, prompt;  ///< "classification" and "classification.query": of a run, and of an exported folder
    };
    static const std::vector<Route>& routes();
    const Route& drawn_route() const;

    void attempt(const std::string& law, const std::function<void()>& what);
    bool wanted(const std::string& law) const;
    Json objective() const;
    fs::path write_experiment(const std::string& name, const Json& changes = Json::object()) const;
    RunDirectory train(const std::string& name, const Json& changes, const std::vector<std::string>& options);
    Embeddings embed(const EmbedSource& source, const std::vector<std::string>& texts) const;
    Embeddings embed_by_command(const EmbedSource& source) const;
    EmbedSource of_run(const std::string& task) const;
    EmbedSource movable(const std::string& task) const;
    double noise(const std::string& task);
    struct Comparison {
        std::string law, task;
        double bound;
    };
    void require_same(const Comparison& comparison, double apart, const std::string& what, const std::string& command);

    bool check();
    bool train_first();
    void rerun();
    void resume();
    void go_on(const RunDirectory& killed, std::uint64_t bytes) const;
    struct Tolerance {
        double losses, weights;  ///< relative; of norms
        Rounding rounding;
        double noise_factor;
    };
    std::vector<double> loss_noise(Rounding rounding, int draw);
    std::vector<double> bounds_of(const Tolerance& tolerance, std::size_t steps);
    void require_alike(const RunDirectory& other, const Tolerance& tolerance);
    void in_parts(const std::string& law, const Json& changes, const std::vector<std::string>& options);
    void ranks();
    void cache();
    void half_precision();
    void evaluate();
    void embed_routes();
    void company();
    void company(const EmbedSource& source);
    void export_folders();
    void compare_with_peer();

    struct Exported {
        fs::path folder;
        std::string task, prompt;  ///< of the run; of the folder (empty: its default)
        EmbedSource source() const { return {folder.string(), "", prompt}; }
    };
    std::vector<Exported> exported_routes(const fs::path& out) const;
    bool has_routed_blocks() const;

    const Laboratory& laboratory_;
    const StartModel& start_;
    const Column& column_;
    std::set<std::string> laws_;
    fs::path folder_, project_;
    std::unique_ptr<RunDirectory> first_;
    std::map<std::string, Embeddings> embeddings_;  ///< of the run, by task
    std::map<std::string, double> noise_;           ///< by task, where it was asked for
    std::vector<Exported> exported_;
    CellResult result_;
};

}  // namespace faceter::conform
