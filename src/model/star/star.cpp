// A heat bath: its description, its state, its energy and what it does to a head in theory.
#include "model/star/star.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace bathline {

Star::Star(std::string name, Attachment attachment, Spectrum spectrum, double temperature, int steps_per_pass,
           const Communicator& communicator)
    : Environment(std::move(name), std::move(attachment)),
      spectrum_(std::move(spectrum)),
      temperature_(temperature),
      steps_per_pass_(steps_per_pass),
      communicator_(communicator),
      axes_(static_cast<std::size_t>(Environment::attachment().axes())),
      sum_(spectrum_.size, communicator) {}

std::int64_t Star::bytes() const {
  return (2 + 2 * static_cast<std::int64_t>(axes_)) * sum_.count() * static_cast<std::int64_t>(sizeof(double));
}

LinearChain Star::chain(std::int64_t limit) const {
  // The highest half as they are; of the others, as many at a time as it takes, with the frequency of the highest.
  const std::int64_t single = sites() <= limit ? sites() : limit / 2;
  const std::int64_t rest = sites() - single;
  const std::int64_t lump = rest == 0 ? 1 : (rest + limit - single - 1) / (limit - single);
  LinearChain chain;
  const auto add = [&](std::int64_t begin, std::int64_t end) {
    double stiffness = 0.0;
    for (std::int64_t j = begin; j < end; ++j) stiffness += spectrum_.oscillator(j).stiffness;
    const double frequency = spectrum_.oscillator(end - 1).frequency;
    chain.to_head.emplace_back(static_cast<int>(chain.mass.size()), stiffness);
    chain.mass.push_back(stiffness / (frequency * frequency));
  };
  for (std::int64_t j = 0; j < rest; j += lump) add(j, std::min(rest, j + lump));
  for (std::int64_t j = rest; j < sites(); ++j) add(j, j + 1);
  return chain;
}

std::vector<double> Star::memory_kernel(std::span<const double> times) const {
  sum_.open(static_cast<int>(times.size()));
  for (std::int64_t leaf = 0; leaf < sum_.leaves(); ++leaf) {
    const std::span<double> sums = sum_.leaf(leaf);
    const std::int64_t end = std::min(sum_.count(), (leaf + 1) * sum_.leaf_size());
    for (std::int64_t j = leaf * sum_.leaf_size(); j < end; ++j) {
      const BathOscillator one = spectrum_.oscillator(sum_.first() + j);
      for (std::size_t i = 0; i < times.size(); ++i) sums[i] += one.stiffness * std::cos(one.frequency * times[i]);
    }
  }
  std::vector<double> kernel(times.size());
  sum_.reduce(kernel);
  communicator_.broadcast(std::span<double>(kernel));
  return kernel;
}

std::vector<double> Star::memory_kernel_limit(std::span<const double> times) const {
  std::vector<double> kernel;
  for (double t : times) {
    if (spectrum_.kernel_limit) kernel.push_back(spectrum_.kernel_limit(t));
  }
  return kernel;
}

std::vector<double> Star::random_force(std::span<const double> times) const {
  const auto width = times.size() * axes_;
  sum_.open(static_cast<int>(width));
  for (std::int64_t leaf = 0; leaf < sum_.leaves(); ++leaf) {
    const std::span<double> sums = sum_.leaf(leaf);
    const std::int64_t end = std::min(sum_.count(), (leaf + 1) * sum_.leaf_size());
    for (std::int64_t j = leaf * sum_.leaf_size(); j < end; ++j) {
      const BathOscillator one = spectrum_.oscillator(sum_.first() + j);
      for (std::size_t i = 0; i < times.size(); ++i) {
        const double cosine = one.stiffness * std::cos(one.frequency * times[i]);
        // k/(m omega) = omega
        const double sine = one.frequency * std::sin(one.frequency * times[i]);
        for (std::size_t axis = 0; axis < axes_; ++axis) {
          sums[i * axes_ + axis] +=
              cosine * w_[axis][static_cast<std::size_t>(j)] + sine * p_[axis][static_cast<std::size_t>(j)];
        }
      }
    }
  }
  std::vector<double> force(width);
  sum_.reduce(force);
  communicator_.broadcast(std::span<double>(force));
  return force;
}

void Star::prepare(const RandomKey& key) {
  const auto count = static_cast<std::size_t>(sum_.count());
  stiffness_.resize(count);
  inverse_mass_.resize(count);
  for (std::vector<std::vector<double>>* fields : {&w_, &p_}) {
    fields->resize(axes_);
    for (std::vector<double>& field : *fields) field.assign(count, 0.0);  // in place: a copy may not fit
  }
  pull_.assign(axes_, 0.0);
  head_.assign(axes_, 0.0);
  for (std::size_t j = 0; j < count; ++j) {
    const std::int64_t site = sum_.first() + static_cast<std::int64_t>(j);
    const BathOscillator one = spectrum_.oscillator(site);
    stiffness_[j] = one.stiffness;
    inverse_mass_[j] = one.frequency * one.frequency / one.stiffness;
    if (temperature_ == 0.0) continue;
    // Gibbs: k w^2 and p^2/m have the mean kT.
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      const auto [first, second] = normal_pair(key, static_cast<std::uint64_t>(site) * axes_ + axis);
      w_[axis][j] = std::sqrt(temperature_ / one.stiffness) * first;
      p_[axis][j] = std::sqrt(temperature_ / inverse_mass_[j]) * second;
    }
  }
  sum_.open(1);
  for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int n) {
    for (int j = 0; j < n; ++j) sum_.leaf(leaf)[0] += stiffness_[static_cast<std::size_t>(begin + j)];
  });
  sum_.reduce({&total_stiffness_, 1});
  refresh_pull();
}

void Star::refresh_pull() {
  pass_.forecast = false;
  eliminated_ = false;
  sum_.open(static_cast<int>(axes_));
  for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int n) {
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + n); ++j) {
        sum_.leaf(leaf)[axis] += stiffness_[j] * w_[axis][j];
      }
    }
  });
  sum_.reduce(pull_);
}

void Star::gather_state(std::vector<double>& w, std::vector<double>& p) const {
  const auto gather = [&](const std::vector<std::vector<double>>& fields, std::vector<double>& all) {
    all.assign(communicator_.is_root() ? static_cast<std::size_t>(sites()) * axes_ : 0, 0.0);
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      const std::vector<double> field = communicator_.gather(fields[axis]);
      for (std::size_t site = 0; site < field.size(); ++site) all[site * axes_ + axis] = field[site];
    }
  };
  gather(w_, w);
  gather(p_, p);
}

void Star::scatter_state(std::span<const double> w, std::span<const double> p) {
  const auto scatter = [&](std::span<const double> all, std::vector<std::vector<double>>& fields) {
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      std::vector<double> field(communicator_.is_root() ? static_cast<std::size_t>(sites()) : 0);
      for (std::size_t site = 0; site < field.size(); ++site) field[site] = all[site * axes_ + axis];
      communicator_.scatter(field, fields[axis]);
    }
  };
  scatter(w, w_);
  scatter(p, p_);
  refresh_pull();
}

void Star::restore(int axis, std::span<const double> w, std::span<const double> p) {
  std::copy(w.begin(), w.end(), w_[static_cast<std::size_t>(axis)].begin());
  std::copy(p.begin(), p.end(), p_[static_cast<std::size_t>(axis)].begin());
}

std::vector<double> Star::carried() const {
  std::vector<double> all = pull_;
  all.insert(all.end(), {eliminated_ ? 1.0 : 0.0, condensed_stiffness_, static_cast<double>(elimination_.size())});
  all.insert(all.end(), elimination_.begin(), elimination_.end());
  all.insert(all.end(),
             {pass_.forecast ? 1.0 : 0.0, static_cast<double>(pass_.done), static_cast<double>(pass_.substep)});
  if (pass_.forecast) {
    all.insert(all.end(), pass_.free.begin(), pass_.free.end());
    all.insert(all.end(), pass_.history.begin(), pass_.history.end());
  }
  // Rank 0 has most of it, and what the others have has the same length.
  communicator_.broadcast(std::span<double>(all));
  return all;
}

void Star::carry_on(std::span<const double> carried) {
  auto next = carried.begin();
  const auto require = [](bool fits) {
    if (!fits) throw std::out_of_range("this is not what a heat bath carries");
  };
  const auto take = [&] {
    require(next != carried.end());
    return *next++;
  };
  const auto take_count = [&](std::size_t most) {
    const double count = take();
    require(count >= 0.0 && count <= static_cast<double>(most));
    return static_cast<std::size_t>(count);
  };
  for (double& pull : pull_) pull = take();
  eliminated_ = take() != 0.0;
  condensed_stiffness_ = take();
  elimination_.resize(take_count(axes_ + 1));
  require(elimination_.empty() || elimination_.size() == axes_ + 1);
  for (double& sum : elimination_) sum = take();
  pass_.forecast = take() != 0.0;
  const std::size_t length = static_cast<std::size_t>(steps_per_pass_);
  const std::size_t done = take_count(length), substep = take_count(carried.size());
  unfinished_.assign(next, carried.end());
  // A forecast and a history, of the same number of substeps in every step.
  const std::size_t substeps = unfinished_.size() / (2 * axes_ * length);
  require(unfinished_.size() == 2 * axes_ * length * substeps);
  require(!pass_.forecast || (done < length && substep == done * substeps));
  pass_.done = static_cast<int>(done);
  pass_.substep = static_cast<int>(substep);
}

EnvironmentEnergy Star::energy(std::span<const double> head) {
  std::vector<double> x(head.begin(), head.end());
  communicator_.broadcast(std::span<double>(x));
  sum_.open(2);
  for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int n) {
    const std::span<double> sums = sum_.leaf(leaf);
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      for (auto j = static_cast<std::size_t>(begin); j < static_cast<std::size_t>(begin + n); ++j) {
        const double strain = w_[axis][j] - x[axis];
        sums[0] += 0.5 * inverse_mass_[j] * (p_[axis][j] * p_[axis][j]);
        sums[1] += 0.5 * stiffness_[j] * (strain * strain);
      }
    }
  });
  double sums[2] = {};
  sum_.reduce(sums);
  communicator_.broadcast(std::span<double>(sums));
  return {.environment = sums[0], .interaction = sums[1], .dissipated = 0.0};
}

void Star::force(std::span<const double> head, std::span<double> force) const {
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    const double pulled = pass_.open ? pull(axis, pass_.substep) : pull_[axis];
    force[axis] = pulled - total_stiffness_ * head[axis];
  }
}

}  // namespace bathline
