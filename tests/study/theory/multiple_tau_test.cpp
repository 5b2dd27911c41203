// Correlations over lags of very different lengths against sums over all pairs and the bias of averages.
#include "study/theory/multiple_tau.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bathline {
namespace {

TEST(MultipleTau, LagsReachTheLongest) {
  EXPECT_EQ(MultipleTau(3).lags().size(), MultipleTau::points);
  const std::vector<double> lags = MultipleTau(100).lags();
  EXPECT_EQ(lags.front(), 0.0);
  EXPECT_EQ(lags[15], 15.0);
  EXPECT_EQ(lags[16], 16.0);
  EXPECT_EQ(lags[17], 18.0);
  EXPECT_EQ(lags.back(), 120.0);
}

TEST(MultipleTau, ShortLagsAreSumsOverAllPairs) {
  MultipleTau correlator(100);
  for (const std::size_t count : {16u, 731u}) {  // the second time it has forgotten the first
    std::vector<double> x;
    for (std::size_t k = 0; k < count; ++k) x.push_back(std::sin(1.7 * static_cast<double>(k * k % 97)));
    for (const double value : x) correlator.add(value);
    const std::vector<double> means = correlator.take();
    for (std::size_t lag = 0; lag < MultipleTau::points; ++lag) {
      double sum = 0.0;
      for (std::size_t k = 0; k + lag < count; ++k) sum += x[k] * x[k + lag];
      EXPECT_NEAR(means[lag], sum / static_cast<double>(count - lag), 1e-14);
    }
    EXPECT_EQ(std::isnan(means.back()), count == 16u);
  }
}

TEST(MultipleTau, LongLagsAreThoseOfAverages) {
  // A cosine remains one under averages over w values, with the factor sin(w omega/2)/(w sin(omega/2)).
  const double omega = 0.02;
  MultipleTau correlator(1000);
  constexpr int count = 1 << 20;
  for (int k = 0; k < count; ++k) correlator.add(std::cos(omega * k));
  const std::vector<double> lags = correlator.lags(), means = correlator.take();
  for (std::size_t i = 0; i < lags.size(); ++i) {
    double width = 1.0;
    while (lags[i] >= 16.0 * width) width *= 2.0;
    const double factor = std::sin(0.5 * width * omega) / (width * std::sin(0.5 * omega));
    EXPECT_NEAR(means[i], 0.5 * std::cos(omega * lags[i]) * factor * factor, 1.0 / (omega * count)) << lags[i];
  }
}

}  // namespace
}  // namespace bathline
