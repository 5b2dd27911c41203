// The path of the particles at the evaluations of their forces.
// Tested by tests/costates/gradient_test.cpp.
#pragma once
#include <Eigen/Core>
#include <algorithm>
#include <memory>
#include <vector>

#include "steppers/stepper.hpp"

namespace bathline {

/// By kick, or by stage of an implicit step, in their order: the positions, and the velocities before and after the
/// kick, or of the stage; all, or from one of them on.
class RecordedPath {
 public:
  using Vector = Eigen::Map<const Eigen::VectorXd>;
  using State = Eigen::Ref<const Eigen::VectorXd>;
  /// Of N = `size` degrees of freedom; `has_gyrations`: whether drifts change velocities, as in a magnetic field.
  explicit RecordedPath(Eigen::Index size, bool has_gyrations = false)
      : size_(size), stride_(static_cast<std::size_t>(has_gyrations ? 3 * size : 2 * size)) {}

  /// The velocities before a kick are stored only where they are not those after the last one.
  void add(const State& q, const State& v_before, const State& v) {
    values_.insert(values_.end(), q.begin(), q.end());
    values_.insert(values_.end(), v.begin(), v.end());
    if (has_gyrations()) values_.insert(values_.end(), v_before.begin(), v_before.end());
  }
  /// Adds points, whose numbers, those of q before those of v, are to be written to the address; without gyrations.
  double* append(std::size_t points) {
    values_.resize(values_.size() + points * stride_);
    return values_.data() + values_.size() - points * stride_;
  }
  void add(const State& q, const State& v) { add(q, v, v); }
  /// Forgets all points; the next one has the index `first`, and `points` are expected.
  void begin_at(std::size_t first, std::size_t points) {
    values_.clear();
    values_.reserve(points * stride_);
    first_ = first;
  }
  /// One more than the index of the last.
  std::size_t points() const { return first_ + values_.size() / stride_; }
  Vector q(std::size_t point) const { return {values_.data() + (point - first_) * stride_, size_}; }
  Vector v(std::size_t point) const { return {q(point).data() + size_, size_}; }
  /// Of every point but the first.
  Vector v_before(std::size_t point) const {
    return has_gyrations() ? Vector(q(point).data() + 2 * size_, size_) : v(point - 1);
  }

 private:
  bool has_gyrations() const { return stride_ > static_cast<std::size_t>(2 * size_); }

  Eigen::Index size_;
  std::size_t stride_, first_ = 0;
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
