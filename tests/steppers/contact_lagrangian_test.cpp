// Discrete Lagrangians: their derivatives, the equations that the paper states, and the exact motion.
#include "steppers/contact_lagrangian.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "differences.hpp"
#include "quartic_potential.hpp"
#include "scene.hpp"

namespace bathline::contact_lagrangian_test {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

ParticleSystem contact_system(const VectorXd& mass, std::shared_ptr<const Potential> potential, double gamma) {
  ParticleSystem system = make_particles(mass, std::move(potential), {}, {}, static_cast<int>(mass.size()));
  system.contact = Contact{.gamma = gamma, .z0 = 0.0, .q1 = {}};
  return system;
}

ParticleSystem oscillator(double m, double k, double gamma) {
  return contact_system(VectorXd::Constant(1, m), std::make_shared<QuadraticPotential>(MatrixXd::Constant(1, 1, k)),
                        gamma);
}

VectorXd vector(double x) { return VectorXd::Constant(1, x); }

TEST(ContactLagrangian, GradientsAndHessiansAreItsDerivatives) {
  RandomNumbers random(41);
  const MatrixXd half = random_matrix(2, 2, random);
  const ParticleSystem nonlinear =
      contact_system(VectorXd{{1.0, 2.0}}, std::make_shared<QuarticPotential>(half * half.transpose(), 0.7), -0.3);
  const ParticleSystem linear = contact_system(
      VectorXd{{1.0, 2.0}}, std::make_shared<QuadraticPotential>(MatrixXd{{1.5, 0.0}, {0.0, 3.0}}), -0.3);
  for (const bool exact : {false, true}) {
    const auto lagrangian = make_contact_lagrangian({exact}, exact ? linear : nonlinear, 0.4);
    const VectorXd q = random_matrix(2, 1, random), next = random_matrix(2, 1, random);
    const VectorXd first = gradient_of([&](const VectorXd& x) { return lagrangian->value(x, next - x); }, q);
    const VectorXd second = gradient_of([&](const VectorXd& x) { return lagrangian->value(q, x - q); }, next);
    EXPECT_LT((lagrangian->d1(q, next - q) - first).norm(), 1e-10);
    EXPECT_LT((lagrangian->d2(q, next - q) - second).norm(), 1e-10);
    const auto d1_of_q = [&](const VectorXd& x) { return lagrangian->d1(x, next - x); };
    const auto d1_of_next = [&](const VectorXd& x) { return lagrangian->d1(q, x - q); };
    const auto d2_of_next = [&](const VectorXd& x) { return lagrangian->d2(q, x - q); };
    const ContactLagrangian::Hessians hessians = lagrangian->hessians(q, next - q);
    EXPECT_LT((hessians.first - jacobian_of(d1_of_q, q)).norm(), 1e-10);
    EXPECT_LT((hessians.mixed - jacobian_of(d1_of_next, next)).norm(), 1e-10);
    EXPECT_LT((hessians.second - jacobian_of(d2_of_next, next)).norm(), 1e-10);
  }
}

TEST(ContactLagrangian, FactorsAreThoseOfTheTwoLagrangians) {
  EXPECT_EQ(make_contact_lagrangian({false}, oscillator(1.0, 1.0, -0.05), 0.5)->sigma(), 0.975);
  EXPECT_NEAR(make_contact_lagrangian({true}, oscillator(1.0, 1.0, -0.05), 0.5)->sigma(), std::exp(-0.025), 1e-16);
}

// simoes2020, eq. (78) with the sign of its own eq. (64).
TEST(ContactLagrangian, ExactOneOfAFreeParticleIsThePapers) {
  const double gamma = -0.3, h = 0.7;
  const auto lagrangian = make_contact_lagrangian({true}, oscillator(1.0, 0.0, gamma), h);
  const double factor = std::exp(gamma * h);
  for (const double dq : {0.4, -2.0}) {
    EXPECT_NEAR(lagrangian->value(vector(1.5), vector(dq)), gamma * dq * dq * factor / (2.0 * (factor - 1.0)), 1e-14);
  }
}

// The increase of z along the motion between two positions, with z' = m v^2/2 - m k q^2/2 + gamma z integrated along
// the motion's closed form by Gauss-Legendre quadrature: weak, strong (overdamped), critical and negligible friction.
TEST(ContactLagrangian, ExactOneIsTheActionOfTheMotion) {
  const double m = 1.5, h = 0.8, q0 = 0.7, q1 = -0.4;
  for (const auto& [k, gamma] : std::vector<std::pair<double, double>>{
           {2.0, -0.3}, {0.0, -0.3}, {-0.5, -0.3}, {1.0, -5.0}, {1.0, -2.0}, {1.0, -2.0 - 1e-12}, {0.0, -1e-9}}) {
    const double square = k - 0.25 * gamma * gamma, w = std::sqrt(std::abs(square));
    const auto sine = [&](double t) {
      if (w * t < 1e-5) return t;
      return square > 0.0 ? std::sin(w * t) / w : std::sinh(w * t) / w;
    };
    const auto cosine = [&](double t) { return square > 0.0 ? std::cos(w * t) : std::cosh(w * t); };
    const double b = (q1 * std::exp(-0.5 * gamma * h) - q0 * cosine(h)) / sine(h);
    const auto integrand = [&, k = k, gamma = gamma](double t) {
      const double growth = std::exp(0.5 * gamma * t);
      const double q = growth * (q0 * cosine(t) + b * sine(t));
      const double v = 0.5 * gamma * q + growth * (b * cosine(t) - square * q0 * sine(t));
      return std::exp(gamma * (h - t)) * 0.5 * m * (v * v - k * q * q);
    };
    // Three Gauss points in each of 400 pieces: order 6.
    double action = 0.0;
    const int pieces = 400;
    for (int i = 0; i < pieces; ++i) {
      const double width = h / pieces, middle = (i + 0.5) * width, offset = 0.5 * width * std::sqrt(0.6);
      action +=
          width / 18.0 * (5.0 * (integrand(middle - offset) + integrand(middle + offset)) + 8.0 * integrand(middle));
    }
    const auto lagrangian = make_contact_lagrangian({true}, oscillator(m, m * k, gamma), h);
    EXPECT_NEAR(lagrangian->value(vector(q0), vector(q1 - q0)), action, 1e-12 * (1.0 + std::abs(action)))
        << k << ", " << gamma;
  }
}

TEST(ContactLagrangian, StatesWhereThereIsNone) {
  EXPECT_EQ(contact_unsupported_reason({false}, oscillator(1.0, 1.0, -0.05), 0.5).text, "");
  EXPECT_TRUE(contact_unsupported_reason({false}, oscillator(1.0, 1.0, -0.05), 20.0).is_of_step);
  EXPECT_EQ(contact_unsupported_reason({true}, oscillator(1.0, 1.0, -0.05), 20.0).text, "");
  const double w = std::sqrt(1.0 - 0.000625);
  EXPECT_TRUE(contact_unsupported_reason({true}, oscillator(1.0, 1.0, -0.05), M_PI / w).is_of_step);
  EXPECT_TRUE(contact_unsupported_reason({true}, oscillator(1.0, 1.0, -0.05), 3.0 * M_PI / w).is_of_step);
  const ParticleSystem uneven = contact_system(
      VectorXd{{1.0, 1.0}}, std::make_shared<QuadraticPotential>(MatrixXd{{1.5, 0.0}, {0.0, 3.0}}), -0.3);
  EXPECT_NE(contact_unsupported_reason({true}, uneven, 0.1).text, "");
  EXPECT_FALSE(contact_unsupported_reason({true}, uneven, 0.1).is_of_step);
}

}  // namespace
}  // namespace bathline::contact_lagrangian_test
