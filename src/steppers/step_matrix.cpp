// The matrix of one step of an integrator on a linear system.
#include "steppers/step_matrix.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "steppers/assembled_system.hpp"
#include "steppers/stepper.hpp"

namespace bathline {

namespace {

/// All sources of noise of a problem: that of open systems, and those of environments.
std::vector<std::function<void(NoiseStream::Source)>> sources(Problem& problem) {
  std::vector<std::function<void(NoiseStream::Source)>> all;
  if (WhiteNoise* noise = problem.noise()) {
    all.emplace_back([noise](NoiseStream::Source source) { noise->set_source(std::move(source)); });
  }
  for (const auto& environment : problem.environments()) {
    auto* noisy = dynamic_cast<Noisy*>(environment.get());
    if (noisy == nullptr || noisy->noise() == nullptr) continue;
    all.emplace_back([noise = noisy->noise()](NoiseStream::Source source) { noise->set_source(std::move(source)); });
  }
  return all;
}

void disable_noise(Problem& problem) {
  for (const auto& set_source : sources(problem)) {
    set_source([](std::int64_t, int, std::span<double> numbers) { std::fill(numbers.begin(), numbers.end(), 0.0); });
  }
}

/// What the particles have got: `Problem::exchange` by columns, then from each environment without its white friction;
/// where the mean energies of environments are constant, without the changes of these. @note Collective.
Eigen::VectorXd heat_so_far(Problem& problem, bool is_energy_constant) {
  const Eigen::Index of_particles = problem.exchange.size();
  Eigen::VectorXd heat(of_particles + static_cast<Eigen::Index>(problem.environments().size()));
  heat.head(of_particles) = problem.exchange.reshaped();
  Eigen::Index index = of_particles;
  std::vector<double> head;
  for (const auto& environment : problem.environments()) {
    heat[index] = 0.0;
    if (!environment->properties().is_white) {
      head.resize(static_cast<std::size_t>(environment->attachment().axes()));
      problem.head(*environment, problem.q, head);
      const EnvironmentEnergy energy = environment->energy(head);
      heat[index] -= energy.dissipated;
      if (!is_energy_constant) heat[index] -= energy.environment + energy.interaction;
    }
    ++index;
  }
  problem.communicator().broadcast(std::span<double>(heat.data(), static_cast<std::size_t>(heat.size())));
  return heat;
}

StepHeat step_heat(const Eigen::VectorXd& heat, Eigen::Index dofs) {
  return {heat.head(dofs * dofs).reshaped(dofs, dofs), heat.tail(heat.size() - dofs * dofs)};
}

/// Requests the account, before a stepper is made.
Problem& counting_exchange(Problem& problem) {
  problem.exchange.setZero(problem.q.size(), problem.q.size());
  return problem;
}

/// One step of a problem as a map of vectors: q and v of the particles, then w and p of each environment.
class OneStepMap {
 public:
  OneStepMap(const Scheme& scheme, Problem& problem, double h)
      : problem_(problem), n_(problem.q.size()), size_(2 * n_), stepper_(make_stepper(scheme, problem, h)) {
    for (const auto& environment : problem.environments()) {
      size_ += 2 * static_cast<Eigen::Index>(environment->properties().sites) * environment->attachment().axes();
    }
    disable_noise(problem);
    // Environments start at their heads, which need not be at the origin.
    if (!problem.stepped_environments().empty()) image_of_origin_ = step(Eigen::VectorXd::Zero(size_));
  }

  Eigen::Index size() const { return size_; }
  /// What the particles get in the step from x. @note Collective.
  Eigen::VectorXd heat_from(const Eigen::VectorXd& x) {
    set(x);
    const Eigen::VectorXd before = heat_so_far(problem_, true);
    step();
    return heat_so_far(problem_, true) - before;
  }
  /// The image of x under a step minus that of 0 without noise. @note Collective.
  Eigen::VectorXd operator()(const Eigen::VectorXd& x) {
    Eigen::VectorXd to = step(x);
    if (image_of_origin_.size() > 0) to -= image_of_origin_;
    return to;
  }

 private:
  void set(const Eigen::VectorXd& x) {
    problem_.q = x.head(n_);
    problem_.p = problem_.system().mass.cwiseProduct(x.segment(n_, n_));
    Eigen::Index begin = 2 * n_;
    for (const auto& environment : problem_.environments()) {
      const Eigen::Index count = environment->properties().sites * environment->attachment().axes();
      environment->scatter_state({x.data() + begin, static_cast<std::size_t>(count)},
                                 {x.data() + begin + count, static_cast<std::size_t>(count)});
      begin += 2 * count;
    }
  }
  void step() {
    stepper_->advance(1);
    problem_.broadcast_particles();
  }
  Eigen::VectorXd step(const Eigen::VectorXd& x) {
    set(x);
    step();
    Eigen::VectorXd to(size_);
    to.head(2 * n_) << problem_.q, problem_.p.cwiseQuotient(problem_.system().mass);
    Eigen::Index begin = 2 * n_;
    std::vector<double> w, p;
    for (const auto& environment : problem_.environments()) {
      environment->gather_state(w, p);
      for (std::vector<double>* part : {&w, &p}) {
        part->resize(static_cast<std::size_t>(environment->properties().sites * environment->attachment().axes()));
        problem_.communicator().broadcast(std::span<double>(*part));
        for (const double value : *part) to[begin++] = value;
      }
    }
    return to;
  }

  Problem& problem_;
  Eigen::Index n_, size_;
  std::unique_ptr<Stepper> stepper_;
  Eigen::VectorXd image_of_origin_;
};

/// Calls use(set) for each random number of a step, where set(size) gives it this size and 0 to all others. @note
/// Collective.
template <class Use>
void for_each_random_number(Problem& problem, Use use) {
  for (const auto& set_source : sources(problem)) {
    for (int draw = 0; draw < 2; ++draw) {
      // The count of numbers is known once they are requested, on rank 0.
      double count = 1.0;
      for (std::size_t index = 0; static_cast<double>(index) < count; ++index) {
        double requested = 0.0;
        use([&](double size) {
          set_source([&, size](std::int64_t, int current_draw, std::span<double> numbers) {
            std::fill(numbers.begin(), numbers.end(), 0.0);
            if (current_draw != draw) return;
            requested = static_cast<double>(numbers.size());
            if (index < numbers.size()) numbers[index] = size;
          });
        });
        count = problem.communicator().max(requested);
      }
    }
    disable_noise(problem);
  }
}

}  // namespace

Eigen::MatrixXd noise_covariance(const Scheme& scheme, Problem& problem, double h) {
  OneStepMap map(scheme, problem, h);
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(map.size(), map.size());
  for_each_random_number(problem, [&](auto set) {
    set(1.0);
    const Eigen::VectorXd gain = map(Eigen::VectorXd::Zero(map.size()));
    covariance += gain * gain.transpose();
  });
  return covariance;
}

// The heat of a step is a quadratic form of x and the random numbers, which are independent: its mean is the sum of its
// values for each column of a root of the covariance and for each random number alone.
StepHeat heat_of_steps(const Scheme& scheme, Problem& problem, double h, const Eigen::MatrixXd& covariance) {
  OneStepMap map(scheme, counting_exchange(problem), h);
  const Eigen::VectorXd origin = Eigen::VectorXd::Zero(map.size()), of_origin = map.heat_from(origin);
  Eigen::VectorXd heat = Eigen::VectorXd::Zero(of_origin.size());
  const Eigen::VectorXd deviation = covariance.diagonal().cwiseSqrt();
  const Eigen::VectorXd scale = deviation.unaryExpr([](double x) { return x > 0.0 ? 1.0 / x : 0.0; });
  const Eigen::MatrixXd correlation = scale.asDiagonal() * covariance * scale.asDiagonal();
  const Eigen::MatrixXd root = deviation.asDiagonal() * symmetric_root(correlation);
  for (const auto& x : root.colwise()) heat += 0.5 * (map.heat_from(x) + map.heat_from(-x)) - of_origin;
  for_each_random_number(problem, [&](auto set) {
    for (const double size : {1.0, -1.0}) {
      set(size);
      heat += 0.5 * (map.heat_from(origin) - of_origin);
    }
  });
  return step_heat(heat, problem.q.size());
}

Eigen::MatrixXd step_matrix(const Scheme& scheme, Problem& problem, double h) {
  OneStepMap map(scheme, problem, h);
  Eigen::MatrixXd matrix(map.size(), map.size());
  for (Eigen::Index column = 0; column < map.size(); ++column) {
    matrix.col(column) = map(Eigen::VectorXd::Unit(map.size(), column));
  }
  return matrix;
}

Eigen::MatrixXd dissipation_form(const Scheme& scheme, Problem& problem, double h) {
  OneStepMap map(scheme, problem, h);
  const Eigen::Index n = problem.q.size();
  const auto work_from = [&](const Eigen::VectorXd& x) {
    problem.dissipated = 0.0;
    map(x);
    return problem.energies_of_particles().dissipated;
  };
  Eigen::MatrixXd matrix(2 * n, 2 * n);
  const auto unit = [&](Eigen::Index i) { return Eigen::VectorXd(Eigen::VectorXd::Unit(2 * n, i)); };
  for (Eigen::Index i = 0; i < 2 * n; ++i) {
    matrix(i, i) = work_from(unit(i));
    for (Eigen::Index j = 0; j < i; ++j) {
      // In units in which both works are equal, so that little cancels.
      const double ratio = matrix(i, i) / matrix(j, j);
      const double scale = ratio > 0.0 && std::isfinite(ratio) ? std::sqrt(ratio) : 1.0;
      matrix(i, j) = matrix(j, i) =
          0.25 / scale * (work_from(unit(i) + scale * unit(j)) - work_from(unit(i) - scale * unit(j)));
    }
  }
  return matrix;
}

namespace {

/// Responses of a problem that starts from rest to single random numbers.
class ImpulseResponses {
 public:
  ImpulseResponses(const Scheme& scheme, Problem& problem, double h)
      : problem_(problem),
        h_(h),
        stepper_(make_stepper(scheme, counting_exchange(problem), h)),
        sources_(sources(problem)) {
    for (const auto& set_source : sources_) {
      // The first step requests no numbers of later steps than `last`, but may request those of earlier ones.
      Input input;
      set_source([&](std::int64_t step, int, std::span<double> numbers) {
        std::fill(numbers.begin(), numbers.end(), 0.0);
        input.last = std::max(input.last, step);
        (step == NoiseStream::before_first_step ? input.start_count : input.count) =
            static_cast<double>(numbers.size());
      });
      path(1);
      disable_noise(problem_);
      input.count = problem_.communicator().max(input.count);
      input.start_count = problem_.communicator().max(input.start_count);
      input.last = static_cast<std::int64_t>(problem_.communicator().max(static_cast<double>(input.last)));
      inputs_.push_back(input);
    }
  }

  /// Number of steps after which no random number of the responses is used any more.
  std::int64_t driven_steps() const {
    std::int64_t steps = 1;
    for (const Input& input : inputs_) steps = std::max(steps, input.last + 1);
    return steps;
  }

  struct Estimate {
    Eigen::MatrixXd covariance;  // with later steps extrapolated
    Eigen::MatrixXd sum;         // of the computed steps, and of the numbers that stand for all noise before the first
    SlowestMotion slowest;
    Eigen::VectorXd heat;  // of the computed steps, as `heat_so_far`
  };
  /// The stationary <x x^T> of x = (q, v) from the first `steps` steps of the responses, of which the second half is
  /// not driven. The others are extrapolated by the linear map that fits this half.
  ///
  /// By invariance in time the response at the end to a number of a later step is the response to the same number of
  /// the first step, as many steps before the end.
  Estimate estimate(int steps) {
    disable_noise(problem_);
    const Eigen::MatrixXd rest_path = path(steps);
    const Eigen::VectorXd rest_heat = heat_;
    const bool rests = problem_.communicator().broadcast((rest_path.colwise() - rest_path.col(0)).isZero(0.0));
    const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(rest_path.rows(), rest_path.rows());
    Estimate result{zero, zero, {}, Eigen::VectorXd::Zero(rest_heat.size())};
    std::vector<Eigen::MatrixXd> responses;
    for (std::size_t source = 0; source < sources_.size(); ++source) {
      const Input& input = inputs_[source];
      const auto set_impulse = [&](std::int64_t step, int draw, int index, double size = 1.0) {
        sources_[source]([=](std::int64_t current_step, int current_draw, std::span<double> numbers) {
          std::fill(numbers.begin(), numbers.end(), 0.0);
          if (current_step == step && current_draw == draw) numbers[static_cast<std::size_t>(index)] = size;
        });
      };
      for (int draw = 0; draw < 2; ++draw) {
        for (int index = 0; index < input.count; ++index) {
          set_impulse(input.last, draw, index);
          responses.push_back(path(steps) - rest_path);
          // A quadratic form, whose linear part is that of the motion without the impulse.
          result.heat += (rests ? 1.0 : 0.5) * (heat_ - rest_heat);
          if (rests) continue;
          set_impulse(input.last, draw, index, -1.0);
          path(steps);
          result.heat += 0.5 * (heat_ - rest_heat);
        }
      }
      for (int index = 0; index < input.start_count; ++index) {
        set_impulse(NoiseStream::before_first_step, 0, index);
        start();
        stepper_->advance(steps);
        const Eigen::VectorXd end = state() - rest_path.rightCols<1>();
        result.sum.noalias() += end * end.transpose();
      }
      disable_noise(problem_);
    }
    // Only rank 0 has the particles.
    if (problem_.communicator().is_root()) {
      for (const Eigen::MatrixXd& response : responses) result.covariance.noalias() += response * response.transpose();
      result.sum += result.covariance;
      if (result.covariance.allFinite()) {
        extrapolate(responses, result);
      } else {
        result.slowest.rate = -std::numeric_limits<double>::infinity();
      }
    }
    double motion[] = {result.slowest.rate, result.slowest.uncertainty, result.slowest.frequency};
    problem_.communicator().broadcast(std::span<double>(motion));
    result.slowest.rate = motion[0];
    result.slowest.uncertainty = motion[1];
    result.slowest.frequency = motion[2];
    for (Eigen::MatrixXd* matrix : {&result.covariance, &result.sum}) {
      problem_.communicator().broadcast(std::span<double>(matrix->data(), static_cast<std::size_t>(matrix->size())));
    }
    return result;
  }

 private:
  struct Input {
    std::int64_t last = 0;
    // Count of the numbers of a step, and of those from which the noise starts in its stationary state.
    double count = 0.0, start_count = 0.0;
  };

  /// Adds the contribution of all later steps, if these decay. A response is cut into intervals of equal length, and
  /// the path over one of these is mapped to that over the next.
  void extrapolate(const std::vector<Eigen::MatrixXd>& responses, Estimate& estimate) const {
    constexpr Eigen::Index intervals = 32;
    constexpr double threshold = 1e-12;
    const Eigen::VectorXd deviation = estimate.covariance.diagonal().cwiseSqrt();
    const Eigen::Index inputs = static_cast<Eigen::Index>(responses.size()), coordinates = deviation.size();
    if (inputs == 0) return;
    const Eigen::VectorXd scale = deviation.unaryExpr([](double x) { return x > 0.0 ? 1.0 / x : 0.0; });
    const Eigen::Index steps = responses.front().cols() / (2 * intervals), rows = coordinates * steps;
    Eigen::MatrixXd from(rows, inputs * (intervals - 1)), to(rows, inputs * (intervals - 1)), last(rows, inputs);
    for (Eigen::Index input = 0; input < inputs; ++input) {
      const Eigen::MatrixXd scaled =
          scale.asDiagonal() * responses[static_cast<std::size_t>(input)].rightCols(intervals * steps);
      const Eigen::Map<const Eigen::MatrixXd> parts(scaled.data(), rows, intervals);
      from.middleCols(input * (intervals - 1), intervals - 1) = parts.leftCols(intervals - 1);
      to.middleCols(input * (intervals - 1), intervals - 1) = parts.rightCols(intervals - 1);
      last.col(input) = parts.rightCols<1>();
    }
    const ReducedMap map = fit_linear_map(from, to, threshold);
    if (map.matrix.size() == 0) return;
    estimate.slowest = slowest_motion_of_steps(map.matrix, h_ * static_cast<double>(steps));
    // The map of an interval has the frequency modulo 2 pi over its length only; the shape of the motion has all of it.
    const Eigen::VectorXd re = map.basis * estimate.slowest.shape.real(),
                          im = map.basis * estimate.slowest.shape.imag();
    const Eigen::Index others = rows - coordinates;
    if (others > 0) {
      const double cosine = re.head(others).dot(re.tail(others)) + im.head(others).dot(im.tail(others)),
                   sine = re.head(others).dot(im.tail(others)) - im.head(others).dot(re.tail(others));
      estimate.slowest.frequency = std::abs(std::atan2(sine, cosine)) / h_;
    }
    // By the spectral radius alone; whether the rate is known well enough is decided by the caller.
    if (estimate.slowest.rate <= 0.0) return;
    const Eigen::MatrixXd next = map.matrix * (map.basis.transpose() * last);
    const Eigen::MatrixXd sum = solve_discrete_lyapunov(map.matrix.transpose(), next * next.transpose());
    for (Eigen::Index step = 0; step < steps; ++step) {
      const Eigen::MatrixXd state = deviation.asDiagonal() * map.basis.middleRows(step * coordinates, coordinates);
      estimate.covariance.noalias() += state * sum * state.transpose();
    }
  }

  Eigen::VectorXd state() const {
    Eigen::VectorXd x(2 * problem_.q.size());
    x << problem_.q, problem_.p.cwiseQuotient(problem_.system().mass);
    return x;
  }
  /// x after every step; sets `heat_` to the heat of all of them.
  Eigen::MatrixXd path(int steps) {
    start();
    heat_ = heat_so_far(problem_, false);
    Eigen::MatrixXd all(2 * problem_.q.size(), steps);
    for (int step = 0; step < steps; ++step) {
      stepper_->advance(1);
      all.col(step) = state();
    }
    heat_ = heat_so_far(problem_, false) - heat_;
    return all;
  }
  void start() {
    problem_.prepare();
    problem_.clock.steps = 0;
    problem_.q = problem_.system().q0;
    problem_.p.setZero();
    problem_.exchange.setZero();
    for (const auto& environment : problem_.environments()) {
      const std::vector<double> rest(
          static_cast<std::size_t>(environment->properties().sites * environment->attachment().axes()));
      environment->scatter_state(rest, rest);
    }
  }

  Problem& problem_;
  double h_;
  std::unique_ptr<Stepper> stepper_;
  std::vector<std::function<void(NoiseStream::Source)>> sources_;
  std::vector<Input> inputs_;
  Eigen::VectorXd heat_;
};

}  // namespace

StationaryCovariance covariance_from_impulse_responses(const Scheme& scheme, Problem& problem, double h) {
  constexpr std::int64_t min_steps = 1024, max_steps = 1 << 17;
  // Round-off of the rate limits the digits of covariances of slow motions.
  constexpr double tolerance = 1e-11, round_off = 1e-15;
  // The rest of a sum falls like steps^-2 at worst, after semi-infinite lines, so that it is a third of the last
  // change.
  constexpr double sum_tolerance = 1e-9;
  // Where noise and particles are slow alike, the map that extrapolates is known to seven digits.
  constexpr double slow_tolerance = 1e-7;
  constexpr std::int64_t slow_steps = 1 << 15;
  ImpulseResponses responses(scheme, problem, h);
  const auto driven_steps = static_cast<std::uint64_t>(responses.driven_steps());
  std::int64_t steps = std::max(min_steps, 2 * static_cast<std::int64_t>(std::bit_ceil(driven_steps)));
  ImpulseResponses::Estimate previous = responses.estimate(static_cast<int>(steps));
  const std::int64_t end = std::max(max_steps, 2 * steps);
  const Eigen::Index dofs = problem.q.size();
  while ((steps *= 2) <= end) {
    ImpulseResponses::Estimate current = responses.estimate(static_cast<int>(steps));
    // The environments get what the particles have left as they did in the second half, as from one slow motion.
    const auto left = [&](const Eigen::VectorXd& heat) {
      return heat.head(dofs * dofs).reshaped(dofs, dofs).trace() + heat.tail(heat.size() - dofs * dofs).sum();
    };
    const double given = left(previous.heat) - left(current.heat);
    const auto heat = [&] {
      return step_heat(
          given > 0.0 ? current.heat + left(current.heat) / given * (current.heat - previous.heat) : current.heat,
          dofs);
    };
    if (!current.covariance.allFinite()) return {std::nullopt, current.slowest};
    const SlowestMotion& slowest = current.slowest;
    const double fraction = slowest.rate > 0.0 ? std::max(tolerance, round_off / (slowest.rate * h)) : tolerance;
    const Eigen::VectorXd scale = current.covariance.diagonal().cwiseSqrt();
    const auto agree = [&](const Eigen::MatrixXd& now, const Eigen::MatrixXd& before, double allowed) {
      return ((now - before).cwiseAbs().array() <= allowed * (scale * scale.transpose()).array()).all();
    };
    // Responses that have died out need no extrapolation, in which round-off would be a motion of its own.
    if (agree(current.sum, previous.sum, sum_tolerance)) return {std::move(current.sum), slowest, heat()};
    const bool agrees = agree(current.covariance, previous.covariance, fraction);
    if (agrees && (fraction == tolerance || slowest.decays())) return {std::move(current.covariance), slowest, heat()};
    if (steps >= slow_steps && slowest.decays() &&
        agree(current.covariance, previous.covariance, std::max(fraction, slow_tolerance))) {
      return {std::move(current.covariance), slowest, heat()};
    }
    previous = std::move(current);
  }
  return {std::nullopt, previous.slowest};
}

Eigen::MatrixXd system_matrix(const Problem& problem) {
  return AssembledSystem(problem, LumpedNetwork::no_limit).linear_sde().drift;
}

}  // namespace bathline
