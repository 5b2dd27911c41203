// The matrix of one step of an integrator on a linear system.
#include "steppers/step_matrix.hpp"

#include <algorithm>
#include <functional>
#include <vector>

#include "steppers/stepper.hpp"
#include "model/gyration.hpp"

namespace bathline {

namespace {

/// All noise of a problem: that of open systems, and those of environments.
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

/// A problem at work as a map of vectors: q and v of the particles, then w and p of each environment.
class OneStepMap {
 public:
  OneStepMap(const Scheme& scheme, Problem& problem, double h)
      : problem_(problem), n_(problem.q.size()), size_(2 * n_), stepper_(make_stepper(scheme, problem, h)) {
    for (const auto& environment : problem.environments()) {
      size_ += 2 * static_cast<Eigen::Index>(environment->properties().sites) * environment->attachment().axes();
    }
    disable_noise(problem);
    // Environments begin where their heads are, which need not be at the origin.
    if (!problem.environments().empty()) of_origin_ = step(Eigen::VectorXd::Zero(size_));
  }

  Eigen::Index size() const { return size_; }
  /// What a step makes of x, less what it makes of 0 without noise. @note Collective.
  Eigen::VectorXd operator()(const Eigen::VectorXd& x) {
    Eigen::VectorXd to = step(x);
    if (of_origin_.size() > 0) to -= of_origin_;
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
  Eigen::VectorXd of_origin_;
};

}  // namespace

Eigen::MatrixXd noise_covariance(const Scheme& scheme, Problem& problem, double h) {
  OneStepMap map(scheme, problem, h);
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(map.size(), map.size());
  const auto all = sources(problem);
  for (const auto& set_source : all) {
    for (int draw = 0; draw < 2; ++draw) {
      // How many numbers there are shows when they are asked for, on rank 0.
      double count = 1.0;
      for (std::size_t place = 0; static_cast<double>(place) < count; ++place) {
        double asked = 0.0;
        set_source([&](std::int64_t, int now, std::span<double> numbers) {
          std::fill(numbers.begin(), numbers.end(), 0.0);
          if (now != draw) return;
          asked = static_cast<double>(numbers.size());
          if (place < numbers.size()) numbers[place] = 1.0;
        });
        const Eigen::VectorXd gain = map(Eigen::VectorXd::Zero(map.size()));
        covariance += gain * gain.transpose();
        count = problem.communicator().max(asked);
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

/// What numbers of one's own choice do to a problem that starts from rest.
class ImpulseResponses {
 public:
  ImpulseResponses(const Scheme& scheme, Problem& problem, double h)
      : problem_(problem), stepper_(make_stepper(scheme, problem, h)), sources_(sources(problem)) {}

  /// <x x^T> of x = (q, v) after so many steps, whose numbers are as good as those of any other steps, from rest.
  Eigen::MatrixXd covariance(int steps) {
    const Eigen::Index n = 2 * problem_.q.size();
    Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(n, n);
    disable_noise(problem_);
    const Eigen::MatrixXd of_rest = path(steps);
    for (const auto& set_source : sources_) {
      // What is known of a number is that the first step asks for it, and for none behind it.
      std::int64_t last = 0;
      double of_start = 0.0, of_step = 0.0;
      set_source([&](std::int64_t step, int, std::span<double> numbers) {
        std::fill(numbers.begin(), numbers.end(), 0.0);
        last = std::max(last, step);
        (step == NoiseStream::before_first_step ? of_start : of_step) = static_cast<double>(numbers.size());
      });
      path(1);
      const auto choose = [&](std::int64_t step, int draw, int place) {
        set_source([=](std::int64_t now, int drawn, std::span<double> numbers) {
          std::fill(numbers.begin(), numbers.end(), 0.0);
          if (now == step && drawn == draw) numbers[static_cast<std::size_t>(place)] = 1.0;
        });
      };
      // A number of a step does at the end what the same one of the first step does as many steps before it.
      for (int draw = 0; draw < 2; ++draw) {
        for (int place = 0; place < problem_.communicator().max(of_step); ++place) {
          choose(last, draw, place);
          const Eigen::MatrixXd all = path(steps) - of_rest;
          sum.noalias() += all * all.transpose();
        }
      }
      for (int place = 0; place < problem_.communicator().max(of_start); ++place) {
        choose(NoiseStream::before_first_step, 0, place);
        start();
        stepper_->advance(steps);
        const Eigen::VectorXd at_end = state() - of_rest.rightCols<1>();
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
      const std::vector<double> still(
          static_cast<std::size_t>(environment->properties().sites * environment->attachment().axes()));
      environment->scatter_state(still, still);
    }
  }

  Problem& problem_;
  std::unique_ptr<Stepper> stepper_;
  std::vector<std::function<void(NoiseStream::Source)>> sources_;
};

}  // namespace

std::optional<Eigen::MatrixXd> covariance_from_impulse_responses(const Scheme& scheme, Problem& problem, double h) {
  constexpr int fewest = 1024, most = 1 << 17;
  constexpr double tolerance = 1e-11;
  ImpulseResponses responses(scheme, problem, h);
  Eigen::MatrixXd last = responses.covariance(fewest);
  for (int steps = 2 * fewest; steps <= most; steps *= 2) {
    const Eigen::MatrixXd now = responses.covariance(steps);
    if (!now.allFinite()) break;
    const Eigen::VectorXd scale = now.diagonal().cwiseSqrt();
    if (((now - last).cwiseAbs().array() <= tolerance * (scale * scale.transpose()).array()).all()) return now;
    last = now;
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
  Eigen::MatrixXd by_q, by_v;
  problem.jacobians(problem.system().q0, problem.system().v0, 0.0, by_q, by_v);
  matrix.bottomLeftCorner(n, n) = inverse_mass * (by_q - hessian);
  const double field = problem.system().magnetic_field;
  if (field != 0.0) by_v += magnetic_jacobian(field, n);
  matrix.bottomRightCorner(n, n) = inverse_mass * by_v;
  return matrix;
}

}  // namespace bathline
