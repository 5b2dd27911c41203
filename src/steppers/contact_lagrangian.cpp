// Discrete Lagrangians of contact systems: by the midpoint rule, and exact ones of free particles and oscillators.
#include "steppers/contact_lagrangian.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "solve/linear_flow.hpp"

namespace bathline {

namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

class MidpointLagrangian final : public ContactLagrangian {
 public:
  MidpointLagrangian(const ParticleSystem& system, double h)
      : ContactLagrangian(1.0 + h * system.contact->gamma), mass_(system.mass), potential_(system.potential), h_(h) {}

  double value(const VectorXd& q, const VectorXd& dq) const override {
    return 0.5 * dq.dot(mass_.cwiseProduct(dq)) / h_ - h_ * potential_->value(q + 0.5 * dq);
  }
  VectorXd d1(const VectorXd& q, const VectorXd& dq) const override {
    return -mass_.cwiseProduct(dq) / h_ - 0.5 * h_ * gradient(q, dq);
  }
  VectorXd d2(const VectorXd& q, const VectorXd& dq) const override {
    return mass_.cwiseProduct(dq) / h_ - 0.5 * h_ * gradient(q, dq);
  }
  Hessians hessians(const VectorXd& q, const VectorXd& dq) const override {
    MatrixXd hessian(q.size(), q.size());
    potential_->hessian(q + 0.5 * dq, hessian);
    const MatrixXd kinetic = (mass_ / h_).asDiagonal(), potential_part = 0.25 * h_ * hessian;
    return {kinetic - potential_part, -kinetic - potential_part, kinetic - potential_part};
  }

 private:
  VectorXd gradient(const VectorXd& q, const VectorXd& dq) const {
    VectorXd result(q.size());
    potential_->gradient(q + 0.5 * dq, result);
    return result;
  }

  VectorXd mass_;
  std::shared_ptr<const Potential> potential_;
  double h_;
};

/// The k of V = m k |q|^2 / 2 in 1/s^2, or NaN for another potential.
double isotropic_stiffness(const ParticleSystem& system) {
  if (!system.potential->is_quadratic()) return std::numeric_limits<double>::quiet_NaN();
  MatrixXd hessian(system.size(), system.size());
  system.potential->hessian(system.q0, hessian);
  const double k = hessian(0, 0) / system.mass[0];
  const MatrixXd isotropic = (k * system.mass).asDiagonal();
  constexpr double round_off = 4.0 * std::numeric_limits<double>::epsilon();
  return hessian.isApprox(isotropic, round_off) ? k : std::numeric_limits<double>::quiet_NaN();
}

/// The numbers of the exact discrete Lagrangian. With Sn = sin(w h)/w and J(r), the integral of e^{r (h - s)} sin(w
/// s)/w over s from 0 to h, r = gamma/2,
///
///   a - c = -k J(r)/Sn,   b - c = -k e^{gamma h} J(-r)/Sn,   c = e^{r h}/Sn
///
/// since N = cos(w h) + r Sn - e^{r h} obeys dN/dh = r N - k Sn. J/h^2 and Sn/h are entries of one matrix exponential,
/// whatever the sign of w^2; the differences of cotangents would lose all digits for short steps.
struct ExactCoefficients {
  ExactCoefficients(double k, double gamma, double h) {
    const double r = 0.5 * gamma, square = k - r * r;
    const auto entries = [&](double rate) {
      const MatrixXd matrix{{rate * h, 1.0, 0.0}, {0.0, 0.0, 1.0}, {0.0, -square * h * h, 0.0}};
      const MatrixXd all = matrix_exponential(matrix);
      return std::pair(all(0, 2), all(1, 2));
    };
    const auto [forward, sine] = entries(r);
    c = std::exp(r * h) / sine / h;
    a_less_c = -k * h * (forward / sine);
    b_less_c = -k * h * (entries(-r).first / sine) * std::exp(gamma * h);
  }
  double a_less_c, b_less_c, c;
};

class ExactLagrangian final : public ContactLagrangian {
 public:
  ExactLagrangian(const ParticleSystem& system, double h)
      : ContactLagrangian(std::exp(system.contact->gamma * h)),
        mass_(system.mass),
        coefficients_(isotropic_stiffness(system), system.contact->gamma, h) {}

  double value(const VectorXd& q, const VectorXd& dq) const override {
    const auto square = [&](const VectorXd& x) { return x.dot(mass_.cwiseProduct(x)); };
    return 0.5 * (coefficients_.a_less_c * square(q + dq) + coefficients_.b_less_c * square(q) +
                  coefficients_.c * square(dq));
  }
  VectorXd d1(const VectorXd& q, const VectorXd& dq) const override {
    return mass_.cwiseProduct(coefficients_.b_less_c * q - coefficients_.c * dq);
  }
  VectorXd d2(const VectorXd& q, const VectorXd& dq) const override {
    return mass_.cwiseProduct(coefficients_.a_less_c * (q + dq) + coefficients_.c * dq);
  }
  Hessians hessians(const VectorXd&, const VectorXd&) const override {
    const MatrixXd mass = mass_.asDiagonal();
    return {(coefficients_.b_less_c + coefficients_.c) * mass, -coefficients_.c * mass,
            (coefficients_.a_less_c + coefficients_.c) * mass};
  }

 private:
  VectorXd mass_;
  ExactCoefficients coefficients_;
};

}  // namespace

UnsupportedContact contact_unsupported_reason(const HerglotzScheme& scheme, const ParticleSystem& system, double h) {
  const double gamma = system.contact->gamma;
  constexpr double roundoff = 4.0 * std::numeric_limits<double>::epsilon();
  if (!scheme.exact_lagrangian) {
    if (std::abs(1.0 + h * gamma) > roundoff) return {};
    return {.text = fmt::format("1 + h gamma = 0 for the step {} and gamma = {}: a step would set every momentum to "
                                "zero and have no inverse; choose another step",
                                h, gamma),
            .is_of_step = true};
  }
  const double k = isotropic_stiffness(system);
  if (std::isnan(k)) {
    return {
        "the exact discrete Lagrangian is known for free particles and harmonic oscillators only; choose "
        "lagrangian = \"midpoint\""};
  }
  const double square = k - 0.25 * gamma * gamma, angle = square > 0.0 ? std::sqrt(square) * h : 0.0;
  if (angle < 1.0 || std::abs(std::sin(angle)) > 1e-8 * angle) {
    if (std::isnormal(std::exp(gamma * h)) && std::isnormal(ExactCoefficients(k, gamma, h).c)) return {};
    return {.text = fmt::format("within the step {} motions grow or decay by factors that are no numbers; choose a "
                                "shorter step",
                                h),
            .is_of_step = true};
  }
  return {.text = fmt::format("the step {} is a multiple of half the period {}: after it all motions from q are at the "
                              "same point, so that no exact discrete Lagrangian exists; choose another step",
                              h, 2.0 * M_PI * h / angle),
          .is_of_step = true};
}

std::unique_ptr<ContactLagrangian> make_contact_lagrangian(const HerglotzScheme& scheme, const ParticleSystem& system,
                                                           double h) {
  if (scheme.exact_lagrangian) return std::make_unique<ExactLagrangian>(system, h);
  return std::make_unique<MidpointLagrangian>(system, h);
}

}  // namespace bathline
