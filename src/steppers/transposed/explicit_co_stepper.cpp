// Splittings: their substeps in reverse order, transposed.
//
//   drift                    beta += w h M^-1 alpha
//   kick, velocity before    mu = beta,  alpha += w h (f_q^T mu + l_q),  beta += w h M^-1 (f_v^T mu + l_v)
//   kick, velocity after     mu = (1 - w h f_v M^-1)^-T (beta + w h M^-1 l_v),  beta = mu,  alpha likewise
//
// In a magnetic field drifts are gyrations, with the transposes of their matrices.
// Tested by tests/costates/costates_test.cpp.

#include "model/gyration.hpp"
#include "model/lumped/lumped.hpp"
#include "solve/dense.hpp"
#include "steppers/transposed/co_stepper.hpp"
#include "steppers/time_blocking.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;

/// Of N degrees of freedom, or any number.
template <int N>
class ExplicitCoStepper final : public CoStepper {
  using Vector = Eigen::Matrix<double, N, 1>;
  using Square = Eigen::Matrix<double, N, N>;

 public:
  ExplicitCoStepper(const ExplicitScheme& scheme, const FinishedRun& run, Problem& environments,
                    PathFunctional& functional)
      : scheme_(scheme),
        reversed_(reversed(scheme_)),
        problem_(run.problem),
        path_(run.path),
        h_(run.h),
        is_end_free_(run.is_end_free),
        depends_on_velocity_(run.problem.depends_on_velocity()),
        step_(run.steps),
        functional_(functional),
        points_(run),
        forces_(run.problem),
        mass_(run.problem.system().mass),
        inverse_mass_(mass_.cwiseInverse()) {
    const Eigen::Index size = problem_.q.size();
    state_.mass = state_.origin = Vector::Zero(size);
    slopes_ = {state_.mass, state_.origin};
    undamped_.resize(scheme_.substeps.size());
    for (std::size_t i = 0; i < scheme_.substeps.size(); ++i) {
      const Substep& substep = scheme_.substeps[i];
      kicks_before_.push_back(kicks_);
      if (substep.kind == Substep::Kind::kick) ++kicks_;
      const double field = problem_.system().magnetic_field;
      if (field != 0.0) gyrations_.emplace_back(field, problem_.system().mass, substep.weight * h_);
      if (forces_.is_by_v_constant()) {
        undamped_[i] = undamped(substep.weight * h_, -problem_.damping().transpose());
      }
    }
    for (Environment* environment : environments.stepped_environments()) {
      const Attachment& attachment = environment->attachment();
      const std::vector<double> zeros(static_cast<std::size_t>(attachment.axes()));
      steppers_.push_back(environment->explicit_stepper(reversed_, h_));
      heads_.push_back({&attachment, attachment.first_coordinate(), zeros, zeros, zeros});
      auto* lumped = dynamic_cast<LumpedEnvironment*>(environment);
      if (lumped != nullptr && lumped->properties().loses_energy) decaying_.push_back(lumped);
    }
  }

  std::optional<Failure> pull_back(std::int64_t steps, Costate& costate) override {
    const bool is_root = problem_.communicator().is_root();
    if (is_root) {
      state_.alpha = costate.alpha;
      state_.beta = costate.beta;
    }
    advance_in_blocks(steppers_, steps, {}, [&](int block) {
      for (std::int64_t left = is_root ? block : 0; left > 0;) {
        const std::int64_t count = std::min(left, points_.steps_at_once());
        pull_back_on_root(count);
        left -= count;
      }
    });
    if (!is_root) return std::nullopt;
    costate = {state_.alpha, state_.beta};
    slopes_ = {state_.mass, state_.origin, state_.step};
    return std::nullopt;
  }

 private:
  /// Costates and slopes, and vectors that are used within a substep. For few degrees of freedom all are in registers.
  struct State {
    Vector alpha, beta, mass, origin;
    double step = 0.0;
    Vector mu, force, change;
  };
  struct Head {
    const Attachment* attachment;
    Eigen::Index first;  // its first_coordinate()
    std::vector<double> x, v, force;
    operator HeadMotion() const { return {x, v}; }
  };

  /// A column of a matrix, or a vector of the path.
  static Eigen::Map<const Vector> vector(const double* first, Eigen::Index size) { return {first, size}; }
  static Eigen::Map<const Vector> column(const Eigen::MatrixXd& matrix, Eigen::Index index) {
    return vector(matrix.data() + index * matrix.rows(), matrix.rows());
  }
  static Eigen::Map<const Vector> fixed(const RecordedPath::Vector& v) { return vector(v.data(), v.size()); }

  void pull_back_on_root(std::int64_t steps) {
    const ForcePoints& points = points_.of_steps(step_ - steps, steps);
    forces_.begin(points);
    has_cost_ = functional_.slopes(points, cost_by_q_, cost_by_v_);
    by_force_.resize(points.q.rows(), points.q.cols());
    State state = state_;
    Eigen::Index point = points.q.cols();
    for (std::int64_t left = steps; left > 0; --left) {
      --step_;
      if (!decaying_.empty()) decay(state);
      for (std::size_t i = scheme_.substeps.size(); i-- > 0;) {
        if (scheme_.substeps[i].kind == Substep::Kind::drift) {
          drift(i, state);
        } else {
          kick(i, --point, points, state);
        }
      }
      if (!decaying_.empty()) decay(state);
    }
    state_ = state;
    functional_.collect(points, by_force_);
  }

  /// Index in the path of the last kick before substep `index` of the current step.
  std::size_t point_before(std::size_t index) const {
    return static_cast<std::size_t>(step_) * kicks_ + kicks_before_[index];
  }

  void set_heads(const Vector& beta, const Vector& velocity) {
    for (Head& head : heads_) {
      if (head.first < 0) {
        head.attachment->project(beta, head.x);
        head.attachment->project(velocity, head.v);
        continue;
      }
      for (std::size_t axis = 0; axis < head.x.size(); ++axis) {
        head.x[axis] = beta[head.first + static_cast<Eigen::Index>(axis)];
        head.v[axis] = velocity[head.first + static_cast<Eigen::Index>(axis)];
      }
    }
  }

  void advance_environments(std::size_t index) {
    const Substep& backwards = reversed_.substeps[reversed_.substeps.size() - 1 - index];
    for (std::size_t e = 0; e < heads_.size(); ++e) steppers_[e]->substep(backwards, heads_[e]);
  }

  /// The exact flow of lumped environments that decay, half of which is before and half after each step.
  void decay(State& state) {
    for (LumpedEnvironment* environment : decaying_) {
      force_on_head_.clear();
      for (LumpedEnvironment::Axis& axis : environment->axes()) {
        force_on_head_.push_back(environment->apply_transposed_flow(0.5 * h_, axis));
      }
      head_force_.setZero(state.alpha.size());
      environment->attachment().distribute(force_on_head_, head_force_);
      state.alpha += head_force_;
      state.origin -= head_force_;
    }
  }

  [[gnu::always_inline]] void drift(std::size_t index, State& state) {
    const double weight = scheme_.substeps[index].weight, seconds = weight * h_;
    const auto v = fixed(path_.v(point_before(index)));
    state.change = inverse_mass_.cwiseProduct(state.alpha);
    state.mass -= seconds * state.change.cwiseProduct(v);
    if constexpr (N == Eigen::Dynamic) {
      if (!gyrations_.empty()) return gyrate(index, state);
    }
    if (is_end_free_) state.step += weight * state.alpha.dot(v);
    if (!heads_.empty()) set_heads(state.beta, state.change);
    state.beta += seconds * state.change;
    if (!heads_.empty()) advance_environments(index);
  }

  /// A drift in a magnetic field.
  void gyrate(std::size_t index, State& state) {
    const double weight = scheme_.substeps[index].weight, seconds = weight * h_;
    VectorXd velocity = state.change, after = state.beta;
    // alpha.v + beta.(B J v) is the same at both ends, of which one is at a kick.
    const auto rate = [&](const VectorXd& beta, const VectorXd& velocity_there) {
      return state.alpha.dot(velocity_there) +
             beta.dot(magnetic_force(problem_.system().magnetic_field, velocity_there));
    };
    const bool is_after_kick = kicks_before_[index] > 0;
    if (is_end_free_ && !is_after_kick) state.step += weight * rate(after, path_.v_before(point_before(index) + 1));
    gyrations_[index].pull_back(state.alpha, after);
    if (is_end_free_ && is_after_kick) state.step += weight * rate(after, path_.v(point_before(index)));
    if (seconds != 0.0) velocity = (after - state.beta) / seconds;
    set_heads(state.beta, velocity);
    state.beta = after;
    advance_environments(index);
  }

  [[gnu::always_inline]] void kick(std::size_t index, Eigen::Index point, const ForcePoints& points, State& state) {
    const Substep& substep = scheme_.substeps[index];
    const double seconds = substep.weight * h_;
    forces_.go_to(point);
    if (substep.velocity_after) {
      if (has_cost_) state.beta += seconds * inverse_mass_.cwiseProduct(column(cost_by_v_, point));
      if (depends_on_velocity_) {
        if (!forces_.is_by_v_constant()) undamped_[index] = undamped(seconds, forces_.template by_v<Square>());
        state.mu.noalias() = undamped_[index].lazyProduct(state.beta);
        state.beta.swap(state.mu);
      }
    }
    state.mu = state.beta;
    Eigen::Map<Vector>(by_force_.data() + point * by_force_.rows(), by_force_.rows()) = seconds * state.mu;
    if (is_end_free_) {
      const std::size_t here = point_before(index) + 1;
      state.step += 1.0 / h_ * state.mu.dot(mass_.cwiseProduct(fixed(path_.v(here)) - fixed(path_.v_before(here))));
    }
    if (heads_.empty()) {
      state.force.setZero(state.mu.size());
    } else {
      state.change = inverse_mass_.cwiseProduct(state.alpha);
      set_heads(state.mu, state.change);
      state.force.setZero(state.mu.size());
      add_forces_of_environments(state.force);
      state.origin -= seconds * state.force;
    }
    forces_.add_by_q(state.mu, state.force);
    if (has_cost_) state.force += column(cost_by_q_, point);
    state.alpha += seconds * state.force;
    if (depends_on_velocity_ || has_cost_) {
      state.change.setZero(state.mu.size());
      if (depends_on_velocity_) state.change.noalias() = forces_.template by_v<Square>().lazyProduct(state.mu);
      if (has_cost_) state.change += column(cost_by_v_, point);
      state.change.array() *= seconds * inverse_mass_.array();
      state.mass -= state.change.cwiseProduct(column(points.v, point));
      if (!substep.velocity_after) state.beta += state.change;
    }
    if (!heads_.empty()) advance_environments(index);
  }

  void add_forces_of_environments(Vector& forces) {
    for (std::size_t e = 0; e < heads_.size(); ++e) {
      Head& head = heads_[e];
      steppers_[e]->force(head, head.force);
      if (head.first < 0) head.attachment->distribute(head.force, Eigen::Map<VectorXd>(forces.data(), forces.size()));
      for (std::size_t axis = 0; axis < head.force.size() && head.first >= 0; ++axis) {
        forces[head.first + static_cast<Eigen::Index>(axis)] += head.force[axis];
      }
    }
  }

  /// (1 - seconds f_v M^-1)^-T, given f_v^T.
  template <class Matrix>
  Square undamped(double seconds, const Matrix& by_v) const {
    Square matrix = -seconds * inverse_mass_.asDiagonal() * by_v;
    matrix.diagonal().array() += 1.0;
    if (matrix.size() == 1) return matrix.cwiseInverse();
    return inverse(matrix);
  }

  ExplicitScheme scheme_, reversed_;
  const Problem& problem_;
  const RecordedPath& path_;
  double h_;
  bool is_end_free_, depends_on_velocity_, has_cost_ = false;
  std::int64_t step_;
  std::size_t kicks_ = 0;                  // in a step
  std::vector<std::size_t> kicks_before_;  // by substep
  PathFunctional& functional_;
  PathPoints points_;
  TransposedForces forces_;
  Vector mass_, inverse_mass_;
  State state_;
  ExplicitEnvironmentSteppers steppers_;
  std::vector<Head> heads_;
  std::vector<LumpedEnvironment*> decaying_;
  std::vector<Gyration> gyrations_;  // by substep
  std::vector<double> force_on_head_;
  std::vector<Square> undamped_;                      // by substep, of kicks with the velocity after them
  Eigen::MatrixXd cost_by_q_, cost_by_v_, by_force_;  // a column for each point
  VectorXd head_force_;
};

template <int N>
std::unique_ptr<CoStepper> make_with(const ExplicitScheme& scheme, const FinishedRun& run, Problem& environments,
                                     PathFunctional& functional) {
  constexpr int most = 4;
  if constexpr (N <= most) {
    if (run.problem.q.size() > N) return make_with<N + 1>(scheme, run, environments, functional);
    if (run.problem.system().magnetic_field == 0.0)
      return std::make_unique<ExplicitCoStepper<N>>(scheme, run, environments, functional);
  }
  return std::make_unique<ExplicitCoStepper<Eigen::Dynamic>>(scheme, run, environments, functional);
}

}  // namespace

std::unique_ptr<CoStepper> make_explicit_co_stepper(const ExplicitScheme& scheme, const FinishedRun& run,
                                                    Problem& environments, PathFunctional& functional) {
  return make_with<1>(scheme, run, environments, functional);
}

}  // namespace bathline
