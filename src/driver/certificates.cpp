// Certificates, environment by environment.
// Tested by tests/command_line/infinite_test.py.
#include "driver/certificates.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/trajectory_error_bound.hpp"

namespace bathline {

namespace {

std::optional<Certificate> certificate_of(Environment& environment, const Case& one) {
  const auto* certified = dynamic_cast<const Certified*>(&environment);
  if (certified == nullptr) return std::nullopt;
  if (!certified->certificate()) prepare_certificate(environment, one);
  return certified->certificate();
}

double entry(const Certificate& certificate, const std::string& name) {
  for (const Certificate::Entry& one : certificate.entries) {
    if (one.name == name) return one.value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void prepare_certificate(Environment& environment, const Case& one) {
  if (const auto* steps = std::get_if<ExplicitScheme>(&one.scheme)) environment.explicit_stepper(*steps, one.step);
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&one.scheme))
    environment.implicit_stepper(*stages, one.step);
}

bool has_certificates(const Experiment& experiment) {
  return std::any_of(experiment.cases().begin(), experiment.cases().end(), [&](const Case& one) {
    if (!one.closed) return false;
    const Problem problem = experiment.make_problem(one);
    return std::any_of(problem.environments().begin(), problem.environments().end(),
                       [](const auto& it) { return dynamic_cast<const Certified*>(it.get()) != nullptr; });
  });
}

std::vector<CaseCertificate> certificates_of(const Experiment& experiment, const Feasibility& feasibility) {
  std::vector<CaseCertificate> all;
  for (std::size_t index = 0; index < experiment.cases().size(); ++index) {
    const Case& one = experiment.cases()[index];
    if (!one.closed) continue;
    const Problem& problem = feasibility.problem(index);
    const bool is_cold = std::all_of(problem.environments().begin(), problem.environments().end(),
                                     [](const auto& it) { return it->properties().temperature == 0.0; });
    for (const auto& environment : problem.environments()) {
      std::optional<Certificate> certificate = certificate_of(*environment, one);
      if (!certificate) continue;
      const double error = entry(*certificate, "kernel_error") * entry(*certificate, "kernel_norm");
      const double duration = one.step * static_cast<double>(one.steps);
      const auto bound =
          is_cold ? trajectory_error_bound(problem.system(), environment->attachment(), error, duration) : std::nullopt;
      certificate->entries.push_back(
          {"path_bound", "m", "bound on what the kernel's error does to a coordinate until the end, of linear systems",
           bound.value_or(std::numeric_limits<double>::quiet_NaN())});
      all.push_back({one.label, environment->name(), std::move(*certificate)});
    }
  }
  return all;
}

void log_certificates(std::span<const CaseCertificate> certificates) {
  for (const CaseCertificate& one : certificates) {
    const double bound = entry(one.certificate, "path_bound");
    spdlog::info("{}: {}", one.label, one.certificate.sentence);
    if (!std::isfinite(bound)) continue;
    spdlog::info("{}: no coordinate is wrong by more than {:.1e} m for that until the end", one.label, bound);
  }
}

void write_certificates(ResultFile& file, std::span<const CaseCertificate> certificates) {
  for (const auto& [label, environment, certificate] : certificates) {
    const std::string group = fmt::format("certificate/{}/{}", label, environment);
    for (const auto& [name, units, long_name, value] : certificate.entries) {
      file.number(group, name, units, long_name, value);
    }
    for (const Certificate::Parts& parts : certificate.parts) {
      Dimension numbers{certificate.part, {}, "1", fmt::format("{}, counted from 0", certificate.part)};
      for (std::size_t i = 0; i < parts.values.size(); ++i) numbers.values.push_back(static_cast<double>(i));
      file.array(group, {parts.name, parts.units, parts.long_name, {}}, std::span(&numbers, 1), parts.values);
    }
  }
}

}  // namespace bathline
