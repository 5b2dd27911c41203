// A damped step as a step of a conservative system: the substituting system of luo2010 along a trajectory.
//
// The run of every open case of `time-centred` is repeated. In each step the damped transition matrix F1 has a
// substitute F2 (study/theory/substituting_system.hpp). The symplecticity defects of both and the difference of F2 z
// and F1 z are compared with bounds of the round-off. F1 is formed from M, K and C, and compared with the step of the
// integrator.
//
// The substitute shares only this solution curve with the damped system (Proposition 1). With an `offset` both are also
// advanced from an offset initial state, by the F2 of the curve and by F1. With z on the curve and w the offset state,
// the area z^T J w is invariant under F2, whatever its stiffness, and shrinks under F1: for one particle by det F1 a
// step. Source: luo2010, sections 2.1 and 3.2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "driver/output_times.hpp"
#include "driver/time_loop.hpp"
#include "solve/dense.hpp"
#include "study/catalogue.hpp"
#include "study/shared_checks.hpp"
#include "study/theory/substituting_system.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool has_substituting_system(const Case& this_case) {
  return !this_case.closed && this_case.method->entry.name == "time-centred";
}

/// Replaces `largest` by `value` if that is larger or `largest` is NaN.
void update_largest(double& largest, double value) { largest = std::fmax(largest, value); }

/// Maxima over several steps, NaN where no step had a substitute.
struct Largest {
  double defect = not_a_number, defect_bound = not_a_number, difference_q = not_a_number, difference_p = not_a_number;
  double bound_q = not_a_number, bound_p = not_a_number;
  double fraction = not_a_number;
  double undefined = 0.0;               // components, summed
  double growth = not_a_number;         // spectral radius of F2
  double max_stiffness = not_a_number;  // component of K~
  VectorXd stiffness;                   // of the last step

  void add(const SubstitutingSystem::Substitute& step) {
    undefined += step.undefined;
    stiffness = step.stiffness;
    if (!step.is_defined) return;
    update_largest(growth, spectral_radius(step.matrix));
    update_largest(max_stiffness, step.stiffness.cwiseAbs().maxCoeff());
    const Eigen::Index n = step.stiffness.size();
    const VectorXd size = step.difference.cwiseAbs();
    update_largest(defect, step.defect);
    update_largest(defect_bound, step.defect_bound);
    update_largest(difference_q, size.head(n).maxCoeff());
    update_largest(difference_p, size.tail(n).maxCoeff());
    update_largest(bound_q, step.difference_bound.head(n).maxCoeff());
    update_largest(bound_p, step.difference_bound.tail(n).maxCoeff());
    update_largest(fraction, step.defect_fraction);
    for (Eigen::Index i = 0; i < size.size(); ++i) {
      // A bound of 0 allows no difference.
      update_largest(fraction, size[i] == 0.0 ? 0.0 : size[i] / step.difference_bound[i]);
    }
  }
  void add(const Largest& other) {
    for (double Largest::*member :
         {&Largest::defect, &Largest::defect_bound, &Largest::difference_q, &Largest::difference_p, &Largest::bound_q,
          &Largest::bound_p, &Largest::fraction, &Largest::growth, &Largest::max_stiffness}) {
      update_largest(this->*member, other.*member);
    }
    undefined += other.undefined;
  }
};

/// Solutions of substitute and damped system from the offset initial state, and the areas that they span with the
/// curve.
struct OffsetComparison {
  VectorXd substitute, damped;  // states (q, p); the substitute's is NaN after a step without one
  std::vector<double> substitute_q, damped_q, substitute_area, damped_area;

  OffsetComparison(const VectorXd& q, const VectorXd& p, double offset) : substitute(2 * q.size()) {
    substitute << q.array() + offset, p;
    damped = substitute;
  }
  void record(const VectorXd& q, const VectorXd& p) {
    const Eigen::Index n = q.size();
    const auto area = [&](const VectorXd& w) { return q.dot(w.tail(n)) - p.dot(w.head(n)); };
    substitute_q.insert(substitute_q.end(), substitute.begin(), substitute.begin() + n);
    damped_q.insert(damped_q.end(), damped.begin(), damped.begin() + n);
    substitute_area.push_back(area(substitute));
    damped_area.push_back(area(damped));
  }
};

/// Results of a case, on rank 0.
struct Measured {
  double damped_defect = 0.0;
  double run_difference_q = 0.0, run_difference_p = 0.0;  // the integrator's step against F1
  std::int64_t undefined_steps = 0, first_undefined_step = 0;
  std::vector<Largest> records;
  Largest total;
  std::optional<OffsetComparison> offset;
};

class SubstitutingSystemStudy final : public Study {
 public:
  SubstitutingSystemStudy(const Experiment& experiment, std::optional<double> offset)
      : experiment_(experiment), offset_(offset) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {}))
      return failure;
    for (const Case& this_case : experiment_.cases()) {
      if (!has_substituting_system(this_case)) continue;
      Measured measured;
      progress.begin(this_case.name + ", substituting system", this_case.steps);
      const std::optional<Failure> failure = examine(this_case, progress, measured);
      progress.end();
      if (failure) return CaseFailure{this_case.name, *failure};
      write(file, this_case, measured);
    }
    return std::nullopt;
  }

 private:
  /// @note Collective.
  std::optional<Failure> examine(const Case& this_case, Progress& progress, Measured& measured) const {
    Problem problem = experiment_.make_problem(this_case);
    problem.prepare();
    const std::unique_ptr<Stepper> stepper = make_stepper(this_case.scheme, problem, this_case.step);
    const SubstitutingSystem system(problem.system(), problem.damping(), this_case.step);
    const Eigen::Index n = problem.q.size();
    const std::int64_t every = experiment_.output().every;
    measured.damped_defect = system.damped_defect();
    if (offset_) measured.offset.emplace(problem.q, problem.p, *offset_);
    Largest since_record;
    for (std::int64_t step = 1; step <= this_case.steps; ++step) {
      const VectorXd q = problem.q, p = problem.p;
      if (std::optional<Failure> failure = stepper->advance(1)) return failure;
      progress.update(step);
      if (!problem.communicator().is_root()) continue;
      const VectorXd damped = system.damped_step(q, p);
      update_largest(measured.run_difference_q, (problem.q - damped.head(n)).cwiseAbs().maxCoeff());
      update_largest(measured.run_difference_p, (problem.p - damped.tail(n)).cwiseAbs().maxCoeff());
      const SubstitutingSystem::Substitute substitute = system.substitute(q, p);
      since_record.add(substitute);
      if (measured.offset) {
        VectorXd& offset = measured.offset->substitute;
        if (substitute.is_defined) {
          offset = substitute.matrix * offset;
        } else {
          offset.setConstant(not_a_number);
        }
        measured.offset->damped = system.damped_matrix() * measured.offset->damped;
      }
      if (!substitute.is_defined && measured.undefined_steps++ == 0) measured.first_undefined_step = step;
      if (step % every != 0 && step != this_case.steps) continue;
      measured.records.push_back(since_record);
      if (measured.offset) measured.offset->record(problem.q, problem.p);
      measured.total.add(since_record);
      since_record = {};
    }
    return std::nullopt;
  }

  void write(ResultFile& file, const Case& this_case, const Measured& measured) const {
    const std::string group = "substituting-system/" + this_case.name;
    const Dimension time = output_times(experiment_, this_case);
    const auto series = [&](const char* name, const char* units, const char* long_name, double Largest::*member) {
      std::vector<double> values;
      for (const Largest& record : measured.records) values.push_back(record.*member);
      file.array(group, {name, units, long_name, {"time"}}, std::span(&time, 1), values);
    };
    series("defect", "1", "largest entry of F2^T J F2 - J since the record before", &Largest::defect);
    series("defect_bound", "1", "round-off bound of defect", &Largest::defect_bound);
    series("difference_q", "m", "largest position of F2 z - F1 z since the record before", &Largest::difference_q);
    series("difference_p", "kg m/s", "largest momentum of F2 z - F1 z since the record before", &Largest::difference_p);
    series("bound_q", "m", "round-off bound of difference_q", &Largest::bound_q);
    series("bound_p", "kg m/s", "round-off bound of difference_p", &Largest::bound_p);
    series("growth", "1", "largest spectral radius of F2 since the record before", &Largest::growth);
    series("undefined", "1", "components without substitute since the record before", &Largest::undefined);
    Dimension particle{"particle", {}, "1", "particle, counted from 0"};
    for (int i = 0; i < experiment_.system().size(); ++i) particle.values.push_back(i);
    const Dimension both[] = {time, particle};
    std::vector<double> stiffness;
    for (const Largest& record : measured.records) {
      stiffness.insert(stiffness.end(), record.stiffness.begin(), record.stiffness.end());
    }
    file.array(group, {"stiffness", "N/m", "stiffness of the substitute in the last step", {"time", "particle"}}, both,
               stiffness);
    if (measured.offset) {
      const OffsetComparison& offset = *measured.offset;
      file.array(group,
                 {"offset_q", "m", "position of the substitute from the offset initial state", {"time", "particle"}},
                 both, offset.substitute_q);
      file.array(
          group,
          {"offset_damped_q", "m", "position of the damped system from the offset initial state", {"time", "particle"}},
          both, offset.damped_q);
      file.array(group, {"area", "J s", "area z^T J w of the curve and the offset substitute", {"time"}},
                 std::span(&time, 1), offset.substitute_area);
      file.array(group, {"damped_area", "J s", "area z^T J w of the curve and the offset damped system", {"time"}},
                 std::span(&time, 1), offset.damped_area);
    }
    file.number(group, "largest_growth", "1", "largest spectral radius of F2 overall", measured.total.growth);
    file.number(group, "largest_stiffness", "N/m", "largest component of K~ overall", measured.total.max_stiffness);
    file.number(group, "damped_defect", "1", "largest entry of F1^T J F1 - J", measured.damped_defect);
    file.number(group, "largest_defect", "1", "largest entry of F2^T J F2 - J overall", measured.total.defect);
    file.number(group, "largest_difference_q", "m", "largest position of F2 z - F1 z overall",
                measured.total.difference_q);
    file.number(group, "largest_difference_p", "kg m/s", "largest momentum of F2 z - F1 z overall",
                measured.total.difference_p);
    file.number(group, "fraction", "1", "largest ratio of a defect or difference to its round-off bound",
                measured.total.fraction);
    file.number(group, "run_difference_q", "m", "largest position of the integrator's step minus F1 z",
                measured.run_difference_q);
    file.number(group, "run_difference_p", "kg m/s", "largest momentum of the integrator's step minus F1 z",
                measured.run_difference_p);
    file.number(group, "undefined_steps", "1", "steps without substitute",
                static_cast<double>(measured.undefined_steps));
    file.number(group, "undefined_components", "1", "components without substitute, summed over the steps",
                measured.total.undefined);
    file.number(group, "first_undefined_step", "1", "first step without substitute, from 1; 0 if there is none",
                static_cast<double>(measured.first_undefined_step));
    file.flush();
  }

  const Experiment& experiment_;
  std::optional<double> offset_;  // m
};

std::unique_ptr<Study> make_substituting_system(const Recipe& recipe, const Experiment& experiment,
                                                Mistakes& mistakes) {
  refuse_external_forces(recipe, mistakes);
  refuse_nonlinear_couplings(recipe, experiment, mistakes);
  const Section& study = recipe.study;
  const std::vector<Case>& cases = experiment.cases();
  if (std::none_of(cases.begin(), cases.end(), has_substituting_system)) {
    mistakes.add(study.where("kind"),
                 "a substituting-system study examines open runs of `time-centred`, but this recipe has no "
                 "[[integrators]] with method = \"time-centred\" and on = \"open\"");
  }
  if (!experiment.system().potential->is_quadratic()) {
    mistakes.add(study.where("kind"),
                 "a substituting-system study needs a linear system, but the potential of this one is not quadratic");
  }
  std::optional<double> offset;
  if (study.has("offset")) offset = study.number("offset");
  return std::make_unique<SubstitutingSystemStudy>(experiment, offset);
}

}  // namespace

StudyKind substituting_system_kind() {
  return {
      {.name = "substituting-system",
       .summary =
           "a damped linear system represented in each step by a conservative one: comparison of transition matrices",
       .equation = "K~_ii = 2 sum_j C_ij (q_j+ - q_j) / (tau (q_i + q_i+));  F1 with K and C, F2 with K + K~",
       .source = "luo2010, eqs. (37), (42), (51)-(71)",
       .parameters = {optional("offset", ValueType::number, "m",
                               "offset of all positions of a second initial state, from which substitute and damped "
                               "system are advanced as well")},
       .notes = "Examines every open run of `time-centred`. Group substituting-system/<integrator>: damped_defect, max "
                "|F1^T J F1 - J|; defect, difference_q, difference_p of F2 and F2 z - F1 z with their round-off bounds "
                "over time, largest_... and `fraction` of the bounds overall; stiffness, the diagonal of K~; "
                "run_difference_q and run_difference_p, the integrator's step minus F1 z; growth, the spectral radius "
                "of F2, which exceeds 1 where K~ makes the step hyperbolic; with an offset offset_q and "
                "offset_damped_q, and their areas z^T J w with the curve, area and damped_area. Where q_i + q_i+ is "
                "zero or so small that K~_ii overflows, the step has no F2: it is left out of defect and differences "
                "(NaN over time) and counted in undefined, undefined_components and undefined_steps."},
      make_substituting_system};
}

}  // namespace bathline
