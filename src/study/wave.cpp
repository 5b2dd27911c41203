// The wave on a line: the speed of its front and the time of its echo.
//
// The front at a time is the farthest site displaced by at least a threshold; its speed is the slope of a straight line
// through the positions of the outgoing front. The echo is detected at the head: with F the force on the head and x'
// its velocity, (x' + F/D) / 2 is the velocity of the incoming wave (limebeer2020, eq. (33)), zero until the echo. The
// time of the echo is that at which this velocity reaches half of its maximum.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "driver/time_loop.hpp"
#include "study/catalogue.hpp"
#include "study/memory_check.hpp"
#include "study/shared_checks.hpp"
#include "study/theory/line_fit.hpp"

namespace bathline {

namespace {

class WaveObserver final : public Observer {
 public:
  WaveObserver(std::string label, double threshold) : label_(std::move(label)), threshold_(threshold) {}

  void snapshot(const StateView& moment) override {
    if (moment.this_case.name != label_) return;
    Environment& line = *moment.problem.stepped_environments().front();
    double farthest = 0.0;  // the head
    for (int axis = 0; axis < line.attachment().axes(); ++axis) {
      const StateField field = line.field("w", axis);
      const std::span<const double> w = field.values;
      for (std::size_t j = w.size(); j > 0; --j) {
        if (std::abs(w[j - 1]) < threshold_) continue;
        farthest = std::max(farthest, static_cast<double>(field.first) + static_cast<double>(j));
        break;
      }
    }
    snapshot_time.push_back(moment.time);
    front_site.push_back(moment.problem.communicator().max(farthest));
  }

  void record(const StateView& moment, const EnergyLedger&) override {
    if (moment.this_case.name != label_) return;
    time.push_back(moment.time);
    incoming.push_back(0.0);
    if (!moment.problem.communicator().is_root()) return;  // the force on the head is known there
    const Environment& line = *moment.problem.stepped_environments().front();
    const auto axes = static_cast<std::size_t>(line.attachment().axes());
    std::vector<double> head(axes), force(axes), velocity(axes);
    moment.problem.head(line, moment.problem.q, head);
    line.force(head, force);
    line.attachment().velocity(moment.problem.q, moment.problem.velocity(), moment.problem.clock.at(0.0), velocity);
    incoming.back() = 0.5 * (velocity[0] + force[0] / line.properties().damping);
  }

  void serialise(Archive& archive) override {
    archive.numbers("snapshot_time", snapshot_time);
    archive.numbers("front_site", front_site, snapshot_time.size());
    archive.numbers("time", time);
    archive.numbers("incoming", incoming, time.size());
  }

  std::vector<double> snapshot_time, front_site, time, incoming;

 private:
  std::string label_;
  double threshold_;
};

/// The first closed case with an environment, whose line is examined.
const Case* examined_case(const Experiment& experiment) {
  for (const Case& this_case : experiment.cases()) {
    const auto& selected = this_case.environments;
    const auto has_stepper = [&](std::size_t index) { return !experiment.is_white(index); };
    if (this_case.closed && std::any_of(selected.begin(), selected.end(), has_stepper)) return &this_case;
  }
  return nullptr;
}

/// Whether the line that is examined has no `w0` and `v0`.
bool starts_at_rest(const Recipe& recipe, const Experiment& experiment) {
  const Case* this_case = examined_case(experiment);
  if (this_case == nullptr) return true;
  const auto& selected = this_case->environments;
  const auto line =
      std::find_if(selected.begin(), selected.end(), [&](std::size_t index) { return !experiment.is_white(index); });
  const Section& section = recipe.environments[*line];
  return !section.has("w0") && !section.has("v0");
}

class WaveStudy final : public Study {
 public:
  WaveStudy(const Experiment& experiment, double threshold, bool starts_at_rest)
      : experiment_(experiment), threshold_(threshold), starts_at_rest_(starts_at_rest) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    const Case& this_case = *examined_case(experiment_);
    WaveObserver wave(this_case.name, threshold_);
    Observer* const observers[] = {&wave};
    if (std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, observers))
      return failure;
    const Problem problem = experiment_.make_problem(this_case);
    const Environment& line = *problem.stepped_environments().front();

    // The outgoing front, without the start, where no site exceeds the threshold, and without the far end.
    std::vector<double> t, x;
    const auto sites = static_cast<double>(line.properties().sites);
    for (std::size_t i = 0; i < wave.front_site.size() && wave.front_site[i] < 0.95 * sites; ++i) {
      if (wave.front_site[i] < 0.05 * sites) continue;
      t.push_back(wave.snapshot_time[i]);
      x.push_back(wave.front_site[i]);
    }
    double echo = std::numeric_limits<double>::quiet_NaN();
    double largest = 0.0;
    // The force lags behind the velocity of the head until the first sites have followed it.
    const double transient = 0.05 * line.properties().echo.time;
    for (std::size_t k = 0; k < wave.incoming.size(); ++k) {
      if (wave.time[k] > transient) largest = std::max(largest, std::abs(wave.incoming[k]));
    }
    for (std::size_t k = 0; k < wave.incoming.size() && largest > 0.0; ++k) {
      if (wave.time[k] <= transient || std::abs(wave.incoming[k]) < 0.5 * largest) continue;
      echo = wave.time[k];
      break;
    }
    const GroupWriter out(file, "wave");
    out.array("front_site", "1", "farthest displaced site, counted from 1; 0: none",
              {{"snapshot_time", wave.snapshot_time, "s", "time of the snapshot"}}, wave.front_site);
    out.array("incoming_velocity", "m/s", "velocity of the incoming wave at the head",
              {{"time", wave.time, "s", "time"}}, wave.incoming);
    out.number("front_speed", "sites/s", "measured speed of the front", fit_line(t, x).slope);
    out.number("echo_time", "s", "measured time of the first echo at the head", echo, true);
    // On a line of unequal sites the speed varies, and the first echo is that of the first difference. On a line that
    // moves from the start there is no front that begins at the head.
    const std::optional<double> speed = line.properties().front_speed;
    if (speed && starts_at_rest_ && line.properties().temperature == 0.0) {
      out.number("front_speed_theory", "sites/s", "sqrt(lambda/M)", *speed);
      out.number("echo_time_theory", "s", "2 sites sqrt(M/lambda)", line.properties().echo.time);
    }
    file.attribute("integrator", this_case.name, "wave");
    return std::nullopt;
  }

 private:
  const Experiment& experiment_;
  double threshold_;  // m
  bool starts_at_rest_;
};

std::unique_ptr<Study> make_wave(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  if (experiment.output().snapshots == 0) {
    mistakes.add(
        recipe.study.where("kind"),
        "a wave study needs `snapshots` in [output], the number of steps between two evaluations of the front");
  }
  check_needs({.examined = "[[integrators]] that are closed with an environment",
               .has_examined = examined_case(experiment) != nullptr},
              recipe, experiment, mistakes);
  check_memory_of_records(4.0, false, recipe, experiment, mistakes);
  if (const std::string siteless = experiment.environment_without_sites(); !siteless.empty()) {
    mistakes.add(recipe.study.where("kind"), fmt::format("a wave study needs sites, but `{}` has none", siteless));
  }
  return std::make_unique<WaveStudy>(experiment, recipe.study.number("threshold"), starts_at_rest(recipe, experiment));
}

}  // namespace

StudyKind wave_kind() {
  return {{.name = "wave",
           .summary = "speed of the front on a line and time of its echo",
           .equation = "front(t) = farthest site with |w| >= threshold;  incoming velocity (x' + F/D) / 2 at the head",
           .source = "limebeer2020, Theorem III.1 and eq. (33)",
           .parameters = {required("threshold", ValueType::number, "m",
                                   "smallest displacement that counts as the front", Bound::positive)},
           .notes = "Examines the first environment of the first closed integrator. Group wave: front_site, "
                    "front_speed, echo_time, incoming_velocity and, for a line of equal sites that starts cold and at "
                    "rest, the theoretical speed and time."},
          make_wave};
}

}  // namespace bathline
