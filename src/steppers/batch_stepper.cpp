// Explicit steps of many realisations of a few particles at once: the same operations as for one, on registers.
// Tested by tests/steppers/batch_stepper_test.cpp.
#include "steppers/batch_stepper.hpp"

#include <algorithm>

#include "steppers/splitting_kernel.hpp"
#include "model/batched_gradient.hpp"

namespace bathline {

namespace {

/// The numbers of all realisations: degree of freedom i of realisation r stands at i * most + r.
template <int N>
struct alignas(sizeof(SimdDouble)) Table {
  double numbers[static_cast<std::size_t>(N) * BatchStepper::most];

  double* of(int dof) { return numbers + static_cast<std::size_t>(dof) * BatchStepper::most; }
  FixedVector<N, SimdDouble> read(int first) {
    FixedVector<N, SimdDouble> x;
    for (int i = 0; i < N; ++i) x[i] = load(of(i) + first);
    return x;
  }
  void write(const FixedVector<N, SimdDouble>& x, int first) {
    for (int i = 0; i < N; ++i) store(x[i], of(i) + first);
  }
};

/// The gradients of any potential at all places.
template <int N>
class Gradients {
 public:
  explicit Gradients(const Potential& potential)
      : potential_(potential), many_(dynamic_cast<const BatchedGradient*>(&potential)), place_(N), gradient_(N) {
    if (dynamic_cast<const QuadraticPotential*>(&potential) == nullptr) return;
    Eigen::MatrixXd matrix;
    potential.hessian(place_, matrix);
    stiffness_.emplace(matrix);
  }

  void find(Table<N>& q, int count, Table<N>& gradients) {
    if (stiffness_) {
      for (int first = 0; first < count; first += simd_width) {
        const FixedVector<N, SimdDouble> at = q.read(first);
        for (int i = 0; i < N; ++i) store(stiffness_->times(at, i), gradients.of(i) + first);
      }
    } else if (many_ != nullptr) {
      many_->gradients(N, static_cast<int>(BatchStepper::most), q.numbers, gradients.numbers);
    } else {
      for (int r = 0; r < count; ++r) {
        for (int i = 0; i < N; ++i) place_[i] = q.of(i)[r];
        potential_.gradient(place_, gradient_);
        for (int i = 0; i < N; ++i) gradients.of(i)[r] = gradient_[i];
      }
    }
  }

 private:
  const Potential& potential_;
  const BatchedGradient* many_;  // nullptr where it is none
  std::optional<FixedMatrix<N>> stiffness_;
  Eigen::VectorXd place_, gradient_;
};

template <int N>
class SplittingBatchStepper final : public BatchStepper {
 public:
  SplittingBatchStepper(const ExplicitScheme& scheme, std::span<Problem> problems, double h)
      : problems_(problems),
        is_damped_(problems.front().is_damped()),
        is_noisy_(is_damped_ && problems.front().noise() != nullptr),
        moves_(substep_ops<N>(is_damped_ ? scheme : scheme.merged(), problems.front(), h)),
        damped_kick_(problems.front()),
        potential_force_(*problems.front().system().potential),
        count_((static_cast<int>(problems.size()) + simd_width - 1) / simd_width * simd_width) {
    for (Problem& problem : problems) problem.clock.h = h;
  }

  void advance(std::int64_t steps) override {
    fetch();
    if (is_noisy_) {
      take<Drag::noisy>(steps);
    } else {
      is_damped_ ? take<Drag::plain>(steps) : take<Drag::none>(steps);
    }
    bring_back();
  }

 private:
  enum class Drag { none, plain, noisy };
  /// Steps whose impulses are drawn together.
  static constexpr int together = 16;

  /// Lanes without a realisation repeat the last one.
  void fetch() {
    for (int r = 0; r < static_cast<int>(most); ++r) {
      const Problem& problem = problems_[std::min(static_cast<std::size_t>(r), problems_.size() - 1)];
      for (int i = 0; i < N; ++i) {
        q_.of(i)[r] = problem.q[i];
        p_.of(i)[r] = problem.p[i];
      }
      dissipated_.numbers[r] = problem.dissipated;
    }
    is_known_ = false;
  }
  void bring_back() {
    for (std::size_t r = 0; r < problems_.size(); ++r) {
      for (int i = 0; i < N; ++i) {
        problems_[r].q[i] = q_.of(i)[r];
        problems_[r].p[i] = p_.of(i)[r];
      }
      problems_[r].dissipated = dissipated_.numbers[r];
    }
  }

  template <Drag drag>
  void take(std::int64_t steps) {
    for (std::int64_t step = 0; step < steps; ++step) {
      if constexpr (drag == Drag::noisy) {
        if (step % together == 0) draw_impulses(step, static_cast<int>(std::min<std::int64_t>(together, steps - step)));
        impulse_ = &impulses_[static_cast<std::size_t>(step % together)];
      }
      for (const SubstepOp<N>& move : moves_) move.is_kick ? kick<drag>(move) : drift(move);
    }
    for (Problem& problem : problems_) problem.clock.steps += steps;
  }

  /// Of `count` steps from the one on that comes `step` steps after those of the problems' clocks: what a realisation
  /// draws from is in the first-level cache only while no other draws.
  void draw_impulses(std::int64_t step, int count) {
    for (std::size_t r = 0; r < problems_.size(); ++r) {
      Problem& problem = problems_[r];
      problem.noise()->impulses(problem.clock.steps + step, count, problem.clock.h, [&](int k, int i, double impulse) {
        impulses_[static_cast<std::size_t>(k)].of(i)[r] = impulse;
      });
    }
  }

  // What loops over registers need is copied for each, where no result can overwrite it.

  void drift(const SubstepOp<N>& move) {
    const double seconds = move.seconds;
    const DampedKick<N> friction = damped_kick_;
    for (int first = 0; first < count_; first += simd_width) {
      FixedVector<N, SimdDouble> q = q_.read(first);
      const FixedVector<N, SimdDouble> velocity = friction.velocity(p_.read(first));
      for (int i = 0; i < N; ++i) q[i] += seconds * velocity[i];
      q_.write(q, first);
    }
    is_known_ = false;
  }

  template <Drag drag>
  void kick(const SubstepOp<N>& move) {
    if (!is_known_) potential_force_.find(q_, count_, gradients_);
    is_known_ = true;
    const SubstepOp<N> mine = move;
    const DampedKick<N> friction = damped_kick_;
    for (int first = 0; first < count_; first += simd_width) {
      FixedVector<N, SimdDouble> p = p_.read(first), force = gradients_.read(first);
      for (int i = 0; i < N; ++i) force[i] = -force[i];
      if constexpr (drag == Drag::none) {
        for (int i = 0; i < N; ++i) p[i] += mine.seconds * force[i];
      } else {
        FixedVector<N, SimdDouble> impulse{};
        if constexpr (drag == Drag::noisy) impulse = impulse_->read(first);
        SimdDouble dissipated = load(dissipated_.numbers + first);
        friction.template kick<drag == Drag::noisy>(mine, force, impulse, p, dissipated);
        store(dissipated, dissipated_.numbers + first);
      }
      p_.write(p, first);
    }
  }

  std::span<Problem> problems_;
  bool is_damped_, is_noisy_;
  std::vector<SubstepOp<N>> moves_;
  DampedKick<N> damped_kick_;
  Gradients<N> potential_force_;
  int count_;  // of realisations, in whole registers
  Table<N> q_{}, p_{}, gradients_{};
  std::array<Table<N>, together> impulses_{};
  Table<N>* impulse_ = nullptr;  // of the step under way
  Table<1> dissipated_{};
  bool is_known_ = false;  // whether gradients_ are those at q_
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
  const Problem& one = problems.front();
  if (!is_plain_splitting(scheme, one) || !one.environments().empty()) return nullptr;
  return make_with<1>(scheme, problems, h);
}

}  // namespace bathline
