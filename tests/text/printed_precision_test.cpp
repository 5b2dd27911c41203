// The unit of the last digit of printed numbers.
#include "text/printed_precision.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace bathline::printed_precision_test {

TEST(PrintedPrecision, IsThatOfTheLastDigit) {
  const struct {
    std::vector<const char*> column;
    double number, unit;
  } cases[] = {{{"0.872465", "-1.500000"}, 1.5, 1e-6},
               {{"0.1", "0.25"}, 0.1, 0.01},                // zeros at the end left out
               {{"0.002", "99.998", "100"}, 0.002, 1e-3},   // as many decimals
               {{"0.00234567", "1234.57"}, 1234.57, 0.01},  // as many digits
               {{"1.25e-3"}, 1.25e-3, 1e-5},
               {{"2.5E+2", "-1"}, 250.0, 10.0},
               {{"0", "2"}, 0.0, 1.0}};
  for (const auto& [column, number, unit] : cases) {
    PrintedPrecision precision;
    for (const char* text : column) precision.add(text);
    EXPECT_NEAR(precision.unit(number), unit, 1e-9 * unit) << column.front();
  }
  EXPECT_TRUE(std::isinf(PrintedPrecision().unit(1.0)));
}

}  // namespace bathline::printed_precision_test
