// The checks of this program.
#pragma once
#include <string>

namespace mica::faults {

void verdict(bool good, const std::string& what);
std::string read_text(const std::string& path);
// Faults of files, with the ONNX model `onnx`; all happens in `folder`.
void check_files(const std::string& folder, const std::string& onnx);

}  // namespace mica::faults
