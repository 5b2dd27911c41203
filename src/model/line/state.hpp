// The sites of a line that a rank holds: what they are made of, where they are, and what advances them shares.
#pragma once

#include <functional>
#include <vector>

#include "model/environment.hpp"
#include "model/line/sites.hpp"
#include "simd/aligned_vector.hpp"
#include "parallel/communicator.hpp"
#include "parallel/halo.hpp"
#include "simd/simd_double.hpp"
#include "parallel/layout.hpp"
#include "parallel/reproducible_sum.hpp"

namespace bathline {

struct LineOptions {
  double temperature = 0.0;  ///< kT of the start, J
  /// Where sites differ: what each of them is made of, by its index.
  std::function<LineSite(std::int64_t)> site = {};
  /// Leaves out sites that nothing can have moved yet; no result depends on it.
  bool skip_resting = true;
  /// As in EnvironmentProperties.
  std::optional<double> matched_gamma = {};
  /// Of a line in the place of something else: the D of that, kg/s, and until when it is the same, s.
  struct RepresentedBath {
    double damping, until;
  };
  std::optional<RepresentedBath> represented = {};
  /// Explicit schemes by the reference march, on one rank; no result depends on it.
  bool by_reference = false;
};

class LineState {
 public:
  /// Sites that a rank holds at least, if it holds any. No explicit scheme may reach farther in one step.
  static constexpr std::int64_t minimum_piece = 40;
  /// Sites copied from the neighbours on either side, at most.
  static constexpr std::int64_t widest = 512;

  /// @note Collective.
  LineState(const LineConstants& constants, LineOptions options, std::int64_t sites, const Communicator& communicator,
            int axes);
  LineState(const LineState&) = delete;
  LineState& operator=(const LineState&) = delete;

  // What it is made of.
  std::int64_t sites() const { return layout.total(); }
  std::int64_t first_site() const { return layout.first(communicator.rank()); }
  bool at_head() const { return communicator.is_root(); }
  bool has_uniform_sites() const { return !options.site; }
  LineSite site(std::int64_t index) const;
  /// This rank's own sites, with rows once `prepare_rows` has been called.
  AnySites material() const;
  /// What the sites are made of does not change: once is enough.
  void prepare_rows();
  /// Sites with those copied before and behind, and one more for the end that the spring behind the last is tied to.
  std::int64_t storage() const { return room_before + count + room_behind + 1; }

  // Where they are.
  /// At rest, with room.
  void allocate();
  /// This rank's own sites; copied ones lie before and behind.
  double* own(AlignedVector& field) const { return field.data() + room_before; }
  const double* own(const AlignedVector& field) const { return field.data() + room_before; }
  /// The displacement, or stage displacement, behind a last site that is at `here`.
  double behind_last(double here) const { return constants.behind_last(here); }
  /// Displacements and momenta of the sites beside a rank's own. @note Collective.
  void exchange_next_neighbours() { thin_halo_.exchange(thin_arrays_); }
  /// Sites before `end` may have moved from now on, and sums over the sites are out of date.
  void mark_active(std::int64_t end);
  /// No site from `active_end` on is anything but zero, now that the state has been written. @note Collective.
  void find_active_end();

  // Energy of the sites and of the springs behind them, axis by axis: summed in an order that depends on nothing, at
  // any time, or while the sites are in cache.
  void begin_energies(int axis);
  /// Adds those of this rank's sites before `end`.
  void add_energies(int axis, std::int64_t end);
  /// J. @note Collective.
  double end_energies(int axis);

  LineConstants constants;  ///< where sites differ, of the last one
  LineOptions options;
  Layout layout;
  Communicator communicator;
  int axes;
  std::int64_t count;  ///< of own sites
  bool at_far_end;
  double head_stiffness;                  ///< of the first spring
  std::int64_t room_before, room_behind;  ///< for copied sites, as many as any scheme wants
  std::vector<AlignedVector> w, p;        ///< one array per axis
  std::vector<double> dissipated;         ///< by axis, on the rank of the last site
  std::int64_t active_end = 0;            ///< no site from here on has ever moved

 private:
  /// `use(energy, unit)` with the energy of a site and of the spring behind it, by its number in the whole line, in
  /// units of `unit`.
  template <class Use>
  void use_site_energy(int axis, Use use) const;

  Halo thin_halo_;
  std::vector<double*> thin_arrays_;
  std::vector<ReproducibleSum> sums_;      // of the energy, by axis
  std::vector<bool> energy_is_under_way_;  // by axis
  AlignedVector spring_, inverse_mass_;    // of unequal sites, with those copied
};

// What advances them.
std::unique_ptr<ExplicitEnvironmentStepper> make_explicit_environment_stepper(LineState& line,
                                                                              const ExplicitScheme& scheme, double h);
/// For a line on one rank.
std::unique_ptr<ExplicitEnvironmentStepper> make_reference_stepper(LineState& line, const ExplicitScheme& scheme,
                                                                   double h);
/// Several stages are for equal sites.
std::unique_ptr<ImplicitEnvironmentStepper> make_implicit_environment_stepper(LineState& line,
                                                                              const PartitionedRungeKutta& scheme,
                                                                              double h);

}  // namespace bathline
