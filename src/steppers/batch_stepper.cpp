// Explicit steps of many realisations of a few particles at once: the operations of a single realisation, on SIMD
// registers.
// Tested by tests/steppers/batch_stepper_test.cpp.
#include "steppers/batch_stepper.hpp"

#include <algorithm>

#include "steppers/splitting_kernel.hpp"
#include "model/batched_derivatives.hpp"

namespace bathline {

namespace {

/// A vector for each realisation: component i of realisation r has the index i * max_realisations + r.
template <int N>
struct alignas(sizeof(SimdDouble)) Table {
  double values[static_cast<std::size_t>(N) * BatchStepper::max_realisations];

  double* row(int dof) { return values + static_cast<std::size_t>(dof) * BatchStepper::max_realisations; }
  FixedVector<N, SimdDouble> read(int first) {
    FixedVector<N, SimdDouble> x;
    for (int i = 0; i < N; ++i) x[i] = load(row(i) + first);
    return x;
  }
  void write(const FixedVector<N, SimdDouble>& x, int first) {
    for (int i = 0; i < N; ++i) store(x[i], row(i) + first);
  }
};

/// The gradients of a potential at the positions of all realisations.
template <int N>
class Gradients {
 public:
  explicit Gradients(const Potential& potential)
      : potential_(potential), batched_(dynamic_cast<const BatchedGradient*>(&potential)), position_(N), gradient_(N) {
    if (dynamic_cast<const QuadraticPotential*>(&potential) == nullptr) return;
    Eigen::MatrixXd matrix;
    potential.hessian(position_, matrix);
    stiffness_.emplace(matrix);
  }

  void evaluate(Table<N>& q, int count, Table<N>& gradients) {
    if (stiffness_) {
      for (int first = 0; first < count; first += simd_width) {
        const FixedVector<N, SimdDouble> position = q.read(first);
        for (int i = 0; i < N; ++i) store(stiffness_->times(position, i), gradients.row(i) + first);
      }
    } else if (batched_ != nullptr) {
      batched_->gradients(N, static_cast<int>(BatchStepper::max_realisations), q.values, gradients.values);
    } else {
      for (int r = 0; r < count; ++r) {
        for (int i = 0; i < N; ++i) position_[i] = q.row(i)[r];
        potential_.gradient(position_, gradient_);
        for (int i = 0; i < N; ++i) gradients.row(i)[r] = gradient_[i];
      }
    }
  }

 private:
  const Potential& potential_;
  const BatchedGradient* batched_;  // nullptr where the potential has no batched gradient
  std::optional<FixedMatrix<N>> stiffness_;
  Eigen::VectorXd position_, gradient_;
};

template <int N>
class SplittingBatchStepper final : public BatchStepper {
 public:
  SplittingBatchStepper(const ExplicitScheme& scheme, std::span<Problem> problems, double h)
      : problems_(problems),
        is_damped_(problems.front().is_damped()),
        is_noisy_(is_damped_ && problems.front().noise() != nullptr),
        substep_ops_(substep_ops<N>(is_damped_ ? scheme : scheme.merged(), problems.front(), h)),
        damped_kick_(problems.front()),
        potential_force_(*problems.front().system().potential),
        count_((static_cast<int>(problems.size()) + simd_width - 1) / simd_width * simd_width) {
    for (Problem& problem : problems) problem.clock.h = h;
  }

  void advance(std::int64_t steps) override {
    load_state();
    if (is_noisy_) {
      advance_with<Drag::noisy>(steps);
    } else {
      is_damped_ ? advance_with<Drag::plain>(steps) : advance_with<Drag::none>(steps);
    }
    store_state();
  }

 private:
  enum class Drag { none, plain, noisy };
  /// Steps whose impulses are drawn together.
  static constexpr int steps_per_draw = 16;

  /// Lanes without a realisation repeat the last one.
  void load_state() {
    for (int r = 0; r < static_cast<int>(max_realisations); ++r) {
      const Problem& problem = problems_[std::min(static_cast<std::size_t>(r), problems_.size() - 1)];
      for (int i = 0; i < N; ++i) {
        q_.row(i)[r] = problem.q[i];
        p_.row(i)[r] = problem.p[i];
      }
      dissipated_.values[r] = problem.dissipated;
    }
    is_gradient_current_ = false;
  }
  void store_state() {
    for (std::size_t r = 0; r < problems_.size(); ++r) {
      for (int i = 0; i < N; ++i) {
        problems_[r].q[i] = q_.row(i)[r];
        problems_[r].p[i] = p_.row(i)[r];
      }
      problems_[r].dissipated = dissipated_.values[r];
    }
  }

  template <Drag drag>
  void advance_with(std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step) {
      if constexpr (drag == Drag::noisy) {
        if (step % steps_per_draw == 0)
          draw_impulses(step, static_cast<int>(std::min<std::int64_t>(steps_per_draw, steps - step)));
        impulse_ = &impulses_[static_cast<std::size_t>(step % steps_per_draw)];
      }
      for (const SubstepOp<N>& op : substep_ops_) op.is_kick ? kick<drag>(op) : drift(op);
    }
    for (Problem& problem : problems_) problem.clock.steps += steps;
  }

  /// Draws the impulses of `count` steps, the first of them `step` steps after the problems' clocks, one realisation
  /// after the other: only then is the noise of a realisation in the first-level cache.
  void draw_impulses(std::int64_t step, int count) {
    for (std::size_t r = 0; r < problems_.size(); ++r) {
      Problem& problem = problems_[r];
      problem.noise()->impulses(problem.clock.steps + step, count, problem.clock.h, [&](int k, int i, double impulse) {
        impulses_[static_cast<std::size_t>(k)].row(i)[r] = impulse;
      });
    }
  }

  // The loops over registers use local copies, which no store can alias.

  void drift(const SubstepOp<N>& op) {
    const double seconds = op.duration;
    const DampedKick<N> damped_kick = damped_kick_;
    for (int first = 0; first < count_; first += simd_width) {
      FixedVector<N, SimdDouble> q = q_.read(first);
      const FixedVector<N, SimdDouble> velocity = damped_kick.velocity(p_.read(first));
      for (int i = 0; i < N; ++i) q[i] += seconds * velocity[i];
      q_.write(q, first);
    }
    is_gradient_current_ = false;
  }

  template <Drag drag>
  void kick(const SubstepOp<N>& op) {
    if (!is_gradient_current_) potential_force_.evaluate(q_, count_, gradients_);
    is_gradient_current_ = true;
    const SubstepOp<N> local_op = op;
    const DampedKick<N> damped_kick = damped_kick_;
    for (int first = 0; first < count_; first += simd_width) {
      FixedVector<N, SimdDouble> p = p_.read(first), force = gradients_.read(first);
      for (int i = 0; i < N; ++i) force[i] = -force[i];
      if constexpr (drag == Drag::none) {
        for (int i = 0; i < N; ++i) p[i] += local_op.duration * force[i];
      } else {
        FixedVector<N, SimdDouble> impulse{};
        if constexpr (drag == Drag::noisy) impulse = impulse_->read(first);
        SimdDouble dissipated = load(dissipated_.values + first);
        damped_kick.template kick<drag == Drag::noisy, false>(local_op, force, impulse, p, dissipated);
        store(dissipated, dissipated_.values + first);
      }
      p_.write(p, first);
    }
  }

  std::span<Problem> problems_;
  bool is_damped_, is_noisy_;
  std::vector<SubstepOp<N>> substep_ops_;
  DampedKick<N> damped_kick_;
  Gradients<N> potential_force_;
  int count_;  // realisations, rounded up to whole registers
  Table<N> q_{}, p_{}, gradients_{};
  std::array<Table<N>, steps_per_draw> impulses_{};
  Table<N>* impulse_ = nullptr;  // of the current step
  Table<1> dissipated_{};
  bool is_gradient_current_ = false;  // whether gradients_ are those at q_
};

template <int N>
std::unique_ptr<BatchStepper> make_with(const ExplicitScheme& scheme, std::span<Problem> problems, double h) {
  if constexpr (N > 4) {
    return nullptr;
  } else {
    if (problems.front().q.size() > N) return make_with<N + 1>(scheme, problems, h);
    return std::make_unique<SplittingBatchStepper<N>>(scheme, problems, h);
  }
}

}  // namespace

std::unique_ptr<BatchStepper> make_batch_stepper(const ExplicitScheme& scheme, std::span<Problem> problems, double h) {
  const Problem& problem = problems.front();
  if (!is_plain_splitting(scheme, problem) || !problem.stepped_environments().empty() ||
      !problem.coupled_friction().dampers().empty())
    return nullptr;
  return make_with<1>(scheme, problems, h);
}

}  // namespace bathline
