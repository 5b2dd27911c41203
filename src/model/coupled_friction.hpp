// White friction and noise on nonlinear couplings s(q).
//
//   force -D ds/dq (ds/dq . v) + ds/dq F,  <F(t) F(t')> = 2 D kT delta(t - t'),  for every component of s
//
// With masses the noise, which is multiplied by a function of the positions, has one meaning: that of Ito and that of
// Stratonovich are the same.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "model/attachment.hpp"
#include "model/force.hpp"
#include "model/noise_stream.hpp"
#include "model/thermal/temperature_in_time.hpp"

namespace bathline {

/// D in kg/s for a coupling in m, and kT in J.
struct CoupledDamper {
  Attachment attachment;
  double damping;
  double temperature;  // of the start
  std::shared_ptr<const TemperatureInTime> in_time = nullptr;
  double temperature_at(double t) const { return in_time ? std::max(in_time->at(t), 0.0) : temperature; }
};

/// The friction of all of them as one force, with another drag of the particles, and their noise.
class CoupledFriction final : public Force {
 public:
  /// Of a drag f(q, v); nullptr where there is none.
  explicit CoupledFriction(std::shared_ptr<const Force> other) : other_(std::move(other)) {}
  void add(CoupledDamper damper) { dampers_.push_back(std::move(damper)); }
  const std::vector<CoupledDamper>& dampers() const { return dampers_; }
  bool is_noisy() const;
  void begin_at(const Eigen::VectorXd& q0);

  /// At positions and velocities of the particles. The couplings do not depend on the time.
  void value(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::VectorXd& force) const override;
  void jacobians(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, Eigen::MatrixXd& by_q,
                 Eigen::MatrixXd& by_v) const override;

  /// Whether all of it is linear in the velocities.
  bool is_linear_in_velocities() const { return other_ == nullptr; }
  /// matrix += the sum of D ds/dq (ds/dq)^T at positions q.
  void add_damping(const Eigen::VectorXd& q, Eigen::Ref<Eigen::MatrixXd> matrix) const;

  NoiseStream& noise() { return noise_; }
  /// A standard normal number for each axis of each damper, one after the other; draws 0 and 1 are independent.
  std::span<const double> numbers(std::int64_t step, int draw);

 private:
  /// ds/dq of every damper, which is kept for further calls at the same positions.
  const std::vector<Eigen::MatrixXd>& gradients_at(const Eigen::VectorXd& q) const;

  std::shared_ptr<const Force> other_;
  std::vector<CoupledDamper> dampers_;
  mutable Eigen::VectorXd q_;
  mutable std::vector<Eigen::MatrixXd> gradients_;
  NoiseStream noise_;
};

}  // namespace bathline
