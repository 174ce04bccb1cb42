// digit MODEL FLOATS: as digit.c, through mica.hpp.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <mica/mica.hpp>

namespace {

int report(const mica::Error& error) {
  std::cerr << error.text();
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) return 2;
  std::vector<float> pixels(64);
  std::ifstream file(words[2], std::ios::binary);
  if (!file.read(reinterpret_cast<char*>(pixels.data()), 64 * sizeof(float))) return 2;

  auto context = mica::Context::create();
  if (!context.ok()) return report(context.error());
  auto model = context->load(words[1]);
  if (!model.ok()) return report(model.error());
  auto session = model->session();
  if (!session.ok()) return report(session.error());
  if (auto set = session->set_input("image", mica::Tensor::of(pixels.data(), {1, 1, 8, 8})); !set.ok())
    return report(set.error());
  if (auto ran = session->run(); !ran.ok()) return report(ran.error());
  auto scores = session->output(0);
  if (!scores.ok()) return report(scores.error());
  const auto values = scores->span<float>();
  std::cout << std::max_element(values.begin(), values.end()) - values.begin() << "\n";
}
