// The semi-infinite line: properties, energy, supported schemes, certificate and noise.
#include "model/semi_infinite_line/semi_infinite_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/semi_infinite_line/scheme_kernel.hpp"
#include "model/semi_infinite_line/stage_noise.hpp"

namespace bathline {

SemiInfiniteLine::SemiInfiniteLine(std::string name, Attachment attachment, const SemiInfiniteLineOptions& options,
                                   const Communicator& communicator)
    : Environment(std::move(name), std::move(attachment), communicator), options_(options) {
  if (is_warm()) options_.horizon = KernelAccuracy::forever;
}

double SemiInfiniteLine::courant(double h) const { return h * std::sqrt(options_.stiffness / options_.mass); }

EnvironmentProperties SemiInfiniteLine::describe() const {
  EnvironmentProperties properties;
  properties.damping = std::sqrt(options_.stiffness * options_.mass);
  properties.highest_frequency = 2.0 * std::sqrt(options_.stiffness / options_.mass);
  properties.matched_gamma = options_.matched_gamma;
  properties.temperature = options_.temperature;
  return properties;
}

std::optional<std::string> SemiInfiniteLine::own_unsupported_reason(const Scheme& scheme) const {
  if (std::holds_alternative<ExactFlow>(scheme)) {
    return "the exact flow needs a finite number of sites, and `" + name() +
           "` is semi-infinite; set `sites` to a number";
  }
  const std::variant<SchemeKernel, std::string> kernel = kernel_of(scheme);
  if (const auto* reason = std::get_if<std::string>(&kernel)) return *reason;
  const SchemeKernel& scheme_kernel = std::get<SchemeKernel>(kernel);
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme);
      is_warm() && std::holds_alternative<RungeKuttaKernel>(scheme_kernel) && !keeps_quadratic_invariants(*stages)) {
    return "it damps the waves of `" + name() + "` numerically, so that noise cannot hold kT";
  }
  if (std::holds_alternative<RungeKuttaKernel>(scheme_kernel)) return std::nullopt;
  const auto* gamma_kernel = std::get_if<GammaKernel>(&scheme_kernel);
  const double gamma = gamma_kernel == nullptr ? 0.0 : gamma_kernel->gamma;
  const DiscreteLine line(courant(options_.step), gamma);
  if (line.effective_courant <= 1.0) return std::nullopt;
  const double limit = 1.0 / std::abs(1.0 - 2.0 * gamma);
  return fmt::format(
      "the Courant number h sqrt(lambda/M) = {:.6g} of `{}` exceeds the stability limit {:.6g}; use steps of {:.6g} at "
      "most",
      line.courant, name(), limit, limit * options_.step / line.courant);
}

LumpedNetwork SemiInfiniteLine::assemble(std::int64_t limit) const {
  constexpr std::int64_t max_sites = 1 << 20;
  const int count = static_cast<int>(std::min(limit, max_sites));
  LumpedNetwork network;
  network.mass.assign(static_cast<std::size_t>(count), options_.mass);
  network.to_head = {{0, options_.stiffness}};
  for (int j = 0; j + 1 < count; ++j) network.springs.push_back({j, j + 1, options_.stiffness});
  network.to_ground = {{count - 1, options_.stiffness}};
  return network;
}

std::optional<AnalyticKernel> SemiInfiniteLine::analytic_kernel(std::span<const double> times) const {
  AnalyticKernel analytic;
  if (!is_warm()) analytic.random_force.resize(times.size() * static_cast<std::size_t>(attachment().axes()));
  if (kick_scheme_) {
    // From kick to kick the kernel is exact, with 1 in the place of G_{-1}.
    std::vector<std::size_t> steps;
    for (const double t : times) steps.push_back(static_cast<std::size_t>(std::lround(t / kick_scheme_->step)));
    const std::size_t last = *std::max_element(steps.begin(), steps.end());
    std::vector<double> kernel_by_lag =
        exact_line_kernel(DiscreteLine(courant(kick_scheme_->step), 0.0), static_cast<int>(last) + 2);
    kernel_by_lag.front() = 1.0;
    for (const std::size_t n : steps) {
      const double end_fraction = n == 0 ? 0.0 : kick_scheme_->end_fraction;
      analytic.kernel.push_back(options_.stiffness *
                                ((1.0 - end_fraction) * kernel_by_lag[n] + end_fraction * kernel_by_lag[n + 1]));
    }
    return analytic;
  }
  for (const double t : times) {
    const double phase = properties().highest_frequency * t;
    analytic.kernel.push_back(options_.stiffness * (phase == 0.0 ? 1.0 : 2.0 * ::j1(phase) / phase));
  }
  return analytic;
}

std::optional<Certificate> SemiInfiniteLine::certificate() const {
  if (!certificate_) return std::nullopt;
  const KernelCertificate& kernel = *certificate_;
  const bool is_forever = options_.horizon == KernelAccuracy::forever;
  Certificate certificate;
  certificate.sentence = fmt::format(
      "`{}` is {} exponentials: the relative error of its kernel is {:.1e} over {:.6g} s{}, compared value by value "
      "with Legendre polynomials or Bessel's function and then on a logarithmic grid; the lowest real part of its "
      "transform is {:.1e} of D{}",
      name(), kernel.exponentials, kernel.error, horizon_,
      is_forever ? fmt::format(" and that of its transform {:.1e} for all times", kernel.uniform_error) : "",
      kernel.lowest, is_forever ? fmt::format(", compensated by an added damper of {:.1e} D", kernel.damper) : "");
  certificate.entries = {
      {"exponentials", "1", "complex exponentials of the kernel", static_cast<double>(kernel.exponentials)},
      {"kernel_error", "1", "absolute sum of the kernel's errors up to the horizon, relative to that of the kernel",
       kernel.error},
      {"kernel_norm", "kg/s", "absolute sum of the kernel", kernel.norm * norm_unit_},
      {"transform_error", "1", "largest error of the kernel's transform, relative to the absolute sum",
       kernel.uniform_error},
      {"horizon", "s", "time until which the kernel's error holds", horizon_},
      {"for_ever", "1", "1 if the kernel is passive for all times", is_forever ? 1.0 : 0.0},
      {"passivity", "1", "lowest real part of the transform, as a fraction of D; 0 for the exact line", kernel.lowest},
      {"damper", "1", "added damper that compensates it, as a fraction of D", kernel.damper}};
  if (noise_) {
    certificate.sentence += fmt::format("; the relative error of its noise spectrum is {:.1e}", noise_->error());
    certificate.entries.push_back(
        {"noise_error", "1", "largest error of the noise spectrum, relative to its largest value", noise_->error()});
  }
  return certificate;
}

void SemiInfiniteLine::prepare(const RngKey& key) {
  key_ = key;
  axes_.assign(communicator().is_root() ? static_cast<std::size_t>(attachment().axes()) : 0, Axis());
  for (Axis& axis : axes_) shape_.allocate(axis);
  if (!random_force_) return;
  random_force_->begin(noise_stream_, key_, axes_.size());
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) axes_[axis].random = random_force_->before_start(axis);
}

std::shared_ptr<const LineNoise> SemiInfiniteLine::make_noise(std::shared_ptr<const NoiseFilter> filter) const {
  if (!filter) return nullptr;
  return std::make_shared<const DiscreteNoise>(std::move(filter), options_.temperature * options_.stiffness);
}

std::shared_ptr<const LineParts> SemiInfiniteLine::parts(double h, double gamma) const {
  return line_parts(DiscreteLine(courant(h), gamma), options_.tolerance, options_.horizon / h, options_.end / h,
                    is_warm());
}

void SemiInfiniteLine::set_convolution(const ConvolutionShape& shape, Force force, const KernelCertificate& certificate,
                                       double time_unit, std::shared_ptr<const LineNoise> noise) {
  force_ = std::move(force);
  kick_scheme_.reset();
  certificate_ = certificate;
  horizon_ = certificate.horizon * time_unit;
  norm_unit_ = options_.stiffness * time_unit;
  const bool has_same_shape = shape == shape_;
  shape_ = shape;
  const bool is_at_start = !random_force_ || random_force_->step() == 0;
  if (noise && (!has_same_shape || is_at_start)) {
    noise_ = std::move(noise);
    random_force_ = std::make_unique<FilteredForce>(noise_);
  }
  if (!axes_.empty() && (!has_same_shape || (noise_ && is_at_start))) prepare(key_);
}

std::vector<StateField> SemiInfiniteLine::fields() {
  std::vector<StateField> fields;
  Axis elsewhere;
  for (int axis = 0; axis < attachment().axes(); ++axis) {
    const bool is_here = communicator().is_root();
    Axis& row = is_here ? axes_[static_cast<std::size_t>(axis)] : elsewhere;
    const std::pair<const char*, double*> values[] = {{"work", &row.work},
                                                      {"place", &row.last_kick_position},
                                                      {"moved", &row.has_moved},
                                                      {"force", &row.force},
                                                      {"phase", &row.phase},
                                                      {"carry", &row.deferred_displacement},
                                                      {"ledger", &row.work_filter_state}};
    for (const auto& [name, value] : values) fields.push_back({name, axis, 0, 1, {value, is_here ? 1u : 0u}});
    shape_.add_fields("", axis, is_here ? &row : nullptr, fields);
    if (noise_) fields.push_back({"random", axis, 0, 1, {&row.random, is_here ? 1u : 0u}});
  }
  if (!random_force_) return fields;
  for (StateField& field : random_force_->fields(attachment().axes(), communicator().is_root())) {
    fields.push_back(std::move(field));
  }
  return fields;
}

double SemiInfiniteLine::force_on(const Axis& axis, double x) const {
  return force_ ? force_(axis, x) : -options_.stiffness * (x - axis.last_kick_position);
}

// Between two kicks by the trapezoidal rule, from the energy at the last kick and the force since then.
EnvironmentEnergy SemiInfiniteLine::energy(std::span<const double> head) {
  double work = 0.0;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    const Axis& row = axes_[axis];
    const double mean = 0.5 * (row.force + force_on(row, head[axis])) + row.random;
    work += row.work - mean * (head[axis] - row.last_kick_position);
  }
  communicator().broadcast(std::span<double>(&work, 1));
  return {.environment = work};
}

void SemiInfiniteLine::force(std::span<const double> head, std::span<double> force) const {
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
    force[axis] = force_on(axes_[axis], head[axis]);
    if (noise_) force[axis] += noise_->stages() == 1 ? axes_[axis].random : random_force_->between_steps(axis);
  }
}

std::unique_ptr<ExplicitEnvironmentStepper> SemiInfiniteLine::explicit_stepper(const ExplicitScheme& scheme, double h) {
  return make_explicit_environment_stepper(*this, scheme, h);
}

std::unique_ptr<ImplicitEnvironmentStepper> SemiInfiniteLine::implicit_stepper(const PartitionedRungeKutta& scheme,
                                                                               double h) {
  return make_implicit_environment_stepper(*this, scheme, h);
}

}  // namespace bathline
