#pragma once
#include <CLI/CLI.hpp>
#include <functional>

/// Each command of faceter-worker adds itself to the parser; its callback runs it and sets the exit code.
namespace faceter::worker {

void add_run(CLI::App& app, int& exit_code);
void add_embed(CLI::App& app, int& exit_code);
void add_evaluate(CLI::App& app, int& exit_code);
void add_export(CLI::App& app, int& exit_code);
void add_convert(CLI::App& app, int& exit_code);
void add_describe(CLI::App& app, int& exit_code);
void add_diagnose(CLI::App& app, int& exit_code);
void add_data(CLI::App& app, int& exit_code);
void add_memory(CLI::App& app, int& exit_code);
void add_router(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_session(CLI::App& app, int& exit_code);

}  // namespace faceter::worker
