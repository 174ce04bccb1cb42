// mica <verb> …
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "common.h"
#include "verbs.h"

namespace mica::cli {
namespace {

struct Verb {
  const char* name;
  const char* doc;
  std::function<int()> (*add)(CLI::App& app);
};

constexpr Verb kVerbs[] = {
    {"run", "run a model on a picture, on arrays or on random numbers", add_run},
};

// What the word on the command line that nobody understood was meant to be.
std::string hint_for(const CLI::App& app, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    std::vector<std::string> known;
    if (word.size() > 1 && word[0] == '-') {
      for (const CLI::Option* option : app.get_options())
        for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
      if (std::string hint = nearest_hint(word.substr(0, word.find('=')), known); !hint.empty()) return hint;
    }
  }
  return {};
}

int usage_error(const CLI::App& app, const CLI::ParseError& problem) {
  const CLI::App* at = &app;
  for (const CLI::App* sub : app.get_subcommands()) at = sub;
  fmt::print(stderr, "error[MICA6001]: {}\n", problem.what());
  std::string hint = hint_for(*at, at->remaining());
  if (at == &app) {
    std::vector<std::string> names;
    for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
    const std::vector<std::string> words = app.remaining();
    for (const std::string& word : words)
      if (word[0] != '-') {
        hint = nearest_hint(word, names);
        break;
      }
  }
  fmt::print(stderr, "hint: {}{}`mica{}{} --help` lists all words\n", hint, hint.empty() ? "" : "; ",
             at == &app ? "" : " ", at == &app ? "" : at->get_name());
  return kUsage;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Mica: compiles and runs neural networks on the device at hand.\nExit codes: 0 ok, 1 a check failed, 2 usage, 3 "
      "model, 4 device.",
      "mica");
  app.set_version_flag("--version", std::string("mica ") + mica_version());
  app.require_subcommand(1);
  app.fallthrough();
  bool quiet = false;
  app.add_flag("-q,--quiet", quiet, "no talk on stderr but errors");
  std::map<const CLI::App*, std::function<int()>> actions;
  for (const Verb& verb : kVerbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.doc);
    actions[sub] = verb.add(*sub);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::Success& done) {  // --version, --help-all
    return app.exit(done);
  } catch (const CLI::ParseError& problem) {
    return usage_error(app, problem);
  }
  set_quiet(quiet);
  return actions.at(app.get_subcommands().at(0))();
}

}  // namespace

void add_format(CLI::App& app, std::string& format, const std::vector<std::string>& allowed) {
  format = allowed[0];
  app.add_option("--format", format, "of what goes to stdout")->check(CLI::IsMember(allowed))->capture_default_str();
}

}  // namespace mica::cli

int main(int argc, char** argv) {
  try {
    return mica::cli::run(argc, argv);
  } catch (const mica::cli::Failed& failed) {
    fmt::print(stderr, "{}", failed.what());
    return failed.exit;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error[MICA5001]: out of memory\n");
    return mica::cli::kModel;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "error[MICA1099]: {}\n", problem.what());
    return mica::cli::kModel;
  }
}
