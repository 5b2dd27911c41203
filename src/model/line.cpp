// A uniform line of sites: its description, its state and its energy.
#include "model/line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace bathline {

Line::Line(std::string name, Attachment attachment, const LineConstants& constants, std::int64_t sites,
           const Communicator& communicator, double temperature)
    : Environment(std::move(name), std::move(attachment)),
      constants_(constants),
      temperature_(temperature),
      layout_(sites, communicator.size(), minimum_piece),
      communicator_(communicator),
      axes_(Environment::attachment().axes()),
      halo_(layout_, communicator, halo_depth, 2 * axes_),
      thin_halo_(layout_, communicator, 1, 2 * axes_),
      sum_(layout_, communicator),
      count_(layout_.count(communicator.rank())),
      at_far_end_(communicator.rank() == layout_.holders() - 1) {
  constants_.dashpot = constants_.far_end == FarEnd::matched ? damping() : 0.0;
}

std::int64_t Line::bytes() const {
  return 2 * axes_ * (count_ + halo_.left() + halo_.right()) * static_cast<std::int64_t>(sizeof(double));
}

double Line::damping() const { return std::sqrt(constants_.stiffness * constants_.mass); }

double Line::echo_time() const {
  if (is_open_ended()) return std::numeric_limits<double>::infinity();
  return 2.0 * static_cast<double>(sites()) * std::sqrt(constants_.mass / constants_.stiffness);
}

double Line::highest_frequency() const { return 2.0 * std::sqrt(constants_.stiffness / constants_.mass); }

LinearChain Line::chain(std::int64_t limit) const {
  const auto count = static_cast<int>(std::min(sites(), limit));
  LinearChain chain;
  chain.mass.assign(static_cast<std::size_t>(count), constants_.mass);
  chain.to_head = {{0, constants_.stiffness}};
  for (int site = 0; site + 1 < count; ++site) chain.springs.push_back({site, site + 1, constants_.stiffness});
  if (count < sites() || constants_.far_end == FarEnd::fixed) chain.to_ground = {{count - 1, constants_.stiffness}};
  if (count == sites() && is_open_ended()) chain.dashpots = {{count - 1, constants_.dashpot}};
  return chain;
}

std::vector<double> Line::memory_kernel(std::span<const double> times) const {
  std::vector<double> kernel;
  for (double t : times) {
    const double phase = highest_frequency() * t;
    kernel.push_back(phase == 0.0 ? constants_.stiffness
                                  : 2.0 * constants_.stiffness * std::cyl_bessel_j(1.0, phase) / phase);
  }
  return kernel;
}

void Line::prepare(const RandomKey& key) {
  const auto size = static_cast<std::size_t>(halo_.left() + count_ + halo_.right());
  w_.assign(static_cast<std::size_t>(axes_), std::vector<double>(size));
  p_.assign(static_cast<std::size_t>(axes_), std::vector<double>(size));
  arrays_.clear();
  thin_arrays_.clear();
  own_momenta_.clear();
  for (int axis = 0; axis < axes_; ++axis) {
    for (std::vector<double>* field : {&w_[axis], &p_[axis]}) {
      arrays_.push_back(field->data());
      thin_arrays_.push_back(own(*field) - thin_halo_.left());
    }
    own_momenta_.push_back(own(p_[axis]));
  }
  dissipated_.assign(static_cast<std::size_t>(axes_), 0.0);
  head_.resize(static_cast<std::size_t>(axes_));
  head_momentum_.resize(static_cast<std::size_t>(axes_));
  for (int axis = 0; axis < axes_ && temperature_ > 0.0; ++axis) warm_up(key, axis);
}

void Line::gather_state(std::vector<double>& w, std::vector<double>& p) const {
  const auto gather = [&](const std::vector<std::vector<double>>& fields, std::vector<double>& all) {
    all.assign(communicator_.is_root() ? static_cast<std::size_t>(sites() * axes_) : 0, 0.0);
    for (int axis = 0; axis < axes_; ++axis) {
      const std::vector<double> field = communicator_.gather({own(fields[axis]), static_cast<std::size_t>(count_)});
      for (std::size_t site = 0; site < field.size(); ++site) all[site * axes_ + axis] = field[site];
    }
  };
  gather(w_, w);
  gather(p_, p);
}

void Line::scatter_state(std::span<const double> w, std::span<const double> p) {
  const auto scatter = [&](std::span<const double> all, std::vector<std::vector<double>>& fields) {
    for (int axis = 0; axis < axes_; ++axis) {
      std::vector<double> field(communicator_.is_root() ? static_cast<std::size_t>(sites()) : 0);
      for (std::size_t site = 0; site < field.size(); ++site) field[site] = all[site * axes_ + axis];
      communicator_.scatter(field, {own(fields[axis]), static_cast<std::size_t>(count_)});
    }
  };
  scatter(w, w_);
  scatter(p, p_);
}

std::span<const double> Line::displacement(int axis) const { return {own(w_[axis]), static_cast<std::size_t>(count_)}; }

void Line::exchange_next_neighbours() { thin_halo_.exchange(thin_arrays_); }

EnvironmentEnergy Line::energy(std::span<const double> head) {
  exchange_next_neighbours();
  const std::int64_t first = first_site();
  const std::int64_t last = sites() - 1;
  const double half_stiffness = 0.5 * constants_.stiffness;
  const double half_inverse_mass = 0.5 / constants_.mass;
  EnvironmentEnergy energy;
  double numbers[2] = {0.0, 0.0};  // interaction, known to rank 0, and losses, known to the last rank
  for (int axis = 0; axis < axes_; ++axis) {
    const double* w = own(w_[axis]) - first;
    const double* p = own(p_[axis]) - first;
    const bool fixed_end = constants_.far_end == FarEnd::fixed;
    energy.environment += sum_([=](std::int64_t site) {
      // The spring to the next site; behind the last one there is one only at a fixed end.
      const double next = site < last ? w[site + 1] : fixed_end ? 0.0 : w[site];
      const double strain = next - w[site];
      return half_inverse_mass * (p[site] * p[site]) + half_stiffness * (strain * strain);
    });
    if (at_head()) {
      const double strain = w[0] - head[axis];
      numbers[0] += half_stiffness * strain * strain;
    }
  }
  if (at_far_end_) numbers[1] = std::accumulate(dissipated_.begin(), dissipated_.end(), 0.0);
  communicator_.broadcast(std::span<double>(&numbers[0], 1));
  communicator_.broadcast(std::span<double>(&numbers[1], 1), layout_.holders() - 1);
  energy.interaction = numbers[0];
  energy.dissipated = numbers[1];
  return energy;
}

void Line::force(std::span<const double> head, std::span<double> force) const {
  for (int axis = 0; axis < axes_; ++axis) {
    const double first = block_.open ? near_[axis].first() : own(w_[axis])[0];
    force[axis] = constants_.stiffness * (first - head[axis]);
  }
}

}  // namespace bathline
