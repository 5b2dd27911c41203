// A damped step as a step of a conservative system: luo2010's substituting system along a trajectory.
//
// Every open case of `time-centred` is run once more. At each step the damped transition matrix F1 has a substitute F2
// (study/theory/substituting_system.hpp): how far either is from symplectic, and how far F2 z is from F1 z, against
// bounds of the round-off. F1 is formed from M, K and C; that it is the integrator's step is measured, too.
//
// The substitute shares this one curve with the damped system and no other (Proposition 1). With an `offset` both are
// followed from a start beside it, by the F2 of the curve and by F1. With z on the curve and w beside it the area
// z^T J w stays what it is under F2, whatever its stiffness, and shrinks under F1: with one particle by det F1 a step.
// Source: luo2010, sections 2.1 and 3.2.
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

constexpr double none = std::numeric_limits<double>::quiet_NaN();

bool is_substituted(const Case& one) { return !one.closed && one.method->entry.name == "time-centred"; }

/// Keeps the larger one; a value that is not there yet is NaN.
void keep_largest(double& largest, double value) { largest = std::fmax(largest, value); }

/// The largest of a number of steps, NaN where no step had a substitute.
struct Largest {
  double defect = none, defect_bound = none, difference_q = none, difference_p = none;
  double bound_q = none, bound_p = none;
  double fraction = none;
  double undefined = 0.0;  // components, summed
  double growth = none;    // spectral radius of F2
  double pole = none;      // component of K~
  VectorXd stiffness;      // of the last step

  void add(const SubstitutingSystem::Substitute& step) {
    undefined += step.undefined;
    stiffness = step.stiffness;
    if (!step.is_defined) return;
    keep_largest(growth, spectral_radius(step.matrix));
    keep_largest(pole, step.stiffness.cwiseAbs().maxCoeff());
    const Eigen::Index n = step.stiffness.size();
    const VectorXd size = step.difference.cwiseAbs();
    keep_largest(defect, step.defect);
    keep_largest(defect_bound, step.defect_bound);
    keep_largest(difference_q, size.head(n).maxCoeff());
    keep_largest(difference_p, size.tail(n).maxCoeff());
    keep_largest(bound_q, step.difference_bound.head(n).maxCoeff());
    keep_largest(bound_p, step.difference_bound.tail(n).maxCoeff());
    keep_largest(fraction, step.defect_fraction);
    for (Eigen::Index i = 0; i < size.size(); ++i) {
      // Where nothing can be wrong nothing may be.
      keep_largest(fraction, size[i] == 0.0 ? 0.0 : size[i] / step.difference_bound[i]);
    }
  }
  void add(const Largest& other) {
    for (double Largest::*member :
         {&Largest::defect, &Largest::defect_bound, &Largest::difference_q, &Largest::difference_p, &Largest::bound_q,
          &Largest::bound_p, &Largest::fraction, &Largest::growth, &Largest::pole}) {
      keep_largest(this->*member, other.*member);
    }
    undefined += other.undefined;
  }
};

/// The motions of substitute and damped system from a start beside the curve that they share, and the areas that they
/// span with it.
struct OffsetComparison {
  VectorXd substitute, damped;  // states (q, p); the substitute's is NaN from the first step without one on
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

/// What rank 0 has measured of one case.
struct Measured {
  double damped_defect = 0.0;
  double run_difference_q = 0.0, run_difference_p = 0.0;  // the integrator's step against F1
  std::int64_t undefined_steps = 0, first_undefined_step = 0;
  std::vector<Largest> records;
  Largest whole;
  std::optional<OffsetComparison> beside;
};

class SubstitutingSystemStudy final : public Study {
 public:
  SubstitutingSystemStudy(const Experiment& experiment, std::optional<double> offset)
      : experiment_(experiment), offset_(offset) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, {}))
      return failure;
    for (const Case& one : experiment_.cases()) {
      if (!is_substituted(one)) continue;
      Measured measured;
      progress.begin(one.label + ", substituting system", one.steps);
      const std::optional<Failure> failure = follow(one, progress, measured);
      progress.end();
      if (failure) return CaseFailure{one.label, *failure};
      write(file, one, measured);
    }
    return std::nullopt;
  }

 private:
  /// @note Collective.
  std::optional<Failure> follow(const Case& one, Progress& progress, Measured& measured) const {
    Problem problem = experiment_.make_problem(one);
    problem.prepare();
    const std::unique_ptr<Stepper> stepper = make_stepper(one.scheme, problem, one.step);
    const SubstitutingSystem system(problem.system(), problem.damping(), one.step);
    const Eigen::Index n = problem.q.size();
    const std::int64_t every = experiment_.output().every;
    measured.damped_defect = system.damped_defect();
    if (offset_) measured.beside.emplace(problem.q, problem.p, *offset_);
    Largest since_record;
    for (std::int64_t step = 1; step <= one.steps; ++step) {
      const VectorXd q = problem.q, p = problem.p;
      if (std::optional<Failure> failure = stepper->advance(1)) return failure;
      progress.update(step);
      if (!problem.communicator().is_root()) continue;
      const VectorXd damped = system.damped_step(q, p);
      keep_largest(measured.run_difference_q, (problem.q - damped.head(n)).cwiseAbs().maxCoeff());
      keep_largest(measured.run_difference_p, (problem.p - damped.tail(n)).cwiseAbs().maxCoeff());
      const SubstitutingSystem::Substitute substitute = system.substitute(q, p);
      since_record.add(substitute);
      if (measured.beside) {
        VectorXd& beside = measured.beside->substitute;
        if (substitute.is_defined) {
          beside = substitute.matrix * beside;
        } else {
          beside.setConstant(none);
        }
        measured.beside->damped = system.damped_matrix() * measured.beside->damped;
      }
      if (!substitute.is_defined && measured.undefined_steps++ == 0) measured.first_undefined_step = step;
      if (step % every != 0 && step != one.steps) continue;
      measured.records.push_back(since_record);
      if (measured.beside) measured.beside->record(problem.q, problem.p);
      measured.whole.add(since_record);
      since_record = {};
    }
    return std::nullopt;
  }

  void write(ResultFile& file, const Case& one, const Measured& measured) const {
    const std::string group = "substituting-system/" + one.label;
    const Dimension time = output_times(experiment_, one);
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
    file.array(group, {"stiffness", "N/m", "substitute stiffness of the last step", {"time", "particle"}}, both,
               stiffness);
    if (measured.beside) {
      const OffsetComparison& beside = *measured.beside;
      file.array(group, {"offset_q", "m", "position of the substitute beside its curve", {"time", "particle"}}, both,
                 beside.substitute_q);
      file.array(group, {"offset_damped_q", "m", "position of the damped system from there", {"time", "particle"}},
                 both, beside.damped_q);
      file.array(group, {"area", "J s", "area z^T J w of curve and substitute beside it", {"time"}},
                 std::span(&time, 1), beside.substitute_area);
      file.array(group, {"damped_area", "J s", "area z^T J w of curve and damped motion beside it", {"time"}},
                 std::span(&time, 1), beside.damped_area);
    }
    file.number(group, "largest_growth", "1", "largest spectral radius of F2 overall", measured.whole.growth);
    file.number(group, "largest_stiffness", "N/m", "largest component of K~ overall", measured.whole.pole);
    file.number(group, "damped_defect", "1", "largest entry of F1^T J F1 - J", measured.damped_defect);
    file.number(group, "largest_defect", "1", "largest entry of F2^T J F2 - J overall", measured.whole.defect);
    file.number(group, "largest_difference_q", "m", "largest position of F2 z - F1 z overall",
                measured.whole.difference_q);
    file.number(group, "largest_difference_p", "kg m/s", "largest momentum of F2 z - F1 z overall",
                measured.whole.difference_p);
    file.number(group, "fraction", "1", "largest part of a round-off bound that a defect or difference reaches",
                measured.whole.fraction);
    file.number(group, "run_difference_q", "m", "largest position of the integrator's step less F1 z",
                measured.run_difference_q);
    file.number(group, "run_difference_p", "kg m/s", "largest momentum of the integrator's step less F1 z",
                measured.run_difference_p);
    file.number(group, "undefined_steps", "1", "steps without substitute",
                static_cast<double>(measured.undefined_steps));
    file.number(group, "undefined_components", "1", "components without substitute, summed over the steps",
                measured.whole.undefined);
    file.number(group, "first_undefined_step", "1", "the first of these steps, from 1; 0 where there is none",
                static_cast<double>(measured.first_undefined_step));
    file.flush();
  }

  const Experiment& experiment_;
  std::optional<double> offset_;  // m
};

std::unique_ptr<Study> make_substituting_system(const Recipe& recipe, const Experiment& experiment,
                                                Mistakes& mistakes) {
  refuse_external_forces(recipe, mistakes);
  const Section& study = recipe.study;
  const std::vector<Case>& cases = experiment.cases();
  if (std::none_of(cases.begin(), cases.end(), is_substituted)) {
    mistakes.add(
        study.where("kind"),
        "a substituting-system study follows open runs of `time-centred`; this recipe has no [[integrators]] with "
        "name = \"time-centred\" and on = \"open\"");
  }
  if (!experiment.system().potential->is_quadratic()) {
    mistakes.add(study.where("kind"),
                 "a substituting-system study needs a linear system, and this one's potential is not quadratic");
  }
  std::optional<double> offset;
  if (study.has("offset")) offset = study.number("offset");
  return std::make_unique<SubstitutingSystemStudy>(experiment, offset);
}

}  // namespace

StudyKind substituting_system_kind() {
  return {
      {.name = "substituting-system",
       .summary = "a damped linear system step by step as a conservative one: transition matrices compared",
       .equation = "K~_ii = 2 sum_j C_ij (q_j+ - q_j) / (tau (q_i + q_i+));  F1 with K and C, F2 with K + K~",
       .source = "luo2010, eqs. (37), (42), (51)-(71)",
       .parameters =
           {{.name = "offset",
             .units = "m",
             .doc = "follows the substitute beside the curve that it shares with the damped system as well, from "
                    "a start that is so far from it in every position"}},
       .notes =
           "Every open run of `time-centred` is followed. Group substituting-system/<integrator>: damped_defect, max "
           "|F1^T J "
           "F1 - J|; defect, difference_q, difference_p of F2 and F2 z - F1 z with their round-off bounds over "
           "time, largest_... and `fraction` of the bounds overall; stiffness, the diagonal of K~; "
           "run_difference_q and run_difference_p, the integrator's step less F1 z; growth, the spectral radius of "
           "F2, which is over 1 where K~ makes the step hyperbolic; with an offset offset_q and offset_damped_q, "
           "and their areas z^T J w with the curve, area and damped_area. Where q_i + q_i+ is zero "
           "or so small that K~_ii overflows, the step has no F2: it is left out of defect and differences "
           "(NaN over time) and counted in undefined, undefined_components and undefined_steps."},
      make_substituting_system};
}

}  // namespace bathline
