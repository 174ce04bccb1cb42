// The verbs: each adds its words and returns what to do once they are parsed; that returns the exit code.
#pragma once
#include <functional>

#include "words.h"

namespace mica::cli {

std::function<int()> add_convert(Words& words);
std::function<int()> add_run(Words& words);
std::function<int()> add_inspect(Words& words);
std::function<int()> add_bench(Words& words);
std::function<int()> add_tune(Words& words);
std::function<int()> add_compare(Words& words);
std::function<int()> add_ops(Words& words);
std::function<int()> add_doctor(Words& words);

}  // namespace mica::cli
