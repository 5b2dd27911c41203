// The sites of a line on one rank.
// Tested by tests/model/line/line_test.cpp.
#include "model/line/state.hpp"

#include <algorithm>
#include <cmath>

namespace bathline {

LineState::LineState(const LineConstants& given, LineOptions with, std::int64_t all, const Communicator& world,
                     int number_of_axes)
    : constants(given),
      options(std::move(with)),
      layout(all, world.size(), ReproducibleSum::leaf_size(all, min_sites_per_rank, 4096)),
      communicator(world),
      axes(number_of_axes),
      count(layout.count(world.rank())),
      at_far_end(world.rank() == layout.active_ranks() - 1),
      head_stiffness(site(0).stiffness),
      room_before(count > 0 ? std::min(max_halo, first_site()) : 0),
      room_behind(count > 0 ? std::min(max_halo, all - first_site() - count) : 0),
      thin_halo_(layout, world, 1, 2 * axes),
      sums_(static_cast<std::size_t>(axes), ReproducibleSum(layout, world)),
      energy_started_(static_cast<std::size_t>(axes)) {
  const LineSite last = site(all - 1);
  constants.mass = last.mass;
  constants.stiffness = last.stiffness;
  constants.dashpot = constants.far_end == FarEnd::matched ? std::sqrt(last.stiffness * last.mass) : 0.0;
}

LineSite LineState::site(std::int64_t index, int strand) const {
  if (has_uniform_sites()) return {constants.mass, constants.stiffness};
  if (strand == 1) index = chain_sites() - 1 - index;
  return (*options.table)[static_cast<std::size_t>(index % period())];
}

namespace {

bool is_within(const PolynomialLaw<5>& law, std::size_t lowest, std::size_t highest) {
  for (std::size_t k = 0; k < law.c.size(); ++k) {
    if ((k < lowest || k > highest) && law.c[k] != 0.0) return false;
  }
  return true;
}

/// In units of `unit`.
PolynomialLaw<3> cubic(const PolynomialLaw<5>& law, double unit = 1.0) {
  return {{0.0, law.c[1] / unit, law.c[2] / unit, law.c[3] / unit}};
}

/// The fastest sites that have the law; `inverse_mass` is nullptr where all masses are `mass`.
AnySites nonlinear_sites(const LineLaw& law, bool has_equal_masses, double mass, const double* inverse_mass) {
  const ClosedForm springs = closed_form_of(*law.springs);
  const ClosedForm held = law.sites ? closed_form_of(*law.sites) : PolynomialLaw<5>{};
  const auto *spring = std::get_if<PolynomialLaw<5>>(&springs), *site = std::get_if<PolynomialLaw<5>>(&held);
  const auto choose = [&](const auto& uniform, auto with_row) -> AnySites {
    if (has_equal_masses) return uniform;
    with_row = {
        .stiffness = uniform.stiffness, .spring = uniform.spring, .site = uniform.site, .inverse_mass = inverse_mass};
    return with_row;
  };
  if (law.sites == nullptr && spring != nullptr && is_within(*spring, 1, 3)) {
    return choose(CubicSpringSites<>{.mass = mass, .spring = cubic(*spring)}, CubicSpringSites<const double*>{});
  }
  if (spring != nullptr && site != nullptr && is_within(*spring, 1, 1) && spring->c[1] > 0.0 &&
      is_within(*site, 1, 3)) {
    const double unit = spring->c[1];
    return choose(CubicHeldSites<>{.stiffness = unit, .mass = mass, .site = cubic(*site, unit)},
                  CubicHeldSites<const double*>{});
  }
  if (spring != nullptr && site != nullptr) {
    return PolynomialSites<>{.spring = *spring, .site = *site, .inverse_mass = inverse_mass};
  }
  if (const auto* law_of_springs = std::get_if<ExponentialLaw>(&springs);
      law_of_springs != nullptr && law.sites == nullptr) {
    return ExponentialSites<>{.spring = *law_of_springs, .inverse_mass = inverse_mass};
  }
  if (const auto* law_of_springs = std::get_if<ContactLaw>(&springs);
      law_of_springs != nullptr && law.sites == nullptr) {
    return ContactSites<>{.spring = *law_of_springs, .inverse_mass = inverse_mass};
  }
  return BatchSites<>{.spring = {law.springs.get()}, .site = {law.sites.get()}, .inverse_mass = inverse_mass};
}

}  // namespace

AnySites LineState::material(int axis) const {
  if (options.law) {
    const AlignedVector& row = inverse_mass_[strand(axis)];
    AnySites sites =
        nonlinear_sites(*options.law, has_uniform_sites(), constants.mass, row.empty() ? nullptr : own(row));
    const auto mirror = [](const auto& along) -> AnySites {
      if constexpr (requires { along.mirrored(); }) return along.mirrored();
      return along;
    };
    return strand(axis) == 1 ? std::visit(mirror, sites) : sites;
  }
  if (has_uniform_sites()) return UniformSites{constants.stiffness, constants.mass};
  return spring_.empty() ? NonuniformSites<>{} : NonuniformSites<>{own(spring_), own(inverse_mass_[0])};
}

void LineState::prepare_rows() {
  const bool has_rows = std::visit([](const auto& sites) { return sites.rows > 0; }, material());
  if (!has_rows || !inverse_mass_[0].empty()) return;
  const std::int64_t from = first_site() - room_before, to = first_site() + count + room_behind;
  if (!options.law) {
    spring_.reserve(static_cast<std::size_t>(to - from + 1));
    for (std::int64_t j = from; j < to; ++j) spring_.push_back(site(j).stiffness);
    spring_.push_back(site(std::min(to, sites() - 1)).stiffness);
  }
  const std::int64_t end = is_folded() ? std::min(to + joined_rows, chain_sites()) : to;
  for (int strand = 0; strand <= (is_folded() ? 1 : 0); ++strand) {
    inverse_mass_[strand].reserve(static_cast<std::size_t>(to + (is_folded() ? joined_rows : 0) - from));
    for (std::int64_t j = from; j < end; ++j) inverse_mass_[strand].push_back(1.0 / site(j, strand).mass);
    // Beyond the other head, where no value is used.
    if (is_folded())
      inverse_mass_[strand].resize(static_cast<std::size_t>(to + joined_rows - from), inverse_mass_[strand].back());
  }
}

void LineState::allocate() {
  open_block.reset();
  for (std::vector<AlignedVector>* fields : {&w, &p}) {
    fields->resize(static_cast<std::size_t>(axes));
    // In place: a copy may not fit.
    for (AlignedVector& field : *fields) field.assign(static_cast<std::size_t>(storage()), 0.0);
  }
  thin_arrays_.clear();
  for (int axis = 0; axis < axes; ++axis) {
    for (AlignedVector* field : {&w[axis], &p[axis]}) thin_arrays_.push_back(own(*field) - thin_halo_.left());
  }
  dissipated.assign(static_cast<std::size_t>(axes), 0.0);
  prepare_rows();
  active_end = 0;
  mark_active(0);
}

void LineState::mark_active(std::int64_t end) {
  active_end = std::max(active_end, options.skip_resting ? std::min(end, sites()) : sites());
  energy_started_.assign(energy_started_.size(), false);
}

void LineState::find_active_end() {
  std::int64_t end = 0;
  for (int axis = 0; axis < axes; ++axis) {
    const double* const at_w = own(w[axis]);
    const double* const at_p = own(p[axis]);
    std::int64_t last = count;
    while (last > end && at_w[last - 1] == 0.0 && at_p[last - 1] == 0.0) --last;
    end = std::max(end, last);
  }
  // Exact, as site indices are below 2^53.
  active_end = static_cast<std::int64_t>(communicator.max(end > 0 ? static_cast<double>(first_site() + end) : 0.0));
  mark_active(active_end);
}

namespace {

/// A row of own and copied sites, by the site's index in the whole line. (A pointer shifted by `-first` would point
/// outside of the array.)
template <class Number>
struct Numbered {
  const double* own;
  std::int64_t first;
  Number operator[](std::int64_t site) const { return read<Number>(own + (site - first)); }
};

}  // namespace

template <class Use>
void LineState::with_site_energy(int axis, Use use) const {
  const double* own_w = own(w[axis]);
  const double* own_p = own(p[axis]);
  const std::int64_t first = first_site();
  const auto with_sites = [&](const auto& sites) {
    const auto energy = [=]<class Number>(std::int64_t site) {
      const Numbered<Number> at_w{own_w, first}, at_p{own_p, first};
      const auto numbered = sites.mapped([=](const double* row) { return Numbered<Number>{row, first}; });
      return numbered.energy(site, at_p[site], at_w[site + 1] - at_w[site], at_w[site]);
    };
    use(energy, 0.5 / sites.mass);
  };
  std::visit(with_sites, material(axis));
}

void LineState::begin_energies(int axis) {
  sums_[axis].begin();
  energy_started_[axis] = true;
}

void LineState::add_energies(int axis, std::int64_t end) {
  // Not the last site, as the end point of its spring is set in `end_energies` only.
  const std::int64_t stop = std::min(first_site() + end, sites() - 1);
  with_site_energy(axis, [&](auto energy_of, double) { sums_[axis].add(energy_of, stop, active_end); });
}

double LineState::end_energies(int axis) {
  // The spring behind the last site is unstretched unless the end is fixed or joined. Of two strands the first has the
  // joining spring or the shared site, and the springs beside a shared site are those before it.
  std::int64_t end = active_end;
  if (at_far_end) {
    const double here = own(w[axis])[count - 1];
    const bool is_joined = is_folded() && strand(axis) == 0 && constants.shared == 0;
    own(w[axis])[count] = is_joined ? own(w[joined_axis(axis)])[count - 1] : is_folded() ? here : behind_last(here);
  }
  if (strand(axis) == 1 && constants.shared == 1) end = std::min(end, sites() - 1);
  if (!energy_started_[axis]) sums_[axis].begin();
  energy_started_[axis] = false;
  double energy = 0.0;
  with_site_energy(axis, [&](auto energy_of, double unit) { energy = unit * sums_[axis].end(energy_of, end); });
  return energy;
}

}  // namespace bathline
