// The path of the particles at the evaluations of their forces.
#pragma once

#include <Eigen/Core>
#include <memory>
#include <vector>

#include "steppers/stepper.hpp"

namespace bathline {

/// By kick, or by stage of an implicit step, in their order: the positions, and the velocities after the kick or of the
/// stage; all, or from one of them on.
class RecordedPath {
 public:
  explicit RecordedPath(Eigen::Index size) : size_(size) {}
  using Vector = Eigen::Map<const Eigen::VectorXd>;

  void add(const Eigen::VectorXd& q, const Eigen::VectorXd& v) {
    values_.insert(values_.end(), q.begin(), q.end());
    values_.insert(values_.end(), v.begin(), v.end());
  }
  /// Forgets all points; the next one has the index `first`.
  void begin_at(std::size_t first) {
    values_.clear();
    first_ = first;
  }
  void reserve(std::size_t points) { values_.reserve(2 * points * static_cast<std::size_t>(size_)); }
  /// One more than the index of the last.
  std::size_t points() const { return first_ + values_.size() / static_cast<std::size_t>(2 * size_); }
  Vector q(std::size_t point) const {
    return {values_.data() + 2 * (point - first_) * static_cast<std::size_t>(size_), size_};
  }
  Vector v(std::size_t point) const { return {q(point).data() + size_, size_}; }

 private:
  Eigen::Index size_;
  std::size_t first_ = 0;
  std::vector<double> values_;
};

/// Steppers that add the points of the path to `path`, which must outlive them, on rank 0; of splittings without stages
/// of a Runge-Kutta method, and of pairs. @note Collective.
std::unique_ptr<Stepper> make_explicit_stepper(const ExplicitScheme& scheme, Problem& problem, double h,
                                               RecordedPath& path);
std::unique_ptr<Stepper> make_implicit_stepper(const PartitionedRungeKutta& scheme, Problem& problem, double h,
                                               RecordedPath& path);
/// The one of the two that belongs to the scheme.
std::unique_ptr<Stepper> make_recording_stepper(const Scheme& scheme, Problem& problem, double h, RecordedPath& path);

}  // namespace bathline
