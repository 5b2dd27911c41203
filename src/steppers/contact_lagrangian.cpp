// Discrete Lagrangians of contact systems: by the midpoint rule, and exact ones of free particles and oscillators.
#include "steppers/contact_lagrangian.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

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
  return hessian == isotropic ? k : std::numeric_limits<double>::quiet_NaN();
}

/// w cot(w h) and w / sin(w h) for w^2 = `square` of either sign.
struct Oscillation {
  Oscillation(double square, double h) {
    const double w = std::sqrt(std::abs(square)), angle = w * h;
    if (angle < 1e-8) {
      cotangent = cosecant = 1.0 / h;  // with a relative error of (w h)^2
    } else if (square > 0.0) {
      cotangent = w * std::cos(angle) / std::sin(angle);
      cosecant = w / std::sin(angle);
    } else {
      cotangent = w / std::tanh(angle);
      cosecant = w / std::sinh(angle);
    }
  }
  double cotangent, cosecant;
};

class ExactLagrangian final : public ContactLagrangian {
 public:
  ExactLagrangian(const ParticleSystem& system, double h)
      : ContactLagrangian(std::exp(system.contact->gamma * h)), mass_(system.mass) {
    const double gamma = system.contact->gamma, k = isotropic_stiffness(system);
    const Oscillation oscillation(k - 0.25 * gamma * gamma, h);
    c_ = std::exp(0.5 * gamma * h) * oscillation.cosecant;
    // Without stiffness a = b = c; the differences are zero exactly, as a free particle may be far from the origin.
    if (k == 0.0) return;
    a_less_c_ = oscillation.cotangent + 0.5 * gamma - c_;
    b_less_c_ = sigma() * (oscillation.cotangent - 0.5 * gamma) - c_;
  }

  double value(const VectorXd& q, const VectorXd& dq) const override {
    const auto square = [&](const VectorXd& x) { return x.dot(mass_.cwiseProduct(x)); };
    return 0.5 * (a_less_c_ * square(q + dq) + b_less_c_ * square(q) + c_ * square(dq));
  }
  VectorXd d1(const VectorXd& q, const VectorXd& dq) const override {
    return mass_.cwiseProduct(b_less_c_ * q - c_ * dq);
  }
  VectorXd d2(const VectorXd& q, const VectorXd& dq) const override {
    return mass_.cwiseProduct(a_less_c_ * (q + dq) + c_ * dq);
  }
  Hessians hessians(const VectorXd&, const VectorXd&) const override {
    const MatrixXd mass = mass_.asDiagonal();
    return {(b_less_c_ + c_) * mass, -c_ * mass, (a_less_c_ + c_) * mass};
  }

 private:
  VectorXd mass_;
  double a_less_c_ = 0.0, b_less_c_ = 0.0, c_;
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
  if (angle < 1.0 || std::abs(std::sin(angle)) > 1e-8 * angle) return {};
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
