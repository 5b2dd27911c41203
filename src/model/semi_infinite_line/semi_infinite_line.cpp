// A line without end: what it is, its energy, and which schemes it knows.
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
    return "the exact flow of particles and sites, and those of `" + name() +
           "` have no end; take `gauss`, or give `sites` a number";
  }
  const std::variant<SchemeKernel, std::string> kernel = kernel_of(scheme);
  if (const auto* why = std::get_if<std::string>(&kernel)) return *why;
  const SchemeKernel& known = std::get<SchemeKernel>(kernel);
  if (const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme);
      is_warm() && std::holds_alternative<RungeKuttaKernel>(known) && !keeps_quadratic_invariants(*stages)) {
    return "which takes something off every wave of `" + name() +
           "` by itself, so that no noise keeps them warm; take `gauss`, `gamma` or `stoermer-verlet`";
  }
  if (std::holds_alternative<RungeKuttaKernel>(known)) return std::nullopt;
  if (const auto* turns = std::get_if<KickDriftSequence>(&known)) return unsupported_reason_for(*turns);
  const auto* of_stage = std::get_if<GammaKernel>(&known);
  const double gamma = of_stage == nullptr ? 0.0 : of_stage->gamma;
  const DiscreteLine line(courant(options_.step), gamma);
  if (line.effective_courant <= 1.0) return std::nullopt;
  const double edge = 1.0 / std::abs(1.0 - 2.0 * gamma);
  return fmt::format(
      "and the Courant number h sqrt(lambda/M) = {:.6g} of `{}` is beyond {:.6g}, up to which it is "
      "stable there; take steps of {:.6g} at most",
      line.courant, name(), edge, edge * options_.step / line.courant);
}

std::optional<std::string> SemiInfiniteLine::unsupported_reason_for(const KickDriftSequence& turns) const {
  if (options_.horizon == KernelAccuracy::forever) {
    return "a composition, of whose exponentials on `" + name() +
           "` nobody knows whether they are passive for ever, as a warm line and `horizon` = \"forever\" need them; "
           "take `stoermer-verlet` or `gauss`, or another `horizon` for a cold one";
  }
  const double number = courant(options_.step), edge = max_courant(turns);
  if (number < edge) return std::nullopt;
  return fmt::format(
      "and the Courant number h sqrt(lambda/M) = {:.6g} of `{}` is not below {:.6g}, up to which faster modes turn "
      "further in each of its steps, as its kernel needs them to; take steps of less than {:.6g}",
      number, name(), edge, edge * options_.step / number);
}

LumpedNetwork SemiInfiniteLine::assemble(std::int64_t limit) const {
  constexpr std::int64_t most = 1 << 20;
  const int count = static_cast<int>(std::min(limit, most));
  LumpedNetwork assembly;
  assembly.mass.assign(static_cast<std::size_t>(count), options_.mass);
  assembly.to_head = {{0, options_.stiffness}};
  for (int j = 0; j + 1 < count; ++j) assembly.springs.push_back({j, j + 1, options_.stiffness});
  assembly.to_ground = {{count - 1, options_.stiffness}};
  return assembly;
}

std::optional<AnalyticKernel> SemiInfiniteLine::analytic_kernel(std::span<const double> times) const {
  AnalyticKernel formulas;
  if (!is_warm()) formulas.random_force.resize(times.size() * static_cast<std::size_t>(attachment().axes()));
  if (kicks_) {
    // From kick to kick it is known to the last digit, with 1 in the place of what comes before.
    std::vector<std::size_t> steps;
    for (const double t : times) steps.push_back(static_cast<std::size_t>(std::lround(t / kicks_->step)));
    const std::size_t last = *std::max_element(steps.begin(), steps.end());
    std::vector<double> by_lag =
        exact_line_kernel(DiscreteLine(courant(kicks_->step), 0.0), static_cast<int>(last) + 2);
    by_lag.front() = 1.0;
    for (const std::size_t n : steps) {
      const double later = n == 0 ? 0.0 : kicks_->later;
      formulas.kernel.push_back(options_.stiffness * ((1.0 - later) * by_lag[n] + later * by_lag[n + 1]));
    }
    return formulas;
  }
  for (const double t : times) {
    const double phase = properties().highest_frequency * t;
    formulas.kernel.push_back(options_.stiffness * (phase == 0.0 ? 1.0 : 2.0 * ::j1(phase) / phase));
  }
  return formulas;
}

std::optional<Certificate> SemiInfiniteLine::certificate() const {
  if (!certificate_) return std::nullopt;
  const KernelCertificate& found = *certificate_;
  const bool is_for_ever = options_.horizon == KernelAccuracy::forever, is_of_composition = std::isnan(found.lowest);
  Certificate certificate;
  certificate.sentence = fmt::format(
      "`{}` is {} exponentials: its kernel is right to {:.1e} of its absolute sum over {:.6g} s{}, compared value by "
      "value with {} and then on a logarithmic grid; {}{}",
      name(), found.exponentials, found.error, horizon_,
      is_for_ever ? fmt::format(", and its transform to {:.1e} for ever", found.uniform_error) : "",
      is_of_composition ? "the Gauss rule of the line's modes" : "Legendre polynomials or Bessel's function",
      is_of_composition ? std::string("whether it is passive is not known")
                        : fmt::format("the lowest real part of its transform is {:.1e} of D", found.lowest),
      is_for_ever ? fmt::format(", which a damper of {:.1e} D mends", found.damper) : "");
  certificate.entries = {
      {"exponentials", "1", "complex exponentials of the kernel", static_cast<double>(found.exponentials)},
      {"kernel_error", "1", "absolute sum of the kernel's errors until the horizon, over that of the kernel",
       found.error},
      {"kernel_norm", "kg/s", "absolute sum of the kernel", found.norm * norm_unit_},
      {"transform_error", "1", "largest error of the kernel's transform, over the absolute sum", found.uniform_error},
      {"horizon", "s", "until when the kernel's error holds", horizon_},
      {"for_ever", "1", "1 where no run grows however long", is_for_ever ? 1.0 : 0.0},
      {"passivity", "1", "lowest real part of the transform, as a fraction of D; 0 for the line itself", found.lowest},
      {"damper", "1", "damper that was added to have none below 0, as a fraction of D", found.damper}};
  if (noise_) {
    certificate.sentence +=
        fmt::format("; the spectrum of its noise is right to {:.1e} of its largest value", noise_->error());
    certificate.entries.push_back(
        {"noise_error", "1", "largest error of the noise's spectrum, over its largest value", noise_->error()});
  }
  return certificate;
}

void SemiInfiniteLine::prepare(const RngKey& key) {
  key_ = key;
  steps_ = 0.0;
  numbers_.begin(NoiseStream::environment_key(key));
  axes_.assign(communicator().is_root() ? static_cast<std::size_t>(attachment().axes()) : 0, Axis());
  for (Axis& axis : axes_) shape_.allocate(axis);
  if (noise_) start_noise();
}

void SemiInfiniteLine::start_noise() {
  // Two steps more, of which the kick at the start is the mean.
  const std::size_t count = noise_->start_numbers(), stages = noise_->stages();
  std::vector<double> all(axes_.size() * (count + 2 * stages));
  if (!all.empty()) numbers_.start(key_, all);
  std::span<const double> numbers = all;
  for (Axis& axis : axes_) {
    noise_->shape().allocate(axis.noise);
    noise_->start(numbers.first(count), axis.noise);
    for (int step = 0; step < 2; ++step) {
      const double before = axis.last;
      pass_step(axis, numbers.subspan(count + static_cast<std::size_t>(step) * stages, stages));
      if (stages == 1) axis.random = 0.5 * (before + axis.last);
    }
    numbers = numbers.subspan(count + 2 * stages);
  }
}

void SemiInfiniteLine::pass_step(Axis& axis, std::span<const double> numbers) {
  forces_.resize(noise_->stages());
  noise_->forces(axis.noise, numbers, forces_);
  noise_->commit(axis.noise, numbers);
  axis.last = forces_.back();
  if (forces_.size() > 1) axis.random = axis.noise.next_outputs.back();
}

std::span<const double> SemiInfiniteLine::numbers_of(std::size_t axis) {
  const std::size_t stages = noise_->stages();
  return numbers_.at(static_cast<std::int64_t>(steps_), 0, axes_.size() * stages).subspan(axis * stages, stages);
}

std::span<const double> SemiInfiniteLine::random_forces(std::size_t axis) {
  forces_.assign(noise_ ? noise_->stages() : 1, 0.0);
  if (noise_) noise_->forces(axes_[axis].noise, numbers_of(axis), forces_);
  return forces_;
}

void SemiInfiniteLine::renew_noise() {
  if (axes_.empty()) return;
  for (std::size_t axis = 0; axis < axes_.size(); ++axis) pass_step(axes_[axis], numbers_of(axis));
  steps_ += 1.0;
}

std::shared_ptr<const LineNoise> SemiInfiniteLine::at_temperature(std::shared_ptr<const NoiseFilter> filter) const {
  if (!filter) return nullptr;
  return std::make_shared<const DiscreteNoise>(std::move(filter), options_.temperature * options_.stiffness);
}

std::shared_ptr<const LineParts> SemiInfiniteLine::parts(double h, double gamma) const {
  return line_parts(DiscreteLine(courant(h), gamma), options_.tolerance, options_.horizon / h, options_.end / h,
                    is_warm());
}

void SemiInfiniteLine::take(const ConvolutionShape& shape, Force force, const KernelCertificate& certificate,
                            double time_unit, std::shared_ptr<const LineNoise> noise) {
  force_ = std::move(force);
  kicks_.reset();
  certificate_ = certificate;
  horizon_ = certificate.horizon * time_unit;
  norm_unit_ = options_.stiffness * time_unit;
  const bool has_room = shape == shape_;
  shape_ = shape;
  if (noise) noise_ = std::move(noise);
  if (!axes_.empty() && (!has_room || (noise_ && steps_ == 0.0))) prepare(key_);
}

std::vector<StateField> SemiInfiniteLine::fields() {
  std::vector<StateField> fields;
  Axis elsewhere;
  for (int axis = 0; axis < attachment().axes(); ++axis) {
    const bool is_here = communicator().is_root();
    Axis& row = is_here ? axes_[static_cast<std::size_t>(axis)] : elsewhere;
    const std::pair<const char*, double*> numbers[] = {
        {"work", &row.work},   {"place", &row.last_kick_position},    {"force", &row.force},
        {"phase", &row.phase}, {"carry", &row.deferred_displacement}, {"ledger", &row.work_filter_state}};
    for (const auto& [name, number] : numbers) fields.push_back({name, axis, 0, 1, {number, is_here ? 1u : 0u}});
    shape_.add_fields("", axis, is_here ? &row : nullptr, fields);
    if (!noise_) continue;
    fields.push_back({"random", axis, 0, 1, {&row.random, is_here ? 1u : 0u}});
    fields.push_back({"last", axis, 0, 1, {&row.last, is_here ? 1u : 0u}});
    noise_->shape().add_fields("noise_", axis, is_here ? &row.noise : nullptr, fields);
  }
  if (noise_) fields.push_back({"steps", 0, 0, 1, {&steps_, communicator().is_root() ? 1u : 0u}});
  return fields;
}

double SemiInfiniteLine::force_on(const Axis& axis, double x) const {
  return force_ ? force_(axis, x) : -options_.stiffness * (x - axis.last_kick_position);
}

// Between two kicks the trapezoidal rule: the energy of sites and springs at the kick before and the force on the way.
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
    if (noise_) force[axis] += axes_[axis].random;
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
