// The records of the realisations of an ensemble during the run.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/recording.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "steppers/batch_stepper.hpp"

namespace bathline {

Recording::Recording(Problem& problem, const EnsembleColumns& columns, const Measurements& measurements,
                     const LedgerNumbers& ledger)
    : problem_(problem),
      columns_(columns),
      ledger_(ledger),
      observation_(measurements, columns.records, columns.first),
      values_(columns.width()) {
  ledger_.begin(problem);
  variables_.setZero(2 * problem.q.size() + 1 + static_cast<Eigen::Index>(ledger_.size()));
}

void Recording::record(double time) {
  const Eigen::Index n = problem_.q.size();
  const Eigen::VectorXd& mass = problem_.system().mass;
  variables_.head(2 * n + 1) << problem_.q, problem_.p.cwiseQuotient(mass), time;
  for (std::size_t i = 0; i < columns_.dofs; ++i) {
    const auto dof = static_cast<Eigen::Index>(i);
    const double v = variables_[n + dof];
    values_[columns_.q() + next_ * columns_.dofs + i] = problem_.q[dof];
    values_[columns_.v() + next_ * columns_.dofs + i] = v;
    values_[columns_.kinetic() + next_ * columns_.particles + i / columns_.axes] += 0.5 * mass[dof] * v * v;
  }
  ledger_.read(problem_, {variables_.data() + 2 * n + 1, ledger_.size()});
  observation_.record(variables_, time);
  ++next_;
}

bool Recording::is_finite() const {
  return std::all_of(values_.begin(), values_.end(), [](double value) { return std::isfinite(value); });
}

void Recording::compared_averages(std::size_t begin, std::size_t end, std::span<double> averages) const {
  const std::size_t n = columns_.particles;
  for (std::size_t i = 0; i < n; ++i) averages[i] = mean_kinetic(columns_, i, begin, end, values_);
  averages = averages.subspan(n);
  if (n > 1) {
    averages.front() = std::accumulate(averages.data() - n, averages.data(), 0.0);
    averages = averages.subspan(1);
  }
  observation_.means(begin - columns_.first, end - columns_.first, averages);
}

void Recording::add_to(EnsembleMoments& moments, Autocorrelation& autocorrelation) {
  const std::span<double> values = values_, averages = values.subspan(columns_.correlation());
  moments.series.add(values.first(moments.series.width()));
  for (std::size_t block = 0; block < columns_.blocks; ++block) {
    std::ranges::fill(averages, 0.0);
    const std::size_t begin = columns_.block(block), end = columns_.block(block + 1);
    average_over_time(columns_, begin, end, autocorrelation, values);
    observation_.average(columns_.lags, begin - columns_.first, end - columns_.first,
                         std::min(end, columns_.equidistant) - columns_.first, autocorrelation,
                         values.subspan(columns_.measurements()));
    moments.averages.add(averages);
  }
  // Pairs of blocks, half of the blocks apart; a single block is split.
  std::vector<double> first(columns_.compared()), second(first.size());
  const std::size_t half = columns_.blocks / 2, apart = columns_.blocks - half;
  for (std::size_t pair = 0; pair < std::max<std::size_t>(half, 1); ++pair) {
    const std::size_t begin = columns_.block(pair), end = half == 0 ? columns_.records : columns_.block(pair + 1),
                      middle = half == 0 ? begin + (end - begin) / 2 : end,
                      later = half == 0 ? middle : columns_.block(pair + apart),
                      last = half == 0 ? end : columns_.block(pair + apart + 1);
    if (middle == begin) return;
    compared_averages(begin, middle, first);
    compared_averages(later, last, second);
    for (std::size_t i = 0; i < first.size(); ++i) second[i] -= first[i];
    moments.differences.add(second);
  }
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
  for (std::size_t record = 0; record < columns.records; ++record) {
    const std::int64_t steps = record < columns.equidistant ? every : this_case.steps % every;
    if (record > 0 && batch) batch->advance(steps);
    for (failed = 0; failed < problems.size(); ++failed) {
      if (record > 0 && !batch) {
        if (std::optional<Failure> failure = steppers[failed]->advance(steps, hints)) return failure;
      }
      recordings[failed].record(columns.times[record]);
    }
  }
  for (failed = 0; failed < problems.size(); ++failed) {
    if (!problems[failed].communicator().is_root() || recordings[failed].is_finite()) continue;
    return Failure{this_case.steps, 0.0, "the state is not finite"};
  }
  return std::nullopt;
}

}  // namespace bathline
