// A damped step as a step of a conservative system: the substituting system of luo2010 along a trajectory.
//
// The run of every open case of `time-centred` is repeated. In each step the damped transition matrix F1 has a
// substitute F2 (study/theory/substituting_system.hpp). The symplecticity defects of both and the difference of F2 z
// and F1 z are measured. F1 is formed from M, K and C, and compared with the step of the integrator.
//
// The substitute shares only this solution curve with the damped system (Proposition 1). With an `offset` both are also
// advanced from an offset initial state, by the F2 of the curve and by F1. With z on the curve and w the offset state,
// the area z^T J w is invariant under F2, whatever its stiffness, and shrinks under F1: for one particle by det F1 a
// step. Source: luo2010, sections 2.1 and 3.2.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "driver/output_times.hpp"
#include "solve/dense.hpp"
#include "study/catalogue.hpp"
#include "study/memory_check.hpp"
#include "study/shared_checks.hpp"
#include "study/step_comparison.hpp"
#include "study/theory/substituting_system.hpp"

namespace bathline {

namespace {

using Eigen::VectorXd;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool has_substituting_system(const Case& this_case) {
  return !this_case.closed && this_case.method->entry.name == "time-centred";
}

/// What is measured in every step that has a substitute.
constexpr ComparedQuantity substitute_measures[] = {{"defect", "1", "entry of F2^T J F2 - J"},
                                                    {"difference_q", "m", "position of F2 z - F1 z"},
                                                    {"difference_p", "kg m/s", "momentum of F2 z - F1 z"},
                                                    {"growth", "1", "spectral radius of F2"}};

/// Solutions of substitute and damped system from the offset initial state, and the areas that they span with the
/// curve.
struct OffsetComparison {
  VectorXd substitute, damped;  // states (q, p); the substitute's is NaN after a step without one
  std::vector<double> substitute_q, damped_q, substitute_area, damped_area;

  OffsetComparison(const VectorXd& q, const VectorXd& p, double offset) : substitute(2 * q.size()) {
    substitute << q.array() + offset, p;
    damped = substitute;
  }
  void record(const ParticleState& curve) {
    const Eigen::Index n = curve.q.size();
    const auto area = [&](const VectorXd& w) { return curve.q.dot(w.tail(n)) - curve.p.dot(w.head(n)); };
    substitute_q.insert(substitute_q.end(), substitute.begin(), substitute.begin() + n);
    damped_q.insert(damped_q.end(), damped.begin(), damped.begin() + n);
    substitute_area.push_back(area(substitute));
    damped_area.push_back(area(damped));
  }
};

/// Results of a case, on rank 0.
struct MeasuredDefects {
  double damped_defect = 0.0, largest_stiffness = not_a_number;
  LargestValues run_differences = LargestValues(2);  // the integrator's step against F1
  LargestValues steps = LargestValues(std::size(substitute_measures), not_a_number);
  std::int64_t undefined_steps = 0, first_undefined_step = 0;
  std::vector<double> undefined{0.0};  // components, by record and of the one that follows
  std::vector<double> stiffness;       // of the last step, by record
  std::optional<OffsetComparison> offset;
};

class SubstitutingSystemStudy final : public SecondRunStudy {
 public:
  SubstitutingSystemStudy(const Experiment& experiment, std::optional<double> offset)
      : SecondRunStudy(experiment), offset_(offset) {}

 private:
  bool is_examined(const Case& this_case) const override { return has_substituting_system(this_case); }

  std::optional<Failure> examine(const Case& this_case, ResultFile& file, Progress& progress) override {
    MeasuredDefects measured;
    Problem problem = experiment_.make_problem(this_case);
    problem.prepare();
    const SubstitutingSystem system(problem.system(), problem.damping(), this_case.step);
    const Eigen::Index n = problem.q.size();
    measured.damped_defect = system.damped_defect();
    if (offset_) measured.offset.emplace(problem.q, problem.p, *offset_);
    std::int64_t step = 0;
    SubstitutingSystem::Substitute substitute;
    ParticleState curve;
    const auto compare = [&](const ParticleState& before, const ParticleState& after) {
      ++step;
      curve = after;
      const VectorXd damped = system.damped_step(before.q, before.p);
      measured.run_differences.add(0, after.q - damped.head(n));
      measured.run_differences.add(1, after.p - damped.tail(n));
      substitute = system.substitute(before.q, before.p);
      measured.undefined.back() += substitute.undefined;
      if (substitute.is_defined) {
        measured.largest_stiffness = std::fmax(measured.largest_stiffness, substitute.stiffness.cwiseAbs().maxCoeff());
        measured.steps.add(0, substitute.defect);
        measured.steps.add(1, substitute.difference.head(n));
        measured.steps.add(2, substitute.difference.tail(n));
        measured.steps.add(3, spectral_radius(substitute.matrix));
      } else if (measured.undefined_steps++ == 0) {
        measured.first_undefined_step = step;
      }
      if (!measured.offset) return true;
      VectorXd& offset = measured.offset->substitute;
      offset = substitute.is_defined ? VectorXd(substitute.matrix * offset) : VectorXd::Constant(2 * n, not_a_number);
      measured.offset->damped = system.damped_matrix() * measured.offset->damped;
      return true;
    };
    const auto end_record = [&] {
      measured.steps.end_record();
      measured.undefined.push_back(0.0);
      measured.stiffness.insert(measured.stiffness.end(), substitute.stiffness.begin(), substitute.stiffness.end());
      if (measured.offset) measured.offset->record(curve);
    };
    const std::optional<Failure> failure =
        compare_steps(this_case, experiment_.output().every, problem, progress,
                      {this_case.name + ", substituting system", "", compare, end_record});
    if (!failure) write(file, this_case, measured);
    return failure;
  }

  void write(ResultFile& file, const Case& this_case, const MeasuredDefects& measured) const {
    const GroupWriter out(file, "substituting-system/" + this_case.name);
    const Dimension time = output_times(experiment_, this_case);
    for (std::size_t i = 0; i < std::size(substitute_measures); ++i) {
      const auto& [name, units, what] = substitute_measures[i];
      out.array(name, units, fmt::format("largest {} since the record before", what), {time},
                measured.steps.by_record(i));
      out.number(fmt::format("largest_{}", name), units, fmt::format("largest {} overall", what),
                 measured.steps.overall(i), measured.undefined_steps > 0);
    }
    const std::span<const double> undefined(measured.undefined.data(), measured.undefined.size() - 1);
    out.array("undefined", "1", "components without substitute since the record before", {time}, undefined);
    const std::vector<Dimension> both{
        time, counted_dimension("particle", static_cast<std::size_t>(experiment_.system().size()),
                                "particle, counted from 0")};
    out.array("stiffness", "N/m", "stiffness of the substitute in the last step", both, measured.stiffness);
    if (measured.offset) {
      const OffsetComparison& offset = *measured.offset;
      out.array("offset_q", "m", "position of the substitute from the offset initial state", both, offset.substitute_q);
      out.array("offset_damped_q", "m", "position of the damped system from the offset initial state", both,
                offset.damped_q);
      out.array("area", "J s", "area z^T J w of the curve and the offset substitute", {time}, offset.substitute_area);
      out.array("damped_area", "J s", "area z^T J w of the curve and the offset damped system", {time},
                offset.damped_area);
    }
    out.number("largest_stiffness", "N/m", "largest component of K~ overall", measured.largest_stiffness,
               measured.undefined_steps > 0);
    out.number("damped_defect", "1", "largest entry of F1^T J F1 - J", measured.damped_defect);
    out.number("run_difference_q", "m", "largest position of the integrator's step minus F1 z",
               measured.run_differences.overall(0));
    out.number("run_difference_p", "kg m/s", "largest momentum of the integrator's step minus F1 z",
               measured.run_differences.overall(1));
    out.number("undefined_steps", "1", "steps without substitute", static_cast<double>(measured.undefined_steps));
    out.number("undefined_components", "1", "components without substitute, summed over the steps",
               std::accumulate(undefined.begin(), undefined.end(), 0.0));
    out.number("first_undefined_step", "1", "first step without substitute, from 1; 0 if there is none",
               static_cast<double>(measured.first_undefined_step));
  }

  std::optional<double> offset_;  // m
};

std::unique_ptr<Study> make_substituting_system(const Recipe& recipe, const Experiment& experiment,
                                                Mistakes& mistakes) {
  const Section& study = recipe.study;
  check_needs({.linear_system = true,
               .no_external_forces = true,
               .linear_couplings = true,
               .examined = "[[integrators]] with method = \"time-centred\" and on = \"open\"",
               .has_examined = std::ranges::any_of(experiment.cases(), has_substituting_system)},
              recipe, experiment, mistakes);
  check_memory_of_records(std::pow(experiment.system().size(), 2) + 16.0, false, recipe, experiment, mistakes);
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
       .notes =
           "Examines every open run of `time-centred`. Group substituting-system/<integrator>: damped_defect, max "
           "|F1^T J F1 - J|; defect, difference_q, difference_p of F2 and F2 z - F1 z over time, and largest_... "
           "overall; stiffness, the diagonal of K~; run_difference_q and run_difference_p, the integrator's step minus "
           "F1 z; growth, the spectral radius of F2, which exceeds 1 where K~ makes the step hyperbolic; with an "
           "offset offset_q and offset_damped_q, and their areas z^T J w with the curve, area and damped_area. Where "
           "q_i + q_i+ is zero or so small that K~_ii overflows, the step has no F2: it is left out of defect and "
           "differences (NaN over time) and counted in undefined, undefined_components and undefined_steps."},
      make_substituting_system};
}

}  // namespace bathline
