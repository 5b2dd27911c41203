// A line of sites: its description, its state and its energy.
#include "model/line/line.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "parallel/lanes.hpp"

namespace bathline {

Line::Line(std::string name, Attachment attachment, const LineConstants& constants, std::int64_t sites,
           const Communicator& communicator, LineOptions options)
    : Environment(std::move(name), std::move(attachment)),
      constants_(constants),
      options_(std::move(options)),
      layout_(sites, communicator.size(), minimum_piece),
      communicator_(communicator),
      axes_(Environment::attachment().axes()),
      halo_(layout_, communicator, halo_depth, 2 * axes_),
      thin_halo_(layout_, communicator, 1, 2 * axes_),
      sums_(static_cast<std::size_t>(axes_), OrderedSum(layout_, communicator)),
      count_(layout_.count(communicator.rank())),
      at_far_end_(communicator.rank() == layout_.holders() - 1),
      room_before_(count_ > 0 ? std::min<std::int64_t>(LineImplicitBlock::widest, first_site()) : 0),
      room_behind_(count_ > 0 ? std::min<std::int64_t>(LineImplicitBlock::widest, sites - first_site() - count_) : 0) {
  const LineSite last = site(sites - 1);
  head_stiffness_ = site(0).stiffness;
  constants_.mass = last.mass;
  constants_.stiffness = last.stiffness;
  constants_.dashpot = constants_.far_end == FarEnd::matched ? std::sqrt(last.stiffness * last.mass) : 0.0;
}

LineSite Line::site(std::int64_t index) const {
  return is_uniform() ? LineSite{constants_.mass, constants_.stiffness} : options_.site(index);
}

std::int64_t Line::bytes() const {
  const std::int64_t numbers = 2 * axes_ + (is_uniform() ? 0 : 2);
  return numbers * (room_before_ + count_ + room_behind_ + 1) * static_cast<std::int64_t>(sizeof(double));
}

std::int64_t Line::bytes_for(const Scheme& scheme) const {
  std::int64_t per_site = 0;
  if (const auto* stages = std::get_if<CollocationScheme>(&scheme)) {
    per_site = axes_ * stages->stages() * static_cast<std::int64_t>(sizeof(double));
  } else if (std::holds_alternative<OneStageScheme>(scheme) && !is_uniform()) {
    per_site = UnequalTridiagonal::bytes_per_site;
  }
  return per_site * count_;
}

double Line::damping() const {
  const LineSite first = site(0);
  return std::sqrt(first.stiffness * first.mass);
}

double Line::echo_time() const {
  const LineSite first = site(0);
  std::int64_t equal = is_uniform() ? sites() : 1;
  while (equal < sites() && site(equal) == first) ++equal;
  if (equal == sites() && is_open_ended()) return std::numeric_limits<double>::infinity();
  return 2.0 * static_cast<double>(equal) * std::sqrt(first.mass / first.stiffness);
}

double Line::highest_frequency() const {
  if (is_uniform()) return 2.0 * std::sqrt(constants_.stiffness / constants_.mass);
  // Gershgorin's circles: twice the diagonal bounds every eigenvalue.
  double highest = 0.0;
  for (std::int64_t j = 0; j < sites(); ++j) {
    const double behind = j + 1 < sites()                       ? site(j + 1).stiffness
                          : constants_.far_end == FarEnd::fixed ? site(j).stiffness
                                                                : 0.0;
    highest = std::max(highest, 2.0 * (site(j).stiffness + behind) / site(j).mass);
  }
  return std::sqrt(highest);
}

LinearChain Line::chain(std::int64_t limit) const {
  const auto count = static_cast<int>(std::min(sites(), limit));
  LinearChain chain;
  for (int j = 0; j < count; ++j) chain.mass.push_back(site(j).mass);
  chain.to_head = {{0, site(0).stiffness}};
  for (int j = 0; j + 1 < count; ++j) chain.springs.push_back({j, j + 1, site(j + 1).stiffness});
  if (count < sites()) {
    chain.to_ground = {{count - 1, site(count).stiffness}};
  } else if (constants_.far_end == FarEnd::fixed) {
    chain.to_ground = {{count - 1, constants_.stiffness}};
  }
  if (count == sites() && is_open_ended()) chain.dashpots = {{count - 1, constants_.dashpot}};
  return chain;
}

std::vector<double> Line::memory_kernel(std::span<const double> times) const {
  std::vector<double> kernel;
  if (!is_uniform()) return kernel;
  for (double t : times) {
    const double phase = highest_frequency() * t;
    kernel.push_back(phase == 0.0 ? constants_.stiffness
                                  : 2.0 * constants_.stiffness * std::cyl_bessel_j(1.0, phase) / phase);
  }
  return kernel;
}

std::optional<double> Line::front_speed() const {
  if (!is_uniform()) return std::nullopt;
  return std::sqrt(constants_.stiffness / constants_.mass);
}

void Line::prepare(const RandomKey& key) {
  // One more, for the end that the spring behind the last site is tied to.
  const auto size = static_cast<std::size_t>(room_before_ + count_ + room_behind_ + 1);
  for (std::vector<AlignedVector>* fields : {&w_, &p_}) {
    fields->resize(static_cast<std::size_t>(axes_));
    for (AlignedVector& field : *fields) field.assign(size, 0.0);  // in place: a copy may not fit
  }
  arrays_.clear();
  thin_arrays_.clear();
  own_momenta_.clear();
  for (int axis = 0; axis < axes_; ++axis) {
    for (AlignedVector* field : {&w_[axis], &p_[axis]}) {
      arrays_.push_back(own(*field) - halo_.left());
      thin_arrays_.push_back(own(*field) - thin_halo_.left());
    }
    own_momenta_.push_back(own(p_[axis]));
  }
  dissipated_.assign(static_cast<std::size_t>(axes_), 0.0);
  head_.resize(static_cast<std::size_t>(axes_));
  head_momentum_.resize(static_cast<std::size_t>(axes_));
  prepare_springs();
  moved_ = 0;
  energy_is_wanted_ = false;
  touch(options_.temperature > 0.0 ? sites() : 0);
  for (int axis = 0; axis < axes_ && options_.temperature > 0.0; ++axis) warm_up(key, axis);
}

void Line::prepare_springs() {
  if (is_uniform() || !spring_.empty()) return;
  const std::int64_t from = first_site() - room_before_, to = first_site() + count_ + room_behind_;
  spring_.reserve(static_cast<std::size_t>(to - from + 1));
  inverse_mass_.reserve(static_cast<std::size_t>(to - from));
  for (std::int64_t j = from; j < to; ++j) {
    const LineSite one = site(j);
    spring_.push_back(one.stiffness);
    inverse_mass_.push_back(1.0 / one.mass);
  }
  spring_.push_back(site(std::min(to, sites() - 1)).stiffness);
}

/// Of this rank's own sites.
LineSprings Line::springs() const {
  if (is_uniform()) return {constants_.stiffness, constants_.mass, nullptr, nullptr};
  return {constants_.stiffness, constants_.mass, own(spring_), own(inverse_mass_)};
}

void Line::touch(std::int64_t end) {
  moved_ = std::max(moved_, options_.skip_resting ? std::min(end, sites()) : sites());
  energy_is_under_way_ = false;
}

void Line::gather_state(std::vector<double>& w, std::vector<double>& p) const {
  const auto gather = [&](const std::vector<AlignedVector>& fields, std::vector<double>& all) {
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
  const auto scatter = [&](std::span<const double> all, std::vector<AlignedVector>& fields) {
    for (int axis = 0; axis < axes_; ++axis) {
      std::vector<double> field(communicator_.is_root() ? static_cast<std::size_t>(sites()) : 0);
      for (std::size_t site = 0; site < field.size(); ++site) field[site] = all[site * axes_ + axis];
      communicator_.scatter(field, {own(fields[axis]), static_cast<std::size_t>(count_)});
    }
  };
  scatter(w, w_);
  scatter(p, p_);
  touch(sites());
}

std::span<const double> Line::displacement(int axis) const { return {own(w_[axis]), static_cast<std::size_t>(count_)}; }

std::span<const double> Line::momentum(int axis) const { return {own(p_[axis]), static_cast<std::size_t>(count_)}; }

void Line::restore(int axis, std::span<const double> w, std::span<const double> p) {
  std::copy(w.begin(), w.end(), own(w_[axis]));
  std::copy(p.begin(), p.end(), own(p_[axis]));
}

std::vector<double> Line::carried() const {
  std::vector<double> dissipated = dissipated_;
  communicator_.broadcast(std::span<double>(dissipated), layout_.holders() - 1);
  dissipated.push_back(static_cast<double>(moved_));
  return dissipated;
}

void Line::carry_on(std::span<const double> carried) {
  const bool fits = carried.size() == dissipated_.size() + 1 && carried.back() >= 0.0 &&
                    carried.back() <= static_cast<double>(sites());
  if (!fits) throw std::out_of_range("this is not what a line carries");
  if (at_far_end_) std::copy(carried.begin(), carried.end() - 1, dissipated_.begin());
  moved_ = static_cast<std::int64_t>(carried.back());
}

void Line::exchange_next_neighbours() { thin_halo_.exchange(thin_arrays_); }

template <class Use>
void Line::use_site_energy(int axis, Use use) const {
  const Numbered w = numbered(w_[axis]);
  const Numbered p = numbered(p_[axis]);
  // Few products: adding this up has to cost little beside the steps in between.
  if (is_uniform()) {
    const double squared_impedance = constants_.stiffness * constants_.mass;
    use([=]<class Number>(std::int64_t site) {
      const Number strain = w.at<Number>(site + 1) - w.at<Number>(site), momentum = p.at<Number>(site);
      return fused(everywhere<Number>(squared_impedance), strain * strain, momentum * momentum);
    });
  } else {
    const Numbered spring = numbered(spring_);
    const Numbered inverse_mass = numbered(inverse_mass_);
    use([=]<class Number>(std::int64_t site) {
      const Number strain = w.at<Number>(site + 1) - w.at<Number>(site), momentum = p.at<Number>(site);
      return fused(spring.at<Number>(site + 1), strain * strain, inverse_mass.at<Number>(site) * (momentum * momentum));
    });
  }
}

void Line::add_energies(int axis, std::int64_t end) {
  // What the last site is tied to is not known on the way.
  const std::int64_t stop = std::min(first_site() + end, sites() - 1);
  use_site_energy(axis, [&](auto one) { sums_[axis].add(one, stop, moved_); });
}

EnvironmentEnergy Line::energy(std::span<const double> head) {
  exchange_next_neighbours();
  EnvironmentEnergy energy;
  double numbers[2] = {0.0, 0.0};  // interaction, known to rank 0, and losses, known to the last rank
  for (int axis = 0; axis < axes_; ++axis) {
    // Behind the last site there is a spring only at a fixed end.
    if (at_far_end_) own(w_[axis])[count_] = constants_.far_end == FarEnd::fixed ? 0.0 : own(w_[axis])[count_ - 1];
    if (!energy_is_under_way_) sums_[axis].begin();
    use_site_energy(axis, [&](auto one) { energy.environment += energy_unit() * sums_[axis].end(one, moved_); });
    if (at_head()) {
      const double strain = own(w_[axis])[0] - head[axis];
      numbers[0] += 0.5 * head_stiffness_ * strain * strain;
    }
  }
  energy_is_under_way_ = false;
  energy_is_wanted_ = true;
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
    force[axis] = head_stiffness_ * (first - head[axis]);
  }
}

}  // namespace bathline
