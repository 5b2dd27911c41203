// A chain of sites with nonlinear springs and on-site forces, between two particles or from one.
//
//   M_j w_j'' = V'(w_{j+1} - w_j) - V'(w_j - w_{j-1}) - U'(w_j),   w_0 = q_a,  w_{N+1} = q_b
//
// All places are measured from the equilibrium of the lattice, and so are those of the particles at its ends, q itself.
// A chain between two particles is folded at its middle, so that both heads are on rank 0 (nonlinear_sites.hpp): the
// axes of the attachment are those of the first head and of the second, alternately.
#pragma once

#include "model/environment_catalogue.hpp"
#include "model/heat_conductor.hpp"
#include "model/line/line.hpp"
#include "model/line/nonlinear_thermal.hpp"
#include "model/ordered_sites.hpp"
#include "model/warm_frequency.hpp"

namespace bathline {

class NonlinearLine final : public Line, public OrderedSites, public HeatConductor, public WarmFrequency {
 public:
  /// The attachment is one to a system of `coordinates` coordinates. `sites` are those of the chain, at least 2 between
  /// two heads, where `constants` are joined. `options.law` is set, and V'(0) = 0 unless the far end is fixed or
  /// joined. @note Collective.
  NonlinearLine(std::string name, Attachment attachment, int coordinates, const LineConstants& constants,
                std::int64_t sites, const Communicator& communicator, LineOptions options);

  int site_axes() const override { return attachment().axes() / (state_.is_folded() ? 2 : 1); }
  std::int64_t ordered_sites() const override { return state_.chain_sites(); }
  std::vector<double> displacements(int axis, std::int64_t stride) override;
  bool is_ring() const override;
  std::int64_t conducting_sites() const override { return state_.is_folded() ? state_.chain_sites() : 0; }
  std::unique_ptr<HeatObserver> observe_heat(const HeatObservation& what) override;
  /// From here on the attachment measures from q = 0.
  void prepare(const RngKey& key) override;
  /// The rarest of all stretches and places has the energy kT ln(sites times steps), while its neighbours have kT.
  double highest_frequency_at(double temperature, double steps) const override;
  /// The linearisation at rest; strands are clamped at their far ends.
  LumpedNetwork assemble(std::int64_t limit) const override;
  std::optional<AnalyticKernel> analytic_kernel(std::span<const double>) const override { return std::nullopt; }
  /// For schemes of up to `max_nonlinear_stages` stages; reads PETSc's options where a solver is made of it.
  std::unique_ptr<ImplicitEnvironmentStepper> implicit_stepper(const PartitionedRungeKutta& scheme, double h) override;
  std::int64_t bytes(const Scheme& scheme) const override;
  /// The chain that begins with `axis`, the first of its strands, whose ends are at `heads`.
  ThermalChain thermal_chain(int axis, std::span<const double> heads) const;

 private:
  EnvironmentProperties describe() const override;
  std::optional<std::string> own_unsupported_reason(const Scheme& scheme) const override;
  void draw_thermal_start(const RngKey& key, int axis) override;
  double lightest_mass() const;
  /// V'' of the sites at rest.
  double site_stiffness() const {
    return state_.options.law->sites ? state_.options.law->sites->second_derivative(0.0) : 0.0;
  }

  int coordinates_;
  std::vector<double> start_;  // of the heads
};

EnvironmentKind nonlinear_line_kind();

}  // namespace bathline
