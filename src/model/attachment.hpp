// How the head of an environment is attached to particles.
#pragma once

#include <Eigen/Dense>
#include <span>
#include <vector>

namespace bathline {

/// The head of an environment follows x = sum_a weight_a q_a (axis by axis), and its force F on the head acts as
/// weight_a F on particle a: e_a for a line on one particle, e_a - e_b for a line between two. Mass on the head moves
/// with x and is added to the particle's: momentum and kinetic energy of the particle include it.
class Attachment {
 public:
  struct Weight {
    int particle;
    double weight;
  };
  Attachment(std::vector<Weight> weights, int axes) : weights_(std::move(weights)), axes_(axes) {}

  int axes() const { return axes_; }
  /// Mass on the head, kg. Zero unless the head follows one particle: between two it would couple their momenta.
  double head_mass() const { return head_mass_; }
  void set_head_mass(double mass) { head_mass_ = mass; }
  /// masses[a, axis] += mass on the head.
  void add_head_mass(Eigen::VectorXd& masses) const {
    for (const Weight& w : weights_) {
      for (int axis = 0; axis < axes_; ++axis) masses[w.particle * axes_ + axis] += w.weight * w.weight * head_mass_;
    }
  }
  const std::vector<Weight>& weights() const { return weights_; }
  /// head[axis] = sum_a weight_a values[a, axis].
  void project(const Eigen::VectorXd& values, std::span<double> head) const {
    for (int axis = 0; axis < axes_; ++axis) {
      double sum = 0.0;
      for (const Weight& w : weights_) sum += w.weight * values[w.particle * axes_ + axis];
      head[axis] = sum;
    }
  }
  /// forces[a, axis] += weight_a force[axis].
  void distribute(std::span<const double> force, Eigen::Ref<Eigen::VectorXd> forces) const {
    for (const Weight& w : weights_) {
      for (int axis = 0; axis < axes_; ++axis) forces[w.particle * axes_ + axis] += w.weight * force[axis];
    }
  }
  /// matrix += value c c^T on every axis, c the vector of the weights.
  void add_outer(double value, Eigen::Ref<Eigen::MatrixXd> matrix) const {
    for (const Weight& v : weights_) {
      for (const Weight& w : weights_) {
        for (int axis = 0; axis < axes_; ++axis) {
          matrix(v.particle * axes_ + axis, w.particle * axes_ + axis) += value * v.weight * w.weight;
        }
      }
    }
  }

 private:
  std::vector<Weight> weights_;
  int axes_;
  double head_mass_ = 0.0;
};

}  // namespace bathline
