// The verbs: each adds its words to `app` and returns what to do once they are parsed; that returns the exit code.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mica::cli {

std::function<int()> add_convert(CLI::App& app);
std::function<int()> add_run(CLI::App& app);
std::function<int()> add_inspect(CLI::App& app);
std::function<int()> add_bench(CLI::App& app);
std::function<int()> add_tune(CLI::App& app);
std::function<int()> add_compare(CLI::App& app);
std::function<int()> add_ops(CLI::App& app);
std::function<int()> add_doctor(CLI::App& app);

// --format, with the first of `allowed` as default; the parsed value is checked by CLI11.
void add_format(CLI::App& app, std::string& format, const std::vector<std::string>& allowed);

}  // namespace mica::cli
