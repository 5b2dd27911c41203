// Example of a user-defined study: the mean period of a particle, from its upward passages through zero.
//
// A study gets the experiment and writes its results; claims and figures refer to them by their paths.
#include "command_line/run_program.hpp"
#include "driver/experiment.hpp"
#include "builtin_catalogues.hpp"

using namespace bathline;

class PeriodStudy final : public Study {
 public:
  explicit PeriodStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints&) override {
    for (const Case& this_case : experiment_.cases()) {
      progress.begin(this_case.name, this_case.steps);
      double first = 0.0, last = 0.0;
      int passages = 0;
      Problem problem = experiment_.make_problem(this_case);
      problem.prepare();
      const std::unique_ptr<Stepper> stepper = make_stepper(this_case.scheme, problem, this_case.step);
      for (std::int64_t step = 1; step <= this_case.steps; ++step) {
        const double before = problem.q[0];
        if (std::optional<Failure> failure = stepper->advance(1)) return CaseFailure{this_case.name, *failure};
        if (before < 0.0 && problem.q[0] >= 0.0) {
          // The time of passage by linear interpolation between the steps.
          last = this_case.step * (static_cast<double>(step) - problem.q[0] / (problem.q[0] - before));
          if (++passages == 1) first = last;
        }
        progress.update(step);
      }
      progress.end();
      file.number("period/" + this_case.name, "period", "s", "mean period", (last - first) / (passages - 1));
    }
    return std::nullopt;
  }

 private:
  const Experiment& experiment_;
};

StudyKind period_kind() {
  return {.entry = {.name = "period", .summary = "mean period of the first coordinate"},
          .make = [](const Recipe&, const Experiment& experiment, Mistakes&) -> std::unique_ptr<Study> {
            return std::make_unique<PeriodStudy>(experiment);
          }};
}

int main(int argc, char** argv) {
  Catalogues catalogues = builtin_catalogues();
  catalogues.studies.add(period_kind());
  return run_program(argc, argv, catalogues);
}
