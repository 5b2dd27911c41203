// Differences of closed and reduced runs: how well an environment represents a damper until, at and after its echo.
//
// On the characteristic grid the explicit closed scheme and the reduced one agree to round-off for 2 (sites + 1) steps
// (limebeer2020, Theorem IV.1; farshi2018, eq. (65)); on other grids they differ by the dispersion of the lattice.
//
// On a spring-inerter line between two particles, inerters connect every site to the far particle, whose canonical
// momentum is p_fin = m_fin q_fin' - sum_i p_i. Reduced equations hold for p = p_fin + sum_i p_i (farshi2018,
// Remark 4.4).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "driver/time_loop.hpp"
#include "study/catalogue.hpp"
#include "study/memory_check.hpp"
#include "study/memory_kernel.hpp"

namespace bathline {

namespace {

/// The canonical momenta of the particles in the Lagrangian of particles and sites: p of a far particle minus the
/// momenta of the sites of its line. The same on every rank. @note Collective.
Eigen::VectorXd canonical_momenta(const Problem& problem) {
  Eigen::VectorXd canonical = problem.p;
  for (const auto& environment : problem.environments()) {
    if (!environment->attachment().carries_sites()) continue;
    std::vector<double> w, p;
    environment->gather_state(w, p);
    const int axes = environment->attachment().axes();
    for (const Attachment::Term& term : environment->attachment().terms()) {
      if (term.weight > 0.0) continue;
      for (auto i = static_cast<std::size_t>(term.axis); i < p.size(); i += static_cast<std::size_t>(axes)) {
        canonical[term.coordinate] += term.weight * p[i];
      }
    }
  }
  problem.communicator().broadcast(std::span<double>(canonical.data(), static_cast<std::size_t>(canonical.size())));
  return canonical;
}

/// The particles' paths of every case, and the momenta if requested.
class PathRecorder final : public Observer {
 public:
  explicit PathRecorder(bool records_momenta) : records_momenta_(records_momenta) {}

  /// The vectors of all records, concatenated.
  struct Path {
    std::vector<double> time, step, q;
    std::vector<double> p, canonical;  // empty if not requested

    Eigen::Map<const Eigen::VectorXd> at(const std::vector<double>& vectors, std::size_t record) const {
      const std::size_t size = vectors.size() / time.size();
      return {vectors.data() + record * size, static_cast<Eigen::Index>(size)};
    }
  };
  void record(const StateView& moment, const EnergyLedger&) override {
    Path& path = paths_[moment.this_case.name];
    path.time.push_back(moment.time);
    path.step.push_back(static_cast<double>(moment.step));
    const auto append = [](std::vector<double>& vectors, const Eigen::VectorXd& vector) {
      vectors.insert(vectors.end(), vector.begin(), vector.end());
    };
    append(path.q, moment.problem.q);
    if (!records_momenta_) return;
    append(path.p, moment.problem.p);
    append(path.canonical, canonical_momenta(moment.problem));
  }
  void serialise(Archive& archive) override {
    archive.each(paths_, [](Archive& entry, Path& path) {
      entry.numbers("time", path.time);
      entry.numbers("step", path.step, path.time.size());
      entry.numbers("q", path.q);
      entry.numbers("p", path.p);
      entry.numbers("canonical", path.canonical, path.p.size());
      for (const std::vector<double>* vectors : {&path.q, &path.p}) {
        if (path.time.empty() ? !vectors->empty() : vectors->size() % path.time.size() != 0) {
          throw std::out_of_range("path");
        }
      }
    });
  }
  const Path& path(const std::string& label) { return paths_[label]; }

 private:
  bool records_momenta_;
  std::map<std::string, Path> paths_;
};

struct Pair {
  const Case* closed;
  const Case* open;
};

/// The pairs named by `[study] pairs`, or every closed case with the first open case of the same step.
std::vector<Pair> find_pairs(const Section& study, const Experiment& experiment, Mistakes& mistakes) {
  std::vector<Pair> pairs;
  const auto add_mistake = [&](const std::string& message) {
    mistakes.add(study.has("pairs") ? study.where("pairs") : study.where("kind"), message);
  };
  if (study.has("pairs")) {
    for (const std::string& text : study.texts("pairs")) {
      const std::size_t colon = text.find(':');
      const Case* closed = experiment.find_case(text.substr(0, colon));
      const Case* open = colon == std::string::npos ? nullptr : experiment.find_case(text.substr(colon + 1));
      if (!closed || !open || !closed->closed || open->closed) {
        add_mistake(fmt::format(
            "\"{}\" does not name a closed and an open integrator of this recipe, as in \"closed:reduced\"", text));
      } else if (closed->step != open->step) {
        add_mistake(fmt::format("`{}` and `{}` have different steps and cannot be compared record by record",
                                closed->name, open->name));
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
    add_mistake(
        "a reduction study compares a closed with an open integrator of the same step; this recipe has no such pair");
  return pairs;
}

struct ReductionOptions {
  std::vector<Pair> pairs;
  double threshold = 0.0;  ///< smallest difference that counts, relative to the amplitude
  bool with_memory = false, with_momenta = false;
};

class ReductionStudy final : public Study {
 public:
  ReductionStudy(const Experiment& experiment, ReductionOptions options)
      : experiment_(experiment), options_(std::move(options)) {}

  std::optional<CaseFailure> run(ResultFile& file, Progress& progress, Checkpoints& checkpoints) override {
    const std::vector<Case>& cases = experiment_.cases();
    if (!ResumableTasks::has_tasks(checkpoints.from())) {
      PathRecorder recorder(options_.with_momenta);
      Observer* const observers[] = {&recorder};
      const std::optional<CaseFailure> failure = run_trajectories(experiment_, file, progress, checkpoints, observers);
      if (failure) return failure;
      for (const Pair& pair : options_.pairs) compare(pair, recorder, file);
    }
    if (!options_.with_memory) return std::nullopt;
    ResumableTasks tasks(checkpoints, cases);
    return measure_memory_kernel(experiment_, file, progress, tasks);
  }

 private:
  void compare(const Pair& pair, PathRecorder& recorder, ResultFile& file) {
    double echo = std::numeric_limits<double>::infinity();
    const Problem problem = experiment_.make_problem(*pair.closed);
    for (const auto& environment : problem.environments()) {
      echo = std::min(echo, environment->properties().echo.time);
    }
    const int particles = experiment_.system().particles;
    const int axes = experiment_.system().axes;
    const PathRecorder::Path& closed = recorder.path(pair.closed->name);
    const PathRecorder::Path& open = recorder.path(pair.open->name);
    std::vector<double> differences;
    double amplitude = 0.0, max_until = 0.0, max_after = 0.0;
    for (const double q : open.q) amplitude = std::max(amplitude, std::abs(q));
    const double threshold = options_.threshold * amplitude;
    double first_step = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t k = 0; k < closed.time.size(); ++k) {
      const Eigen::VectorXd difference = (closed.at(closed.q, k) - open.at(open.q, k)).cwiseAbs();
      for (int particle = 0; particle < particles; ++particle) {
        differences.push_back(difference.segment(particle * axes, axes).maxCoeff());
      }
      const double largest = difference.maxCoeff();
      double& maximum = closed.time[k] <= echo ? max_until : max_after;
      maximum = std::max(maximum, largest);
      if (std::isnan(first_step) && largest > threshold) first_step = closed.step[k];
    }
    const std::string group = "reduction/" + pair.closed->name;
    const GroupWriter out(file, group);
    const std::vector<Dimension> dimensions{
        {"time", closed.time, "s", "time"},
        counted_dimension("particle", static_cast<std::size_t>(particles), "particle, counted from 0")};
    out.array("difference", "m", "largest difference of a coordinate between closed and reduced run", dimensions,
              differences);
    out.number("amplitude", "m", "largest coordinate of the reduced run", amplitude);
    out.number("echo_time", "s", "theoretical time of the first echo, t_r", echo);
    out.number("until_echo", "m", "largest difference until t_r", max_until);
    out.number("after_echo", "m", "largest difference after t_r", max_after);
    out.number("first_difference_step", "1", "first recorded step whose difference exceeds the threshold", first_step,
               true);
    if (!closed.p.empty()) compare_momenta(closed, open, dimensions, out);
    file.attribute("reduced", pair.open->name, group);
  }

  void compare_momenta(const PathRecorder::Path& closed, const PathRecorder::Path& open,
                       std::vector<Dimension> dimensions, const GroupWriter& out) const {
    const int particles = experiment_.system().particles, axes = experiment_.system().axes;
    std::vector<double> differences, canonical_differences;
    for (std::size_t k = 0; k < closed.time.size(); ++k) {
      for (int particle = 0; particle < particles; ++particle) {
        const auto largest = [&](const std::vector<double>& momenta) {
          return (closed.at(momenta, k) - open.at(open.p, k)).segment(particle * axes, axes).cwiseAbs().maxCoeff();
        };
        differences.push_back(largest(closed.p));
        canonical_differences.push_back(largest(closed.canonical));
      }
    }
    out.array("difference_p", "kg m/s", "largest difference of a momentum m v between closed and reduced run",
              dimensions, differences);
    out.array("difference_canonical_p", "kg m/s",
              "largest difference of a canonical momentum between closed and reduced run", dimensions,
              canonical_differences);
    dimensions.push_back(counted_dimension("axis", static_cast<std::size_t>(axes), "axis, counted from 0"));
    out.array("canonical_p", "kg m/s",
              "canonical momentum, m v minus the momenta of the sites of lines that end at the particle", dimensions,
              closed.canonical);
  }

  const Experiment& experiment_;
  ReductionOptions options_;
};

std::unique_ptr<Study> make_reduction(const Recipe& recipe, const Experiment& experiment, Mistakes& mistakes) {
  const Section& study = recipe.study;
  ReductionOptions options{.pairs = find_pairs(study, experiment, mistakes)};
  options.threshold = study.number("threshold");
  options.with_memory = study.boolean("memory");
  options.with_momenta = study.boolean("momenta");
  if (const std::string siteless = options.with_momenta ? experiment.environment_without_sites() : "";
      !siteless.empty()) {
    mistakes.add(study.where("momenta"),
                 fmt::format("`momenta` needs the momenta of sites, but `{}` has no sites", siteless));
  }
  check_memory_of_records(4.0 + (options.with_momenta ? 4.0 : 2.0) * experiment.system().size(), options.with_momenta,
                          recipe, experiment, mistakes);
  if (options.with_memory) check_memory_of_kernels(recipe, experiment, mistakes);
  return std::make_unique<ReductionStudy>(experiment, std::move(options));
}

}  // namespace

StudyKind reduction_kind() {
  return {
      .entry = {.name = "reduction",
                .summary = "difference of closed and reduced runs until, at and after the echo",
                .equation = "difference(t) = max over axes |q_closed - q_open|, per particle",
                .source = "limebeer2020, Theorem IV.1; farshi2018, eq. (65)",
                .parameters = {optional("pairs", ValueType::texts, "",
                                        "pairs of integrators to compare, \"closed:reduced\"; default: each closed "
                                        "integrator with the first open one of the same step"),
                               defaulted("threshold", ValueType::number, "", "1e-9",
                                         "smallest difference that counts, relative to the amplitude", Bound::positive),
                               defaulted("memory", ValueType::boolean, "", "false",
                                         "whether memory kernel and random force of the environments are measured as "
                                         "well, as in the study `memory-kernel`"),
                               defaulted("momenta", ValueType::boolean, "", "false",
                                         "whether momenta are compared as well; every record then gathers all sites")},
                .notes =
                    "Group reduction/<closed integrator>: difference, amplitude, echo_time, until_echo, after_echo, "
                    "first_difference_step; with momenta difference_p of m v, canonical_p, which for the far particle "
                    "of a spring-inerter line is m v minus the momenta of its sites, and difference_canonical_p."},
      .make = make_reduction,
      .looks_at_particles = true,
      .takes_any_lagrangian = true};
}

}  // namespace bathline
