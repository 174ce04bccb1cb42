#include "runtime/forms.h"

#include <algorithm>

namespace mica {
namespace {

// A price at which what was given up is not taken again, though its costs change a little with the strides in the end.
constexpr double kPriceBeyond = 1.05;

// The next smaller form: the one that costs the fewest cycles for each byte less. -1: none is smaller.
struct Step {
  int option = -1;
  double price = 0;
};
Step next_step(const FormOptions& forms, int now) {
  Step best;
  for (int i = 0; i < forms.count; ++i) {
    const double fewer = forms.list[now].bytes - forms.list[i].bytes;
    if (fewer <= 0) continue;
    const double price = (forms.list[i].cycles - forms.list[now].cycles) / fewer;
    if (best.option < 0 || price < best.price) best = {i, price};
  }
  return best;
}

int fastest_of(const FormOptions& forms) {
  int best = 0;
  for (int i = 1; i < forms.count; ++i)
    if (forms.list[i].cycles < forms.list[best].cycles) best = i;
  return best;
}

double least_bytes(const FormOptions& forms) {
  double bytes = forms.list[0].bytes;
  for (int i = 1; i < forms.count; ++i) bytes = std::min(bytes, forms.list[i].bytes);
  return bytes;
}

}  // namespace

Status price_forms(std::span<const FormOptions> forms, double bytes, double goal, Vector<double>& prices) {
  prices.clear();
  Vector<int> now;
  MICA_TRY_STATUS(now.resize(forms.size()));
  for (size_t i = 0; i < forms.size(); ++i) {
    now[i] = fastest_of(forms[i]);
    bytes += forms[i].list[now[i]].bytes - least_bytes(forms[i]);
  }
  while (bytes > goal) {
    Step best;
    size_t at = 0;
    for (size_t i = 0; i < forms.size(); ++i) {
      const Step step = next_step(forms[i], now[i]);
      if (step.option < 0 || (best.option >= 0 && step.price >= best.price)) continue;
      best = step;
      at = i;
    }
    if (best.option < 0 || best.price > kMostBytePrice) break;
    if (prices.empty()) MICA_TRY_STATUS(prices.resize(forms.size()));
    prices[at] = best.price * kPriceBeyond;
    bytes -= forms[at].list[now[at]].bytes - forms[at].list[best.option].bytes;
    now[at] = best.option;
  }
  return {};
}

}  // namespace mica
