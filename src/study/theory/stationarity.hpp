// Whether averages over time are those of a stationary motion.
//
// If it is stationary, an average has the same distribution in the first and in the second half of the time, and the
// differences d_i of the halves of n independent samples have mean 0: mean(d)/(s/sqrt(n)) has Student's distribution
// with n - 1 degrees of freedom, exactly for normal d, and nearly so for others, which are symmetric. Of several
// averages, dependent ones too, the probability that any is as far from 0 as the farthest is at most that of the
// farthest times their number (Bonferroni's inequality). Source: student1908.
#pragma once

#include <optional>

#include "study/theory/averages.hpp"

namespace bathline {

/// The probability that the magnitude of a variable with Student's distribution exceeds |t|; of the normal distribution
/// where the degrees of freedom are infinite.
double students_probability(double t, double degrees_of_freedom);
/// The |t| that it exceeds with this probability, which is above 0.
double students_quantile(double probability, double degrees_of_freedom);

/// The average whose halves differ most significantly.
struct HalfDifference {
  std::size_t index;
  double difference, error;  ///< second half less first half, and its standard error
};
/// Nothing if the differences of the halves are what a stationary motion has; otherwise the most significant one. A
/// stationary motion passes for another one with at most the probability `false_alarms`. Differences up to `round_off`
/// of each average do not count.
std::optional<HalfDifference> find_half_difference(const Moments& differences, std::span<const double> round_off,
                                                   double false_alarms);

}  // namespace bathline
