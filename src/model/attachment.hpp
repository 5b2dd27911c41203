// How the head of an environment is attached to particles.
#pragma once

#include <Eigen/Dense>
#include <span>
#include <utility>
#include <vector>

namespace bathline {

/// The head of an environment follows x = c.q, one linear combination of the coordinates q for each axis, and its force
/// F on the head acts as c F on the coordinates. On one particle these are its coordinates, axis by axis; between two
/// particles their differences; by `couple` any combinations. Mass on the head moves with x and is added to the
/// particle's: momentum and kinetic energy of the particle include it.
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
};

}  // namespace bathline
