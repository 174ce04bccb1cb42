// mica <verb> …
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>
#include <sstream>

#include "common.h"
#include "verbs.h"

namespace mica::cli {
namespace {

struct Verb {
  const char* name;
  const char* doc;
  std::function<int()> (*add)(Words& words);
};

constexpr Verb kVerbs[] = {
    {"convert", "compile a model into a .mica file", add_convert},
    {"run", "run a model on a picture, on arrays or on random numbers", add_run},
    {"bench", "measure how long a model takes", add_bench},
    {"tune", "measure which algorithms are the fastest here, and keep that beside the model", add_tune},
    {"compare", "compare two forms of a model, and find the first stage that differs", add_compare},
    {"inspect", "show a model, at any stage", add_inspect},
    {"ops", "list the operators", add_ops},
    {"doctor", "tell what this machine has", add_doctor},
};

// The word that stands where the verb should; empty when there is none.
std::string verb_word(const std::vector<std::string>& words) {
  const auto is_word = [](const std::string& word) { return !word.empty() && word[0] != '-'; };
  const auto found = std::find_if(words.begin(), words.end(), is_word);
  return found == words.end() ? std::string() : *found;
}

CLI::App* verb_named(CLI::App& app, const std::string& name) {
  for (CLI::App* sub : app.get_subcommands(nullptr))
    if (sub->get_name() == name) return sub;
  return nullptr;
}

// What an option that nobody understood was meant to be.
std::string option_hint(const CLI::App& verb, const std::vector<std::string>& words) {
  std::vector<std::string> known;
  for (const CLI::Option* option : verb.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  for (const std::string& word : words) {
    const std::string name = word.substr(0, word.find('='));
    if (name.rfind("--", 0) == 0 && name.size() > 2 && std::find(known.begin(), known.end(), name) == known.end() &&
        name != "--quiet")
      return nearest_hint(name, known);
  }
  return {};
}

int usage_error(CLI::App& app, const CLI::ParseError& problem, const std::vector<std::string>& words) {
  const std::string word = verb_word(words);
  std::string what = problem.what(), hint, of;
  if (const CLI::App* verb = verb_named(app, word)) {
    hint = option_hint(*verb, words);
    of = word + " ";
  } else if (!word.empty()) {
    std::vector<std::string> names;
    for (const Verb& known : kVerbs) names.emplace_back(known.name);
    what = fmt::format("there is no verb `{}`", word);
    hint = nearest_hint(word, names);
  }
  complain(fmt::format("error[MICA6001]: {}\nhint: {}{}`mica {}--help` lists all words\n", what, hint,
                       hint.empty() ? "" : " ", of));
  return kUsage;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Mica: compiles and runs neural networks on the device at hand.\nExit codes: 0 ok, 1 a check failed, 2 usage, 3 "
      "model, run, memory or files, 4 device.",
      "mica");
  app.set_version_flag("--version", std::string("mica ") + mica_version());
  app.require_subcommand(1);
  app.fallthrough();
  bool quiet = false;
  app.add_flag("-q,--quiet", quiet, "no talk on stderr but errors");
  std::map<const CLI::App*, std::function<int()>> actions;
  for (const Verb& verb : kVerbs) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.doc);
    Words words(*sub);
    actions[sub] = verb.add(words);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& done) {  // --help, --version
    std::ostringstream text;
    const int code = app.exit(done, text, text);
    put_text(text.str());
    return code;
  } catch (const CLI::ParseError& problem) {
    return usage_error(app, problem, std::vector<std::string>(argv + 1, argv + argc));
  }
  set_quiet(quiet);
  return actions.at(app.get_subcommands().at(0))();
}

// Every error as an exit code and a text.
int guarded(int argc, char** argv) {
  open_standard_files();
  try {
    const int code = run(argc, argv);
    finish();
    return code;
  } catch (const Failed& failed) {
    complain(failed.what());
    return failed.exit;
  } catch (const std::bad_alloc&) {
    complain("error[MICA5001]: out of memory\n");
  } catch (const std::exception& problem) {
    complain(std::string("error[MICA1099]: ") + problem.what() + "\n");
  }
  return kModel;
}

}  // namespace
}  // namespace mica::cli

int main(int argc, char** argv) { return mica::cli::guarded(argc, argv); }
