// How the head of an environment is attached to particles.
#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "model/formula/coupling.hpp"

namespace bathline {

/// The head of an environment follows x = c.(q - q0), one linear combination of the coordinates for each axis, and its
/// force F on the head acts as c F on the coordinates. On one particle these are its coordinates, axis by axis; between
/// two particles their differences; by `couple` any combinations, or x = s(q, t) - s(q0, 0) with the force F ds/dq;
/// by `around` x = s(q, t) - around.
/// Mass on the head moves with x and is added to the particle's: momentum and kinetic energy of the particle include
/// it.
class Attachment {
 public:
  /// A particle, and its weight on every axis.
  struct Weight {
    int particle;
    double weight;
  };
  /// The weight of one coordinate (degree of freedom) in one axis of the head.
  struct Term {
    int coordinate;
    int axis;
    double weight;
    bool operator==(const Term&) const = default;
  };
  Attachment(const std::vector<Weight>& weights, int axes) : axes_(axes) {
    for (int axis = 0; axis < axes; ++axis) {
      for (const Weight& w : weights) terms_.push_back({w.particle * axes + axis, axis, w.weight});
    }
  }
  static Attachment of_terms(std::vector<Term> terms, int axes) {
    Attachment attachment(std::vector<Weight>(), axes);
    attachment.terms_ = std::move(terms);
    return attachment;
  }

  int axes() const { return axes_; }
  /// nullptr where x is linear in q. Otherwise all terms, and what is linear in them, are those of ds/dq at the start.
  const Coupling* nonlinear() const { return coupling_.get(); }
  void set_nonlinear(std::shared_ptr<const Coupling> coupling) { coupling_ = std::move(coupling); }
  /// The value of s, in place of that at the start, from which x is measured. Nonlinear ones only.
  const std::optional<double>& around() const { return around_; }
  void set_around(double around) { around_ = around; }
  /// s where x is 0, by axis. Nonlinear ones only.
  const std::vector<double>& origin() const { return origin_; }
  /// Sets q0, from which x is measured.
  void begin_at(const Eigen::VectorXd& q0) {
    q0_ = q0;
    displacement_.resize(q0.size());
    if (!coupling_) return;
    origin_.resize(static_cast<std::size_t>(axes_));
    gradient_.resize(origin_.size() * static_cast<std::size_t>(q0.size()));
    coupling_->value(q0.data(), 0.0, origin_);
    if (around_) std::fill(origin_.begin(), origin_.end(), *around_);
  }
  /// The positions from which x is measured. Linear ones only.
  const Eigen::VectorXd& start() const { return q0_; }
  /// x at positions q.
  void position(const Eigen::VectorXd& q, double t, std::span<double> x) const {
    if (!coupling_) {
      displacement_.noalias() = q - q0_;
      project(displacement_, x);
      return;
    }
    coupling_->value(q.data(), t, x);
    for (std::size_t axis = 0; axis < origin_.size(); ++axis) x[axis] -= origin_[axis];
  }
  /// ds/dq v at positions q.
  void velocity(const Eigen::VectorXd& q, const Eigen::VectorXd& v, double t, std::span<double> velocity) const {
    if (!coupling_) return project(v, velocity);
    const auto gradient = gradient_at(q, t);
    Eigen::Map<Eigen::VectorXd>(velocity.data(), axes_).noalias() = gradient.transpose() * v;
  }
  /// forces += F ds/dq at positions q.
  void distribute(const Eigen::VectorXd& q, double t, std::span<const double> force, Eigen::VectorXd& forces) const {
    if (!coupling_) return distribute(force, forces);
    const auto gradient = gradient_at(q, t);
    forces.noalias() += gradient * Eigen::Map<const Eigen::VectorXd>(force.data(), axes_);
  }
  /// x and ds/dq, a column for each axis. Nonlinear ones only.
  void position_and_gradient(const Eigen::VectorXd& q, double t, std::vector<double>& x,
                             Eigen::Ref<Eigen::MatrixXd> gradient) const {
    both_.resize(origin_.size() + gradient_.size());
    coupling_->value_and_gradient(q.data(), t, both_.data());
    x.resize(origin_.size());
    for (std::size_t axis = 0; axis < origin_.size(); ++axis) x[axis] = both_[axis] - origin_[axis];
    gradient = Eigen::Map<const Eigen::MatrixXd>(both_.data() + origin_.size(), q.size(), axes_);
  }
  /// ds/dq, a column for each axis; valid until the next call. Nonlinear ones only.
  Eigen::Map<const Eigen::MatrixXd> gradient_at(const Eigen::VectorXd& q, double t) const {
    coupling_->gradient(q.data(), t, gradient_.data());
    return {gradient_.data(), q.size(), axes_};
  }
  /// Mass on the head, kg. Zero unless the head follows one particle: otherwise it would couple their momenta.
  double head_mass() const { return head_mass_; }
  void set_head_mass(double mass) { head_mass_ = mass; }
  /// Whether inerters connect the sites to the particle of negative weight, so that its canonical momentum contains
  /// theirs.
  bool carries_sites() const { return carries_sites_; }
  void set_carries_sites() { carries_sites_ = true; }
  /// masses[coordinate] += mass on the head.
  void add_head_mass(Eigen::VectorXd& masses) const {
    for (const Term& term : terms_) masses[term.coordinate] += term.weight * term.weight * head_mass_;
  }
  const std::vector<Term>& terms() const { return terms_; }
  /// The first coordinate where the axes of the head are this and the following ones; else -1.
  int first_coordinate() const {
    if (terms_.empty()) return -1;
    const int first = terms_.front().coordinate;
    for (int axis = 0; axis < axes_; ++axis) {
      if (terms_.size() != static_cast<std::size_t>(axes_)) return -1;
      if (terms_[static_cast<std::size_t>(axis)] != Term{first + axis, axis, 1.0}) return -1;
    }
    return first;
  }
  /// head[axis] = sum of weight values[coordinate].
  void project(const Eigen::VectorXd& values, std::span<double> head) const {
    for (int axis = 0; axis < axes_; ++axis) head[axis] = 0.0;
    for (const Term& term : terms_) head[term.axis] += term.weight * values[term.coordinate];
  }
  /// forces[coordinate] += weight force[axis].
  void distribute(std::span<const double> force, Eigen::Ref<Eigen::VectorXd> forces) const {
    for (const Term& term : terms_) forces[term.coordinate] += term.weight * force[term.axis];
  }
  /// matrix += value c c^T, summed over the axes.
  void add_outer(double value, Eigen::Ref<Eigen::MatrixXd> matrix) const {
    for (const Term& a : terms_) {
      for (const Term& b : terms_) {
        if (a.axis == b.axis) matrix(a.coordinate, b.coordinate) += value * a.weight * b.weight;
      }
    }
  }

 private:
  std::vector<Term> terms_;
  int axes_;
  double head_mass_ = 0.0;
  bool carries_sites_ = false;
  std::shared_ptr<const Coupling> coupling_;
  Eigen::VectorXd q0_;
  std::optional<double> around_;
  std::vector<double> origin_;
  mutable Eigen::VectorXd displacement_;
  mutable std::vector<double> gradient_, both_;
};

}  // namespace bathline
