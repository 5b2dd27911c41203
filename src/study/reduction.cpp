// Closed against reduced: how well an environment stands for a damper, until, at and after its echo.
//
// On the characteristic grid the explicit closed scheme and the reduced one agree to round-off for 2 (sites + 1) steps
// (limebeer2020, Theorem IV.1; farshi2018, eq. (65)); elsewhere they agree as far as the lattice is not dispersive.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "study/memory.hpp"
#include "study/trajectory.hpp"

namespace bathline {

namespace {

/// The particles' path of every case.
class PathKeeper final : public Observer {
 public:
  struct Path {
    std::vector<double> time;
    std::vector<std::int64_t> step;
    std::vector<Eigen::VectorXd> q;
  };
  void record(const Moment& moment, const EnergyLedger&) override {
    Path& path = paths_[moment.one.label];
    path.time.push_back(moment.time);
    path.step.push_back(moment.step);
    path.q.push_back(moment.problem.q);
  }
  void save(CheckpointWriter& checkpoint, const std::string& path) const override {
    for (const auto& [label, kept] : paths_) {
      std::vector<double> step(kept.step.begin(), kept.step.end()), q;
      for (const Eigen::VectorXd& one : kept.q) q.insert(q.end(), one.begin(), one.end());
      checkpoint.numbers(path + "/" + label + "/time", kept.time);
      checkpoint.numbers(path + "/" + label + "/step", step);
      checkpoint.numbers(path + "/" + label + "/q", q);
    }
  }
  void restore(const CheckpointReader& checkpoint, const std::string& path) override {
    for (const std::string& label : checkpoint.names(path)) {
      Path& kept = paths_[label];
      kept.time = checkpoint.numbers(path + "/" + label + "/time");
      for (double step : checkpoint.numbers(path + "/" + label + "/step")) {
        kept.step.push_back(count_of(step));
      }
      const std::vector<double> q = checkpoint.numbers(path + "/" + label + "/q");
      if (kept.step.size() != kept.time.size()) throw std::out_of_range(path);
      const std::size_t size = kept.time.empty() ? 0 : q.size() / kept.time.size();
      for (std::size_t k = 0; k < kept.time.size(); ++k) {
        kept.q.emplace_back(Eigen::Map<const Eigen::VectorXd>(q.data() + k * size, static_cast<Eigen::Index>(size)));
      }
    }
  }
  const Path& path(const std::string& label) { return paths_[label]; }

 private:
  std::map<std::string, Path> paths_;
};

struct Pair {
  const Case* closed;
  const Case* open;
};

/// The pairs that `[study] pairs` names, or every closed case with the open case of the same step.
std::vector<Pair> find_pairs(const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = experiment.recipe().study;
  std::vector<Pair> pairs;
  const auto refuse = [&](const std::string& message) {
    mistakes.add(study.has("pairs") ? study.where("pairs") : study.where("kind"), message);
  };
  if (study.has("pairs")) {
    for (const std::string& text : study.texts("pairs")) {
      const std::size_t colon = text.find(':');
      const Case* closed = experiment.find_case(text.substr(0, colon));
      const Case* open = colon == std::string::npos ? nullptr : experiment.find_case(text.substr(colon + 1));
      if (!closed || !open || !closed->closed || open->closed) {
        refuse(fmt::format(
            "\"{}\" does not name a closed and an open integrator of this recipe, as in \"closed:reduced\"", text));
      } else if (closed->step != open->step) {
        refuse(fmt::format("`{}` and `{}` have different steps and cannot be compared record by record", closed->label,
                           open->label));
      } else {
        pairs.push_back({closed, open});
      }
    }
    return pairs;
  }
  for (const Case& closed : experiment.cases()) {
    for (const Case& open : experiment.cases()) {
      if (closed.closed && !open.closed && closed.step == open.step) {
        pairs.push_back({&closed, &open});
        break;
      }
    }
  }
  if (pairs.empty())
    refuse(
        "a reduction study compares a closed with an open integrator of the same step; this recipe has no such pair");
  return pairs;
}

class ReductionStudy final : public Study {
 public:
  explicit ReductionStudy(const Experiment& experiment) : experiment_(experiment) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    const std::vector<Case>& cases = experiment_.cases();
    if (Pieces::are_in(checkpoints.from())) {
      std::vector<std::string> kept = first_labels(experiment_, cases.size());
      kept.push_back("reduction");
      file.remove_all_but(kept);
    } else {
      PathKeeper keeper;
      Observer* const observers[] = {&keeper};
      const std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, observers);
      if (failure) return failure;
      Mistakes none;
      for (const Pair& pair : find_pairs(experiment_, none)) compare(pair, keeper, file);
    }
    if (!experiment_.recipe().study.boolean("memory")) return std::nullopt;
    Pieces pieces(checkpoints, file, cases);
    return measure_memory(experiment_, file, progress, pieces);
  }

 private:
  void compare(const Pair& pair, PathKeeper& keeper, ResultFile& file) {
    double echo = std::numeric_limits<double>::infinity();
    const Problem problem = experiment_.make_problem(*pair.closed);
    for (const auto& environment : problem.environments()) {
      echo = std::min(echo, environment->echo_time());
    }
    const int particles = experiment_.system().particles;
    const int axes = experiment_.system().axes;
    const PathKeeper::Path& closed = keeper.path(pair.closed->label);
    const PathKeeper::Path& open = keeper.path(pair.open->label);
    std::vector<double> differences;
    double amplitude = 0.0, until = 0.0, after = 0.0;
    for (const Eigen::VectorXd& q : open.q) amplitude = std::max(amplitude, q.cwiseAbs().maxCoeff());
    const double threshold = experiment_.recipe().study.number("threshold") * amplitude;
    double first_step = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t k = 0; k < closed.q.size(); ++k) {
      const Eigen::VectorXd difference = (closed.q[k] - open.q[k]).cwiseAbs();
      for (int particle = 0; particle < particles; ++particle) {
        differences.push_back(difference.segment(particle * axes, axes).maxCoeff());
      }
      const double largest = difference.maxCoeff();
      double& side = closed.time[k] <= echo ? until : after;
      side = std::max(side, largest);
      if (std::isnan(first_step) && largest > threshold) first_step = static_cast<double>(closed.step[k]);
    }
    const std::string group = "reduction/" + pair.closed->label;
    Dimension time{"time", closed.time, "s", "time"};
    Dimension particle{"particle", {}, "1", "particle, counted from 0"};
    for (int i = 0; i < particles; ++i) particle.values.push_back(i);
    const Dimension dimensions[] = {time, particle};
    file.array(group,
               {"difference", "m", "largest difference of a coordinate, closed against reduced", {"time", "particle"}},
               dimensions, differences);
    file.number(group, "amplitude", "m", "largest coordinate of the reduced run", amplitude);
    file.number(group, "echo_time", "s", "when theory expects the first echo, t_r", echo);
    file.number(group, "until_echo", "m", "largest difference until t_r", until);
    file.number(group, "after_echo", "m", "largest difference after t_r", after);
    file.number(group, "first_difference_step", "1", "first recorded step whose difference exceeds the threshold",
                first_step);
    file.attribute("reduced", pair.open->label, group);
  }

  const Experiment& experiment_;
};

}  // namespace

StudyKind reduction_kind() {
  return {{.name = "reduction",
           .summary = "closed against reduced runs: until, at and after the echo",
           .equation = "difference(t) = max over axes |q_closed - q_open|, per particle",
           .source = "limebeer2020, Theorem IV.1; farshi2018, eq. (65)",
           .parameters = {{.name = "pairs",
                           .type = ValueType::texts,
                           .doc = "labels to compare, \"closed:reduced\"; where absent, each closed one with the first "
                                  "open one of its step"},
                          {.name = "threshold",
                           .doc = "difference that counts as one, relative to the amplitude",
                           .fallback = "1e-9",
                           .bound = Bound::positive},
                          {.name = "memory",
                           .type = ValueType::boolean,
                           .doc = "measures memory kernel and random force of the environments as well, as the study "
                                  "`memory` does",
                           .fallback = "false"}},
           .notes = "Group reduction/<closed label>: difference, amplitude, echo_time, until_echo, after_echo, "
                    "first_difference_step."},
          [](const Experiment& experiment, Mistakes& mistakes) { find_pairs(experiment, mistakes); },
          [](const Experiment& experiment) -> std::unique_ptr<Study> {
            return std::make_unique<ReductionStudy>(experiment);
          },
          false,
          true};
}

}  // namespace bathline
