// Collecting, logging and writing the certificates of environments.
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

std::optional<Certificate> certificate_of(Environment& environment, const Case& this_case) {
  const auto* certified = dynamic_cast<const Certified*>(&environment);
  if (certified == nullptr) return std::nullopt;
  if (!certified->certificate()) prepare_certificate(environment, this_case);
  return certified->certificate();
}

double value_of(const Certificate& certificate, const std::string& name) {
  for (const Certificate::Entry& entry : certificate.entries) {
    if (entry.name == name) return entry.value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

void prepare_certificate(Environment& environment, const Case& this_case) {
  if (const auto* steps = std::get_if<ExplicitScheme>(&this_case.scheme))
    environment.explicit_stepper(steps->without_ou(), this_case.step);
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&this_case.scheme))
    environment.implicit_stepper(*stages, this_case.step);
}

bool has_certificates(const Experiment& experiment) {
  return std::any_of(experiment.cases().begin(), experiment.cases().end(), [&](const Case& this_case) {
    if (!this_case.closed) return false;
    const Problem problem = experiment.make_problem(this_case);
    return std::any_of(problem.environments().begin(), problem.environments().end(), [](const auto& environment) {
      return dynamic_cast<const Certified*>(environment.get()) != nullptr;
    });
  });
}

std::vector<CaseCertificate> certificates_of(const Experiment& experiment, const Feasibility& feasibility) {
  std::vector<CaseCertificate> all;
  for (std::size_t index = 0; index < experiment.cases().size(); ++index) {
    const Case& this_case = experiment.cases()[index];
    if (!this_case.closed) continue;
    const Problem& problem = feasibility.problem(index);
    const bool is_cold =
        std::all_of(problem.environments().begin(), problem.environments().end(),
                    [](const auto& environment) { return environment->properties().temperature == 0.0; });
    for (const auto& environment : problem.environments()) {
      std::optional<Certificate> certificate = certificate_of(*environment, this_case);
      if (!certificate) continue;
      const double error = value_of(*certificate, "kernel_error") * value_of(*certificate, "kernel_norm");
      const double duration = this_case.step * static_cast<double>(this_case.steps);
      const auto bound =
          is_cold ? trajectory_error_bound(problem.system(), environment->attachment(), error, duration) : std::nullopt;
      certificate->entries.push_back(
          {"path_bound", "m",
           "bound on the error of any coordinate until the end due to the kernel error, for linear systems",
           bound.value_or(std::numeric_limits<double>::quiet_NaN())});
      all.push_back({this_case.name, environment->name(), std::move(*certificate)});
    }
  }
  return all;
}

void log_certificates(std::span<const CaseCertificate> certificates) {
  for (const auto& [case_name, environment, certificate] : certificates) {
    const double bound = value_of(certificate, "path_bound");
    spdlog::info("{}: {}", case_name, certificate.sentence);
    if (!std::isfinite(bound)) continue;
    spdlog::info("{}: until the end this error changes no coordinate by more than {:.1e} m", case_name, bound);
  }
}

void write_certificates(ResultFile& file, std::span<const CaseCertificate> certificates) {
  for (const auto& [case_name, environment, certificate] : certificates) {
    const GroupWriter out(file, fmt::format("certificate/{}/{}", case_name, environment));
    for (const auto& [name, units, long_name, value] : certificate.entries) out.number(name, units, long_name, value);
    for (const Certificate::Parts& parts : certificate.parts) {
      const std::string counted = fmt::format("{}, counted from 0", certificate.part);
      out.array(parts.name, parts.units, parts.long_name,
                {counted_dimension(certificate.part, parts.values.size(), counted)}, parts.values);
    }
  }
}

}  // namespace bathline
