// The checks of this program.
#pragma once
#include <string>

#include "fuzz/seeds.h"

namespace mica::faults {

// A model that asks for memory more often the more blocks it has.
fuzz::Seed long_model(int blocks);
void verdict(bool good, const std::string& what);
std::string read_text(const std::string& path);
// Faults of files, with the ONNX model `onnx`; all happens in `folder`.
void check_files(const std::string& folder, const std::string& onnx);

}  // namespace mica::faults
