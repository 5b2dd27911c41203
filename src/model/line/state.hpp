// The sites of a line on one rank: constants and state, which all its steppers share.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/environment.hpp"
#include "model/line/sites.hpp"
#include "model/potentials/pair_potential.hpp"
#include "simd/aligned_vector.hpp"
#include "parallel/communicator.hpp"
#include "parallel/halo.hpp"
#include "simd/simd_double.hpp"
#include "parallel/layout.hpp"
#include "parallel/reproducible_sum.hpp"

namespace bathline {

/// The springs and the on-site forces of a nonlinear line.
struct LineLaw {
  std::shared_ptr<const PairPotential> springs;
  std::shared_ptr<const PairPotential> sites = nullptr;  ///< nullptr: none
};

struct LineOptions {
  double temperature = 0.0;  ///< kT of the start, J
  /// Of a nonuniform line: mass and spring of the first sites, repeated along the line; nullptr for a uniform line.
  std::shared_ptr<const std::vector<LineSite>> table = nullptr;
  /// nullptr: linear springs. Else the stiffness of a site is that of its spring at rest, and not used.
  std::shared_ptr<const LineLaw> law = nullptr;
  /// Sites that are still at rest are not computed; results do not depend on it.
  bool skip_resting = true;
  /// As in EnvironmentProperties.
  std::optional<double> matched_gamma = {};
  /// Set if the line represents another bath: its damping D, kg/s, and the time until which both agree, s.
  struct RepresentedBath {
    double damping, horizon;
  };
  std::optional<RepresentedBath> represented = {};
  /// Displacements, m, and velocities, m/s, by which sites start beside the thermal ones, functions of a site's index,
  /// one for each axis; without any where the sites start at rest.
  std::vector<std::function<double(double)>> w0 = {}, v0 = {};
};

class LineState {
 public:
  /// Minimum number of sites of an active rank. No explicit scheme may reach further in one step.
  static constexpr std::int64_t min_sites_per_rank = 64;
  /// Maximum number of sites copied from the neighbour on either side.
  static constexpr std::int64_t max_halo = 512;

  /// @note Collective.
  LineState(const LineConstants& constants, LineOptions options, std::int64_t sites, const Communicator& communicator,
            int axes);
  LineState(const LineState&) = delete;
  LineState& operator=(const LineState&) = delete;

  // Constants.
  std::int64_t sites() const { return layout.total(); }
  std::int64_t first_site() const { return layout.first(communicator.rank()); }
  bool at_head() const { return communicator.is_root(); }
  /// Number of sites after which they repeat; 1 for a uniform line.
  std::int64_t period() const { return has_uniform_sites() ? 1 : static_cast<std::int64_t>(options.table->size()); }
  bool has_uniform_sites() const { return options.table == nullptr; }
  /// Whether the axes are pairs of strands of chains.
  bool is_folded() const { return constants.far_end == FarEnd::joined; }
  /// The other strand of a folded chain; else the axis itself.
  int joined_axis(int axis) const { return is_folded() ? axis ^ 1 : axis; }
  /// Number of the strand of an axis: 1 if it runs against the chain, else 0.
  int strand(int axis) const { return is_folded() ? axis & 1 : 0; }
  /// Number of sites of a chain, those of a shared end counted once.
  std::int64_t chain_sites() const { return is_folded() ? 2 * sites() - constants.shared : sites(); }
  /// A site by its index from the head of the strand; behind a joined end that of the other strand.
  LineSite site(std::int64_t index, int strand = 0) const;
  /// This rank's own sites, with rows once `prepare_rows` has been called.
  AnySites material(int axis = 0) const;
  /// Allocates and fills the rows of a nonuniform line, once.
  void prepare_rows();
  /// Own and copied sites, and one more for the end point of the spring behind the last.
  std::int64_t storage() const { return room_before + count + room_behind + 1; }

  // State.
  /// Allocates the state, at rest.
  void allocate();
  /// The first of this rank's own sites; copied ones lie before and behind them.
  double* own(AlignedVector& field) const { return field.data() + room_before; }
  const double* own(const AlignedVector& field) const { return field.data() + room_before; }
  /// Displacement of the site next to the head, also within a block. Rank 0 only.
  double first_displacement(int axis) const {
    const std::shared_ptr<const FirstDisplacement> of_block = open_block.lock();
    return of_block ? (*of_block)(axis) : own(w[axis])[0];
  }
  /// Displacement, or stage displacement, behind the last site, whose own is `here`, of an end that is not joined.
  double behind_last(double here) const { return constants.behind_last(here); }
  /// Copies displacements and momenta of the nearest sites of the neighbouring ranks. @note Collective.
  void exchange_next_neighbours() { thin_halo_.exchange(thin_arrays_); }
  /// Marks the sites before `end` as possibly in motion, and energy sums as outdated.
  void mark_active(std::int64_t end);
  /// Recomputes `active_end` after the state has been set. @note Collective.
  void find_active_end();

  // Energy of the sites and of the springs behind them, by axis, summed in a fixed order: at the end of a block, or in
  // parts while the sites are in cache.
  void begin_energies(int axis);
  /// Adds the energies of this rank's sites before `end`.
  void add_energies(int axis, std::int64_t end);
  /// J. @note Collective.
  double end_energies(int axis);

  LineConstants constants;  ///< on a nonuniform line, those of the last site
  LineOptions options;
  Layout layout;
  Communicator communicator;
  int axes;
  std::int64_t count;  ///< number of own sites
  bool at_far_end;
  double head_stiffness;                  ///< of the first spring
  std::int64_t room_before, room_behind;  ///< for copied sites
  std::vector<AlignedVector> w, p;        ///< one array per axis
  std::vector<double> dissipated;         ///< by axis, J; on the rank of the last site
  std::int64_t active_end = 0;            ///< all sites from here on are at rest
  /// The displacement of the site next to the head in the block that a stepper has open, by axis; owned by that
  /// stepper, and empty without an open block.
  using FirstDisplacement = std::function<double(int axis)>;
  std::weak_ptr<const FirstDisplacement> open_block = {};

 private:
  /// Calls use(energy, unit), where energy(site) is that of a site and of the spring behind it, by its index in the
  /// whole line, in units of `unit`.
  template <class Use>
  void with_site_energy(int axis, Use use) const;

  Halo thin_halo_;
  std::vector<double*> thin_arrays_;
  std::vector<ReproducibleSum> sums_;  // of energies, by axis
  std::vector<bool> energy_started_;   // by axis
  // Of nonuniform sites, own and copied; masses by strand.
  AlignedVector spring_, inverse_mass_[2];
};

// Steppers; the state must outlive them.
std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(LineState& line,
                                                                              const ExplicitScheme& scheme, double h);
std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(LineState& line,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h);

}  // namespace bathline
