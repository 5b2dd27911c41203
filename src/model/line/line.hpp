// A line of sites coupled by springs between neighbours, whose head follows the particles.
//
//   M w_j'' = lambda (w_{j+1} - 2 w_j + w_{j-1}),   w_0 = x(t),   force on the head lambda (w_1 - x)
//
// Source: farshi2018, section 6 (Rubin model); limebeer2020, eqs. (15)-(20) for the spring-inerter line, which in the
// displacements relative to its far particle is the same line with M = b, lambda = k, driven by q0 - Q0.
// Damps its head by D = sqrt(lambda M) until the echo at t_r = 2 N sqrt(M / lambda). One displacement per axis; the
// axes meet only in the particles.
#pragma once

#include "model/line/state.hpp"

namespace bathline {

class Line : public Environment {
 public:
  /// Mass and stiffness of `constants` are ignored where `options.table` is set. @note Collective.
  Line(std::string name, Attachment attachment, const LineConstants& constants, std::int64_t sites,
       const Communicator& communicator, LineOptions options = {});

  std::int64_t bytes(const Scheme& scheme) const override;
  /// A longer line is truncated after its first `limit` sites and clamped there, as motions above the band decay within
  /// these.
  LumpedNetwork assemble(std::int64_t limit) const override;
  /// That of the semi-infinite line: 2 lambda J_1(wm t) / (wm t), wm = 2 sqrt(lambda/M). Source: weiss2012, section
  /// 3.1. None for nonuniform sites.
  std::optional<AnalyticKernel> analytic_kernel(std::span<const double> times) const override;

  void prepare(const RngKey& key) override;
  std::vector<StateField> fields() override;
  void fields_changed() override { state_.find_active_end(); }
  EnvironmentEnergy energy(std::span<const double> head) override;
  void force(std::span<const double> head, std::span<double> force) const override;
  bool has_force_within_blocks() const override { return true; }

  std::unique_ptr<ExplicitEnvironmentStepper> explicit_stepper(const ExplicitScheme& scheme, double h) override;
  std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme, double h) override;

 private:
  /// On a nonuniform line, damping is that of the uniform line of its first site, and the first site that differs from
  /// those before it reflects an echo, too.
  EnvironmentProperties describe() const override;
  double echo_time() const;
  double highest_frequency() const;
  /// Adds `w0` and `v0` of the options. @note Collective.
  void add_start();

 protected:
  /// A thermal start of one axis. @note Collective.
  virtual void draw_thermal_start(const RngKey& key, int axis);

  LineState state_;
};

}  // namespace bathline
