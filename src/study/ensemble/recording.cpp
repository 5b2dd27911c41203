// The records of the realisations of an ensemble during the run.
// Tested by tests/study/ensemble_test.cpp.
#include "study/ensemble/recording.hpp"

#include <algorithm>
#include <cmath>

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

void Recording::add_to(Sums& sums) {
  const auto averages = values_.begin() + static_cast<std::ptrdiff_t>(columns_.correlation());
  for (std::size_t block = 0; block < columns_.blocks; ++block) {
    std::fill(averages, values_.end(), 0.0);
    const std::size_t begin = columns_.block(block), end = columns_.block(block + 1);
    average_over_time(columns_, begin, end, values_);
    observation_.average(columns_.lags, begin - columns_.first, end - columns_.first,
                         std::span<double>(values_).subspan(columns_.measurements()));
    const std::size_t from = block == 0 ? columns_.skipped : columns_.correlation();
    sums.add(std::span<const double>(values_).subspan(from), from - columns_.skipped);
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
    if (record > 0 && batch) batch->advance(every);
    const double time = static_cast<double>(record) * static_cast<double>(every) * this_case.step;
    for (failed = 0; failed < problems.size(); ++failed) {
      if (record > 0 && !batch) {
        if (std::optional<Failure> failure = steppers[failed]->advance(every, hints)) return failure;
      }
      recordings[failed].record(time);
    }
  }
  for (failed = 0; failed < problems.size(); ++failed) {
    if (!problems[failed].communicator().is_root() || recordings[failed].is_finite()) continue;
    return Failure{this_case.steps, 0.0, "the state is not finite"};
  }
  return std::nullopt;
}

}  // namespace bathline
