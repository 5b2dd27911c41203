// The records of the realisations of an ensemble during the run.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/recording.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "steppers/batch_stepper.hpp"

namespace bathline {

Recording::Recording(Problem& problem, const EnsembleColumns& columns, const Measurements& measurements,
                     const LedgerNumbers& ledger)
    : problem_(problem),
      measurements_(measurements),
      ledger_(ledger),
      values_(columns.variables),
      last_(measurements.first_passages.size()),
      passage_times_(measurements.first_passages.size(), std::numeric_limits<double>::quiet_NaN()) {
  ledger_.begin(problem);
  variables_.setZero(2 * problem.q.size() + 1 + static_cast<Eigen::Index>(ledger_.size()));
  for (std::vector<double>& values : values_) values.reserve(columns.records());
}

void Recording::record(double time) {
  const ParticleSystem& system = problem_.system();
  const Eigen::Index n = problem_.q.size();
  const double last_time = variables_[2 * n];
  const bool is_first = values_.front().empty();
  auto next = values_.begin();
  const auto add = [&](const auto& values) {
    for (const double value : values) (next++)->push_back(value);
  };
  const Eigen::VectorXd v = problem_.p.cwiseQuotient(system.mass);
  const Eigen::VectorXd kinetic =
      0.5 * system.mass.cwiseProduct(v.cwiseAbs2()).reshaped(system.axes, system.particles).colwise().sum().transpose();
  variables_.head(2 * n + 1) << problem_.q, v, time;
  ledger_.read(problem_, {variables_.data() + 2 * n + 1, ledger_.size()});
  add(problem_.q);
  add(v);
  add(kinetic);
  if (kinetic.size() > 1) add(std::array{kinetic.sum()});
  for (const MeasuredQuantity& quantity : measurements_.quantities) add(std::array{quantity.value.value(variables_)});
  for (const Observable& profile : measurements_.profiles) add(profile.value(problem_.q, v, time));
  for (std::size_t i = 0; i < passage_times_.size(); ++i) {
    if (!std::isnan(passage_times_[i])) continue;
    const MeasuredPassage& passage = measurements_.first_passages[i];
    const double now = passage.value.value(variables_) - passage.level;
    const bool up = last_[i] < 0.0 && now >= 0.0, down = last_[i] > 0.0 && now <= 0.0;
    if (!is_first && ((up && passage.direction >= 0) || (down && passage.direction <= 0))) {
      passage_times_[i] = last_time + (time - last_time) * last_[i] / (last_[i] - now);
    }
    last_[i] = now;
  }
}

bool Recording::is_finite() const {
  const auto motion = std::span(values_).first(static_cast<std::size_t>(2 * problem_.q.size()));
  return std::ranges::all_of(motion, [](const std::vector<double>& values) {
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value * value); });
  });
}

std::optional<Failure> record_all(const Case& this_case, std::int64_t every, const EnsembleColumns& columns,
                                  std::span<Problem> problems, std::vector<Recording>& recordings, bool wants_energy,
                                  std::size_t& failed) {
  std::unique_ptr<BatchStepper> batch;
  std::vector<std::unique_ptr<Stepper>> steppers;
  const auto* scheme = std::get_if<ExplicitScheme>(&this_case.scheme);
  if (scheme != nullptr && problems.size() > 1) batch = make_batch_stepper(*scheme, problems, this_case.step);
  for (std::size_t i = 0; !batch && i < problems.size(); ++i) {
    steppers.push_back(make_stepper(this_case.scheme, problems[i], this_case.step));
  }
  const AdvanceHints hints{.wants_energy = wants_energy};
  for (std::size_t record = 0; record < columns.records(); ++record) {
    const std::int64_t steps = record < columns.equidistant ? every : this_case.steps % every;
    if (record > 0 && batch) batch->advance(steps);
    for (failed = 0; failed < problems.size(); ++failed) {
      if (record > 0 && !batch) {
        if (std::optional<Failure> failure = steppers[failed]->advance(steps, hints)) return failure;
      }
      recordings[failed].record(columns.time.values[record]);
    }
  }
  for (failed = 0; failed < problems.size(); ++failed) {
    if (problems[failed].communicator().broadcast(recordings[failed].is_finite())) continue;
    return Failure{this_case.steps, 0.0, "the state is not finite"};
  }
  return std::nullopt;
}

}  // namespace bathline
