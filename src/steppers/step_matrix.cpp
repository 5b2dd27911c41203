// The matrix of one step of an integrator on a linear system.
#include "steppers/step_matrix.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "steppers/stepper.hpp"
#include "model/gyration.hpp"

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
  /// The image of x under a step minus that of 0 without noise. @note Collective.
  Eigen::VectorXd operator()(const Eigen::VectorXd& x) {
    Eigen::VectorXd to = step(x);
    if (image_of_origin_.size() > 0) to -= image_of_origin_;
    return to;
  }

 private:
  Eigen::VectorXd step(const Eigen::VectorXd& x) {
    problem_.q = x.head(n_);
    problem_.p = problem_.system().mass.cwiseProduct(x.segment(n_, n_));
    Eigen::Index begin = 2 * n_;
    for (const auto& environment : problem_.environments()) {
      const Eigen::Index count = environment->properties().sites * environment->attachment().axes();
      environment->scatter_state({x.data() + begin, static_cast<std::size_t>(count)},
                                 {x.data() + begin + count, static_cast<std::size_t>(count)});
      begin += 2 * count;
    }
    stepper_->advance(1);
    problem_.broadcast_particles();
    Eigen::VectorXd to(size_);
    to.head(2 * n_) << problem_.q, problem_.p.cwiseQuotient(problem_.system().mass);
    begin = 2 * n_;
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

}  // namespace

Eigen::MatrixXd noise_covariance(const Scheme& scheme, Problem& problem, double h) {
  OneStepMap map(scheme, problem, h);
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(map.size(), map.size());
  const auto all = sources(problem);
  for (const auto& set_source : all) {
    for (int draw = 0; draw < 2; ++draw) {
      // The count of numbers is known once they are requested, on rank 0.
      double count = 1.0;
      for (std::size_t index = 0; static_cast<double>(index) < count; ++index) {
        double requested = 0.0;
        set_source([&](std::int64_t, int current_draw, std::span<double> numbers) {
          std::fill(numbers.begin(), numbers.end(), 0.0);
          if (current_draw != draw) return;
          requested = static_cast<double>(numbers.size());
          if (index < numbers.size()) numbers[index] = 1.0;
        });
        const Eigen::VectorXd gain = map(Eigen::VectorXd::Zero(map.size()));
        covariance += gain * gain.transpose();
        count = problem.communicator().max(requested);
      }
    }
    disable_noise(problem);
  }
  return covariance;
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
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
  const Eigen::VectorXd& mass = problem.system().mass;
  const Eigen::Index n = problem.q.size();
  const auto work_from = [&](const Eigen::VectorXd& x) {
    problem.q = x.head(n);
    problem.p = mass.cwiseProduct(x.tail(n));
    problem.dissipated = 0.0;
    stepper->advance(1);
    return problem.energies_of_particles().dissipated;
  };
  Eigen::MatrixXd matrix(2 * n, 2 * n);
  const auto unit = [&](Eigen::Index i) { return Eigen::VectorXd(Eigen::VectorXd::Unit(2 * n, i)); };
  for (Eigen::Index i = 0; i < 2 * n; ++i) {
    matrix(i, i) = work_from(unit(i));
    for (Eigen::Index j = 0; j < i; ++j) {
      matrix(i, j) = matrix(j, i) = 0.25 * (work_from(unit(i) + unit(j)) - work_from(unit(i) - unit(j)));
    }
  }
  return matrix;
}

namespace {

/// Responses of a problem that starts from rest to single random numbers.
class ImpulseResponses {
 public:
  ImpulseResponses(const Scheme& scheme, Problem& problem, double h)
      : problem_(problem), stepper_(make_stepper(scheme, problem, h)), sources_(sources(problem)) {}

  /// <x x^T> of x = (q, v) after `steps` steps from rest.
  Eigen::MatrixXd covariance(int steps) {
    const Eigen::Index n = 2 * problem_.q.size();
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n);
    disable_noise(problem_);
    const Eigen::MatrixXd rest_path = path(steps);
    for (const auto& set_source : sources_) {
      // The first step requests no numbers of later steps than `last`, but may request those of earlier ones.
      std::int64_t last = 0;
      double start_count = 0.0, step_count = 0.0;
      set_source([&](std::int64_t step, int, std::span<double> numbers) {
        std::fill(numbers.begin(), numbers.end(), 0.0);
        last = std::max(last, step);
        (step == NoiseStream::before_first_step ? start_count : step_count) = static_cast<double>(numbers.size());
      });
      path(1);
      const auto choose = [&](std::int64_t step, int draw, int index) {
        set_source([=](std::int64_t current_step, int current_draw, std::span<double> numbers) {
          std::fill(numbers.begin(), numbers.end(), 0.0);
          if (current_step == step && current_draw == draw) numbers[static_cast<std::size_t>(index)] = 1.0;
        });
      };
      // By invariance in time the response at the end to a number of a later step is the response to the same number of
      // the first step, as many steps before the end.
      for (int draw = 0; draw < 2; ++draw) {
        for (int index = 0; index < problem_.communicator().max(step_count); ++index) {
          choose(last, draw, index);
          const Eigen::MatrixXd response = path(steps) - rest_path;
          sum.noalias() += response * response.transpose();
        }
      }
      for (int index = 0; index < problem_.communicator().max(start_count); ++index) {
        choose(NoiseStream::before_first_step, 0, index);
        start();
        stepper_->advance(steps);
        const Eigen::VectorXd at_end = state() - rest_path.rightCols<1>();
        sum.noalias() += at_end * at_end.transpose();
      }
      disable_noise(problem_);
    }
    problem_.communicator().broadcast({sum.data(), static_cast<std::size_t>(sum.size())});
    return sum;
  }

 private:
  Eigen::VectorXd state() const {
    Eigen::VectorXd x(2 * problem_.q.size());
    x << problem_.q, problem_.p.cwiseQuotient(problem_.system().mass);
    return x;
  }
  /// x after every step.
  Eigen::MatrixXd path(int steps) {
    start();
    Eigen::MatrixXd all(2 * problem_.q.size(), steps);
    for (int step = 0; step < steps; ++step) {
      stepper_->advance(1);
      all.col(step) = state();
    }
    return all;
  }
  void start() {
    problem_.prepare();
    problem_.q = problem_.system().q0;
    problem_.p.setZero();
    for (const auto& environment : problem_.environments()) {
      const std::vector<double> rest(
          static_cast<std::size_t>(environment->properties().sites * environment->attachment().axes()));
      environment->scatter_state(rest, rest);
    }
  }

  Problem& problem_;
  std::unique_ptr<Stepper> stepper_;
  std::vector<std::function<void(NoiseStream::Source)>> sources_;
};

}  // namespace

std::optional<Eigen::MatrixXd> covariance_from_impulse_responses(const Scheme& scheme, Problem& problem, double h) {
  constexpr int min_steps = 1024, max_steps = 1 << 17;
  constexpr double tolerance = 1e-11;
  ImpulseResponses responses(scheme, problem, h);
  Eigen::MatrixXd previous = responses.covariance(min_steps);
  for (int steps = 2 * min_steps; steps <= max_steps; steps *= 2) {
    const Eigen::MatrixXd current = responses.covariance(steps);
    if (!current.allFinite()) break;
    const Eigen::VectorXd scale = current.diagonal().cwiseSqrt();
    if (((current - previous).cwiseAbs().array() <= tolerance * (scale * scale.transpose()).array()).all())
      return current;
    previous = current;
  }
  return std::nullopt;
}

Eigen::MatrixXd system_matrix(const Problem& problem) {
  const Eigen::Index n = problem.q.size();
  Eigen::MatrixXd hessian(n, n);
  problem.system().potential->hessian(problem.system().q0, hessian);
  const auto inverse_mass = problem.system().mass.cwiseInverse().asDiagonal();
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2 * n, 2 * n);
  matrix.topRightCorner(n, n).setIdentity();
  Eigen::MatrixXd df_dq, df_dv;
  problem.jacobians(problem.system().q0, problem.system().v0, 0.0, df_dq, df_dv);
  matrix.bottomLeftCorner(n, n) = inverse_mass * (df_dq - hessian);
  const double field = problem.system().magnetic_field;
  if (field != 0.0) df_dv += magnetic_jacobian(field, n);
  matrix.bottomRightCorner(n, n) = inverse_mass * df_dv;
  return matrix;
}

}  // namespace bathline
