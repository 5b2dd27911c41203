// A program with a study of its own: the mean period of a particle, from its passages through zero on the way up.
//
// A study gets the experiment and writes what it measures; claims and figures then name it by its path.
#include "command_line/run_program.hpp"
#include "driver/experiment.hpp"
#include "builtin_catalogues.hpp"

using namespace bathline;

class PeriodStudy final : public Study {
 public:
  explicit PeriodStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints&) override {
    for (const Case& one : experiment_.cases()) {
      progress.begin(one.label, one.steps);
      double first = 0.0, last = 0.0;
      int passages = 0;
      Problem problem = experiment_.make_problem(one);
      problem.prepare();
      const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
      for (std::int64_t step = 1; step <= one.steps; ++step) {
        const double before = problem.q[0];
        if (std::optional<Failure> failure = stepper->advance(1)) return CaseFailure{one.label, *failure};
        if (before < 0.0 && problem.q[0] >= 0.0) {
          // Between the steps the path is taken as straight.
          last = one.step * (static_cast<double>(step) - problem.q[0] / (problem.q[0] - before));
          if (++passages == 1) first = last;
        }
        progress.update(step);
      }
      progress.end();
      file.number("period/" + one.label, "period", "s", "mean period", (last - first) / (passages - 1));
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
