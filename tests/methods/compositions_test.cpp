// The order conditions of every splitting of the catalogue, to round-off.
//
// A drift of weight a is exp(a A), a kick exp(b B), A and B not commuting. A step is a series of words in the two
// letters, and its order is the length up to which it equals exp(A + B), whose words of length n have the coefficient
// 1/n!. Source: hairer2006, section III.5.
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <cmath>

#include "explicit_schemes.hpp"

namespace bathline::compositions_test {
namespace {

/// Coefficients of all words up to a length: by length, then by the word read as a binary number, A = 0 and B = 1.
class Words {
 public:
  explicit Words(int longest) : coefficients_(static_cast<std::size_t>(longest + 1)) {
    for (std::size_t n = 0; n < coefficients_.size(); ++n) coefficients_[n].assign(std::size_t{1} << n, 0.0L);
    coefficients_[0][0] = 1.0L;
  }
  /// Multiplies by exp(weight letter) from the right.
  void append(unsigned letter, long double weight) {
    // Longest words first, as they need the old coefficients of shorter ones.
    for (std::size_t n = coefficients_.size(); n-- > 1;) {
      for (std::size_t word = 0; word < coefficients_[n].size(); ++word) {
        long double factor = 1.0L, sum = 0.0L;
        std::size_t rest = word;
        for (std::size_t k = 1; k <= n && (rest & 1U) == letter; ++k) {
          rest >>= 1U;
          factor *= weight / static_cast<long double>(k);
          sum += factor * coefficients_[n - k][rest];
        }
        coefficients_[n][word] += sum;
      }
    }
  }
  const std::vector<long double>& of_length(int n) const { return coefficients_[static_cast<std::size_t>(n)]; }

 private:
  std::vector<std::vector<long double>> coefficients_;
};

Words words_of(const ExplicitScheme& scheme, int longest) {
  Words words(longest);
  for (const Substep& substep : scheme.substeps) {
    words.append(substep.kind == Substep::Kind::kick ? 1U : 0U, substep.weight);
  }
  return words;
}

/// Coefficients by which a step differs from the flow.
Eigen::VectorXd defects(const ExplicitScheme& scheme, int length) {
  const Words words = words_of(scheme, length);
  Eigen::VectorXd result(static_cast<Eigen::Index>(words.of_length(length).size()));
  for (Eigen::Index i = 0; i < result.size(); ++i) {
    const long double coefficient = words.of_length(length)[static_cast<std::size_t>(i)];
    result[i] = static_cast<double>(coefficient - 1.0L / std::tgamma(static_cast<long double>(length + 1)));
  }
  return result;
}

/// A polynomial of words of one length; [x, y] = x y - y x.
struct Bracket {
  int length;
  Eigen::VectorXd coefficients;
};

Bracket bracket(const Bracket& x, const Bracket& y) {
  Bracket result{x.length + y.length, Eigen::VectorXd::Zero(x.coefficients.size() * y.coefficients.size())};
  for (Eigen::Index i = 0; i < x.coefficients.size(); ++i) {
    for (Eigen::Index j = 0; j < y.coefficients.size(); ++j) {
      const double product = x.coefficients[i] * y.coefficients[j];
      result.coefficients[i * y.coefficients.size() + j] += product;
      result.coefficients[j * x.coefficients.size() + i] -= product;
    }
  }
  return result;
}

TEST(Compositions, OrderConditionsHoldToRoundoffAndNotBeyond) {
  for (const MethodCase& method : method_cases()) {
    const auto* scheme = std::get_if<ExplicitScheme>(&method.scheme);
    if (scheme == nullptr || !scheme->b.empty()) continue;
    SCOPED_TRACE(method.name);
    const int order = method.properties.order;
    const bool needs_quadratic_energy = method.name == "blanes-moan-rkn6";
    for (int n = 1; n <= (needs_quadratic_energy ? 4 : order); ++n) {
      EXPECT_LT(defects(*scheme, n).cwiseAbs().maxCoeff(), 2e-15) << "words of length " << n;
    }
    EXPECT_GT(defects(*scheme, order + 1).cwiseAbs().maxCoeff(), 1e-10);
  }
}

// With a kinetic energy quadratic in the momenta X = [B, [B, [B, A]]] vanishes, and the remaining error at length 5 is
// a combination of [A, X] and [B, X]. Length 6 follows from the symmetry.
TEST(Compositions, NystroemConditionsHoldWhereThirdDerivativesOfTheKineticEnergyVanish) {
  const Bracket a{1, Eigen::VectorXd{{1.0, 0.0}}}, b{1, Eigen::VectorXd{{0.0, 1.0}}};
  const Bracket x = bracket(b, bracket(b, bracket(b, a)));
  Eigen::MatrixXd vanishing(32, 2);
  vanishing << bracket(a, x).coefficients, bracket(b, x).coefficients;
  const auto& scheme = std::get<ExplicitScheme>(method_case("blanes-moan-rkn6").scheme);
  const Eigen::VectorXd error = defects(scheme, 5);
  const Eigen::VectorXd remainder = error - vanishing * vanishing.colPivHouseholderQr().solve(error);
  EXPECT_GT(error.cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT(remainder.cwiseAbs().maxCoeff(), 2e-15);
}

}  // namespace
}  // namespace bathline::compositions_test
