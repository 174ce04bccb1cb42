#include "runtime/forms.h"

#include <gtest/gtest.h>

#include <vector>

namespace mica {
namespace {

FormOptions options(std::initializer_list<FormOption> list) {
  FormOptions all;
  for (const FormOption& option : list) all.add(option.cycles, option.bytes);
  return all;
}

// Where a byte has this price, the stage takes this option.
int chosen(const FormOptions& forms, double price) {
  int best = 0;
  const auto cost = [&](int i) { return forms.list[i].cycles + price * forms.list[i].bytes; };
  for (int i = 1; i < forms.count; ++i)
    if (cost(i) < cost(best)) best = i;
  return best;
}

double total(const std::vector<FormOptions>& forms, const Vector<double>& prices, double others) {
  for (size_t i = 0; i < forms.size(); ++i)
    if (forms[i].count > 0) others += forms[i].list[chosen(forms[i], prices.empty() ? 0 : prices[i])].bytes;
  return others;
}

// Saved cycles a byte, from the largest form to the next and to the last: the first stage 0.02 and 0.4, the second and
// the third 0.05, the fourth 0.5; the fifth has nothing to choose from.
std::vector<FormOptions> stages() {
  return {options({{5020, 1000}, {1020, 11000}, {1000, 12000}}),
          options({{1050, 1000}, {1000, 2000}}),
          options({{1050, 1000}, {1000, 2000}}),
          options({{1500, 1000}, {1000, 2000}}),
          {}};
}
constexpr double kOthers = 7000, kLeast = kOthers + 4 * 1000, kAll = kOthers + 12000 + 3 * 2000;

TEST(FormPrices, NothingIsGivenUpBelowTheGoal) {
  const std::vector<FormOptions> forms = stages();
  Vector<double> prices;
  ASSERT_TRUE(price_forms(forms, kLeast, kAll, prices).ok());
  EXPECT_TRUE(prices.empty());
}

TEST(FormPrices, TheCheapestGoFirstAndEqualOnesInOrder) {
  const std::vector<FormOptions> forms = stages();
  Vector<double> prices;
  ASSERT_TRUE(price_forms(forms, kLeast, kAll - 1, prices).ok());
  EXPECT_EQ(total(forms, prices, kOthers), kAll - 1000);
  EXPECT_GT(prices[0], 0);
  EXPECT_EQ(prices[1], 0);
  ASSERT_TRUE(price_forms(forms, kLeast, kAll - 2000, prices).ok());
  EXPECT_EQ(total(forms, prices, kOthers), kAll - 2000);
  EXPECT_GT(prices[1], 0);
  EXPECT_EQ(prices[2], 0);
}

TEST(FormPrices, WhatSavesMuchStays) {
  const std::vector<FormOptions> forms = stages();
  Vector<double> prices;
  ASSERT_TRUE(price_forms(forms, kLeast, 0, prices).ok());
  EXPECT_EQ(total(forms, prices, kOthers), kAll - 3000);
  EXPECT_EQ(prices[3], 0);
  for (double price : prices) EXPECT_LE(price, kMostBytePrice * 1.1);
}

TEST(FormPrices, NoStages) {
  Vector<double> prices;
  ASSERT_TRUE(price_forms({}, 5, 1, prices).ok());
  EXPECT_TRUE(prices.empty());
}

}  // namespace
}  // namespace mica
