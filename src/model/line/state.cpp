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

LineSite LineState::site(std::int64_t index) const {
  if (has_uniform_sites()) return {constants.mass, constants.stiffness};
  return (*options.table)[static_cast<std::size_t>(index % period())];
}

AnySites LineState::material() const {
  if (has_uniform_sites()) return UniformSites{constants.stiffness, constants.mass};
  return spring_.empty() ? NonuniformSites<>{} : NonuniformSites<>{own(spring_), own(inverse_mass_)};
}

void LineState::prepare_rows() {
  if (has_uniform_sites() || !spring_.empty()) return;
  const std::int64_t from = first_site() - room_before, to = first_site() + count + room_behind;
  spring_.reserve(static_cast<std::size_t>(to - from + 1));
  inverse_mass_.reserve(static_cast<std::size_t>(to - from));
  for (std::int64_t j = from; j < to; ++j) {
    const LineSite here = site(j);
    spring_.push_back(here.stiffness);
    inverse_mass_.push_back(1.0 / here.mass);
  }
  spring_.push_back(site(std::min(to, sites() - 1)).stiffness);
}

void LineState::allocate() {
  block_start = {};
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
      return numbered.energy(site, at_p[site], at_w[site + 1] - at_w[site]);
    };
    use(energy, 0.5 / sites.mass);
  };
  std::visit(with_sites, material());
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
  // The spring behind the last site is unstretched unless the end is fixed.
  if (at_far_end) own(w[axis])[count] = behind_last(own(w[axis])[count - 1]);
  if (!energy_started_[axis]) sums_[axis].begin();
  energy_started_[axis] = false;
  double energy = 0.0;
  with_site_energy(axis, [&](auto energy_of, double unit) { energy = unit * sums_[axis].end(energy_of, active_end); });
  return energy;
}

}  // namespace bathline
