// Measured order: errors against the exact flow over a list of steps.
//
// An error that has sunk to round-off says nothing about the order, so the fit leaves out points near the floor that
// accumulated round-off sets, and whatever follows once the error no longer shrinks with the step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "study/study.hpp"

namespace bathline {

namespace {

struct FinalState {
  Eigen::VectorXd q, p;
  double energy = 0.0;  // of the particles
};

struct Errors {
  std::vector<double> values;
  std::vector<double> used;  // 1 where the fit uses the point
  double order = std::numeric_limits<double>::quiet_NaN();
};

/// Fits log(error) = order log(step) + constant over the points above the round-off floor.
void fit(const std::vector<double>& steps, double scale, double end, Errors& errors) {
  std::vector<double> x, y;
  bool plateau = false;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // N steps accumulate round-off like a random walk at best and linearly at worst; a hundred times the geometric
    // mean of the two keeps its influence on the slope below a percent.
    const double floor = 100.0 * std::numeric_limits<double>::epsilon() * scale * std::pow(end / steps[i], 0.75);
    plateau = plateau || errors.values[i] < floor || (i > 0 && errors.values[i] >= errors.values[i - 1]);
    errors.used.push_back(plateau ? 0.0 : 1.0);
    if (plateau) continue;
    x.push_back(std::log(steps[i]));
    y.push_back(std::log(errors.values[i]));
  }
  if (x.size() < 2) return;
  double mean_x = 0.0, mean_y = 0.0, xx = 0.0, xy = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    mean_x += x[i] / static_cast<double>(x.size());
    mean_y += y[i] / static_cast<double>(x.size());
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  errors.order = xy / xx;
}

class ConvergenceStudy final : public Study {
 public:
  explicit ConvergenceStudy(const Experiment& experiment) : experiment_(experiment) {
    steps_ = experiment.recipe().study.numbers("step_sizes");
    std::sort(steps_.begin(), steps_.end(), std::greater<>());
  }

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints&) override {
    const Dimension step[] = {{"step", steps_, "s", "time step"}};
    file.array("convergence", {"end", "s", "time at which errors are taken", {}}, {},
               std::span<const double>(&end_, 1));
    for (const Case& one : experiment_.cases()) {
      if (std::holds_alternative<ExactFlow>(one.scheme)) continue;
      progress.begin(one.label, static_cast<std::int64_t>(steps_.size()), 0);
      Errors q, p, energy;
      double scale_q = 0.0, scale_p = 0.0, scale_energy = 0.0;
      for (std::size_t i = 0; i < steps_.size(); ++i) {
        FinalState numerical, exact;
        if (std::optional<Failure> failure = advance(one, one.scheme, steps_[i], one.closed, numerical)) {
          return CaseFailure{one.label, *failure};
        }
        const bool against_open = experiment_.recipe().study.text("reference") == "open";
        if (std::optional<Failure> failure = advance(one, ExactFlow{}, steps_[i], one.closed && !against_open, exact)) {
          return CaseFailure{one.label, *failure};
        }
        q.values.push_back((numerical.q - exact.q).lpNorm<Eigen::Infinity>());
        p.values.push_back((numerical.p - exact.p).lpNorm<Eigen::Infinity>());
        energy.values.push_back(std::abs(numerical.energy - exact.energy));
        scale_q = std::max(scale_q, exact.q.lpNorm<Eigen::Infinity>());
        scale_p = std::max(scale_p, exact.p.lpNorm<Eigen::Infinity>());
        scale_energy = std::max(scale_energy, std::abs(exact.energy));
        progress.update(static_cast<std::int64_t>(i + 1));
      }
      progress.end();
      fit(steps_, scale_q, end_, q);
      fit(steps_, scale_p, end_, p);
      fit(steps_, scale_energy, end_, energy);
      const std::string group = "convergence/" + one.label;
      const auto write = [&](const char* name, const char* units, const char* what, const Errors& errors) {
        file.array(group, {fmt::format("error_{}", name), units, fmt::format("error of the final {}", what), {"step"}},
                   step, errors.values);
        file.array(group, {fmt::format("used_{}", name), "1", "1 where the fit of the order uses the point", {"step"}},
                   step, errors.used);
        file.array(group, {fmt::format("order_{}", name), "1", fmt::format("fitted order of the {}", what), {}}, {},
                   std::span<const double>(&errors.order, 1));
      };
      write("q", "m", "positions", q);
      write("p", "kg m/s", "momenta", p);
      write("energy", "J", "energy", energy);
      file.flush();
    }
    return std::nullopt;
  }

 private:
  std::optional<Failure> advance(const Case& one, const Scheme& scheme, double h, bool closed,
                                 FinalState& state) const {
    Problem problem = experiment_.make_problem(one, h, closed);
    problem.prepare();
    const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, h);
    if (std::optional<Failure> failure = stepper->advance(std::llround(end_ / h))) return failure;
    problem.share_particles();
    state = {problem.q, problem.p, problem.energies().particles};
    if (!state.q.allFinite() || !state.p.allFinite()) {
      return Failure{std::llround(end_ / h), 0.0, fmt::format("with step {} the state is no longer finite", h)};
    }
    return std::nullopt;
  }

  const Experiment& experiment_;
  const double end_ = experiment_.end_time();
  std::vector<double> steps_;
};

void check(const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = experiment.recipe().study;
  const std::vector<double>& steps = study.numbers("step_sizes");
  if (steps.size() < 2) mistakes.add(study.where("step_sizes"), "an order needs at least two steps");
  const std::optional<Contact>& contact = experiment.system().contact;
  if (contact && contact->q1) {
    mistakes.add(experiment.recipe().system.where("q1"),
                 "`q1` is the position one step after q0, so that the start would change with the step; give `v0` to a "
                 "convergence study");
  }
  for (double step : steps) {
    const double count = experiment.end_time() / step;
    if (std::abs(count - std::round(count)) > 1e-9 * count || count < 0.5) {
      mistakes.add(study.where("step_sizes"),
                   fmt::format("step {} does not divide the end {}", step, experiment.end_time()));
    }
  }
}

}  // namespace

StudyKind convergence_kind() {
  return {
      {.name = "convergence",
       .summary = "errors against the exact flow over a list of steps, and the fitted order",
       .equation = "error(h) = |x_h(end) - x(end)|,  order = slope of log error against log h",
       .source = "hairer2006, section II.1",
       .parameters = {{.name = "step_sizes",
                       .type = ValueType::numbers,
                       .units = "s",
                       .doc = "steps to compare; each divides the end",
                       .required = true,
                       .bound = Bound::positive},
                      {.name = "reference",
                       .type = ValueType::text,
                       .doc =
                           "exact flow of the case's own system, or of the open system that its environments stand for",
                       .fallback = "\"own\"",
                       .choices = {"own", "open"}}},
       .notes = "Group convergence: step, and per label error_q, error_p, error_energy, order_q, order_p, "
                "order_energy; used_* marks the points above round-off. The environments of a case on the "
                "characteristic grid change with the step; measure those against \"open\"."},
      check,
      [](const Experiment& experiment) -> std::unique_ptr<Study> {
        return std::make_unique<ConvergenceStudy>(experiment);
      },
      false};
}

}  // namespace bathline
