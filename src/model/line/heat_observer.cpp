// Heat currents and temperatures along a folded chain.
//
// With the energy of a site e_j = p_j^2/2m + U(w_j) + half of both springs, e_j' = J_j - J_{j+1} holds exactly for
//
//   J_j = -V'(w_j - w_{j-1}) (v_{j-1} + v_j)/2,
//
// the current through spring j (dhar2008, section 2.1). Both strands are read in pieces that no number of ranks
// changes, from their heads; along the second one springs and currents have the other sign.
// Tested by tests/model/line/nonlinear_line_test.cpp.
#include "model/line/heat_observer.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

namespace bathline {

namespace {

void write(SimdDouble value, double* to) { store(value, to); }
void write(double value, double* to) { *to = value; }

/// A row of sites, read as numbers or registers.
template <class Number>
struct RowOf {
  const double* row;
  Number operator[](std::int64_t j) const { return read<Number>(row + j); }
};

/// Calls `use.template operator()<Number>(i)` for [0, count), by registers as long as there are enough.
template <class Use>
void for_each_lane(std::int64_t count, Use use) {
  std::int64_t i = 0;
  for (; i + simd_width <= count; i += simd_width) use.template operator()<SimdDouble>(i);
  for (; i < count; ++i) use.template operator()<double>(i);
}

class LineHeatObserver final : public HeatObserver {
 public:
  LineHeatObserver(LineState& line, bool is_ring, const HeatObservation& what)
      : line_(line), is_ring_(is_ring), what_(what), sum_(line.layout, line.communicator) {
    if (what.has_totals) prepare_totals();
    const auto count = static_cast<std::size_t>(line.count), leaf = static_cast<std::size_t>(line.layout.unit());
    for (int strand = 0; strand < 2; ++strand) {
      strands_[strand].temperature.resize(count);
      strands_[strand].current.resize(count + (has_joining_spring(strand) ? 1 : 0));
    }
    for (std::vector<double>* row : {&w_, &v_, &pull_}) row->resize(std::min(count, leaf) + 2);
  }

  void observe(const ConductorEnds& ends) override {
    line_.exchange_next_neighbours();
    ++observations_;
    if (what_.has_totals) sum_.allocate(static_cast<int>(totals_.size()));
    for (int strand = 0; strand < 2; ++strand)
      std::visit(
          [&](const auto& sites) {
            for (std::int64_t begin = 0; begin < line_.count; begin += line_.layout.unit())
              add_leaf(strand, sites, ends, begin, std::min(line_.layout.unit(), line_.count - begin));
          },
          line_.material(strand));
    if (what_.has_totals) sum_.reduce(totals_);
    if (!line_.at_head()) return;
    for (std::size_t end = 0; end < 2; ++end) end_temperature_[end] += ends.kT[end];
    if (what_.has_totals) end_totals(ends);
  }

  std::span<const double> totals() const override {
    return std::span(totals_).subspan(std::min<std::size_t>(2, totals_.size()));
  }

  HeatProfile take() override {
    const std::int64_t springs = line_.chain_sites() + 1, places = springs + (is_ring_ ? 0 : 1);
    std::vector<double> ends(what_.bins);
    ends.front() = end_temperature_[0];
    if (!is_ring_) ends.back() += end_temperature_[1];
    HeatProfile profile;
    profile.temperature = means(&Strand::temperature, places, std::move(ends), profile.mean_temperature);
    profile.current = means(&Strand::current, springs, std::vector<double>(what_.bins), profile.mean_current);
    for (Strand& strand : strands_) {
      std::ranges::fill(strand.temperature, 0.0);
      std::ranges::fill(strand.current, 0.0);
    }
    observations_ = 0;
    end_temperature_ = {};
    return profile;
  }

 private:
  /// Sums over the observations, by own site: of its temperature, and of the current of the spring before it. One more
  /// spring joins the strands where they share no site.
  struct Strand {
    std::vector<double> temperature, current;
  };

  bool has_joining_spring(int strand) const {
    return strand == 0 && line_.constants.shared == 0 && line_.at_far_end && line_.count > 0;
  }

  template <class S>
  void add_leaf(int strand, const S& sites, const ConductorEnds& ends, std::int64_t begin, std::int64_t count) {
    const double* const w = line_.own(line_.w[strand]) + begin;
    const double* const p = line_.own(line_.p[strand]) + begin;
    const auto velocity = [&](std::int64_t j, double momentum) { return sites.per_mass(j, momentum / sites.mass); };
    const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
    const bool is_first = line_.at_head() && begin == 0;
    w_[0] = is_first ? ends.x[at(strand)] : w[-1];
    v_[0] = is_first ? ends.v[at(strand)] : velocity(begin - 1, p[-1]);
    const bool is_last = line_.at_far_end && begin + count == line_.count;
    const int other = line_.joined_axis(strand);
    const std::int64_t next = line_.count - 1 - line_.constants.shared;
    w_[at(count + 1)] = is_last ? line_.own(line_.w[other])[next] : w[count];
    v_[at(count + 1)] = velocity(begin + count, is_last ? line_.own(line_.p[other])[next] : p[count]);
    std::copy_n(w, count, w_.begin() + 1);

    const double factor = (strand == 0 ? -0.5 : 0.5) * sites.stiffness, kick = what_.kick * sites.stiffness,
                 unit = 1.0 / sites.mass;
    double* const pulls = pull_.data();
    double* const places = w_.data();
    double* const velocities = v_.data();
    double* const temperature = strands_[strand].temperature.data() + begin;
    double* const current = strands_[strand].current.data() + begin;
    for_each_lane(count, [&]<class Number>(std::int64_t i) {
      write(rows<Number>(sites).per_mass(begin + i, unit * read<Number>(p + i)), velocities + i + 1);
    });
    for_each_lane(count + 1, [&]<class Number>(std::int64_t i) {
      write(sites.pull(begin + i, read<Number>(places + i + 1) - read<Number>(places + i)), pulls + i);
    });
    for_each_lane(count, [&]<class Number>(std::int64_t i) {
      const Number before = read<Number>(pulls + i), behind = read<Number>(pulls + i + 1);
      const Number impulse = read<Number>(p + i) + kick * sites.held(read<Number>(places + i + 1), behind - before);
      const Number flow = factor * before * (read<Number>(velocities + i) + read<Number>(velocities + i + 1));
      write(read<Number>(temperature + i) + rows<Number>(sites).per_mass(begin + i, unit * (impulse * impulse)),
            temperature + i);
      write(read<Number>(current + i) + flow, current + i);
    });
    const bool joins = is_last && has_joining_spring(strand);
    if (joins) strands_[strand].current.back() += factor * pulls[count] * (velocities[count] + velocities[count + 1]);
    if (what_.has_totals) add_totals(strand, factor, begin, count + (joins ? 1 : 0), count, p);
  }
  template <class Number, class S>
  static auto rows(const S& sites) {
    return sites.mapped([](const double* row) { return RowOf<Number>{row}; });
  }

  // The totals: momentum of the sites, force and current of the springs, waves; the first two are not seen.
  void prepare_totals() {
    totals_.resize(3 + 2 * what_.waves.size());
    for (std::int64_t j = 0; j < line_.chain_sites(); ++j) mass_ += line_.site(j).mass;
  }
  /// The angle of a place of the ring times the number of a wave.
  double angle_of(std::int64_t wave, std::int64_t place) const {
    const std::int64_t places = line_.chain_sites() + 1, part = wave % places * place % places;
    return 2.0 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(places);
  }
  /// Of the springs from `begin` on and of the sites behind them, in the rows of the leaf.
  void add_totals(int strand, double factor, std::int64_t begin, std::int64_t springs, std::int64_t sites,
                  const double* p) {
    const std::span<double> sums = sum_.leaf(begin / line_.layout.unit());
    for (std::int64_t i = 0; i < springs; ++i) {
      const auto k = static_cast<std::size_t>(i);
      sums[1] += -2.0 * factor * pull_[k];
      sums[2] += factor * pull_[k] * (v_[k] + v_[k + 1]);
    }
    const std::int64_t first = line_.first_site() + begin;
    // Both strands store a shared site.
    if (strand == 1 && line_.constants.shared == 1 && first + sites == line_.sites()) --sites;
    for (std::int64_t i = 0; i < sites; ++i) sums[0] += p[i];
    for (std::size_t n = 0; n < what_.waves.size(); ++n) {
      const double turn = (strand == 0 ? 1.0 : -1.0) * angle_of(what_.waves[n], 1);
      const double turn_cosine = std::cos(turn), turn_sine = std::sin(turn);
      double cosine = 1.0, sine = 0.0;
      for (std::int64_t i = 0; i < sites; ++i) {
        // Tables of the angles would need as much memory as the sites. Rotations are exact again every few sites, so
        // that they accumulate no round-off.
        if (constexpr std::int64_t rotations = 32; i % rotations == 0) {
          const double angle = angle_of(what_.waves[n], strand == 0 ? first + i + 1 : line_.chain_sites() - first - i);
          cosine = std::cos(angle);
          sine = std::sin(angle);
        } else {
          const double before = cosine;
          cosine = before * turn_cosine - sine * turn_sine;
          sine = sine * turn_cosine + before * turn_sine;
        }
        const double v = v_[static_cast<std::size_t>(i + 1)];
        sums[3 + 2 * n] += v * cosine;
        sums[4 + 2 * n] += v * sine;
      }
    }
  }
  /// Adds the particle, and leaves the frame in which the ring moves.
  void end_totals(const ConductorEnds& ends) {
    for (std::size_t n = 0; n < what_.waves.size(); ++n) totals_[3 + 2 * n] += ends.v[0];
    const double velocity = (totals_[0] + ends.mass[0] * ends.v[0]) / (mass_ + ends.mass[0]);
    // Sites that are held take up momentum.
    if (line_.options.law->sites == nullptr) totals_[2] += velocity * totals_[1];
  }

  /// The means by bin of `total` places or springs along the chain, and of all, on rank 0, where `sums` has those of
  /// the ends.
  std::vector<double> means(std::vector<double> Strand::*values, std::int64_t total, std::vector<double> sums,
                            double& mean) const {
    const bool of_places = values == &Strand::temperature;
    for (int strand = 0; strand < 2; ++strand) {
      const std::vector<double>& own = strands_[strand].*values;
      std::vector<double> pieces;  // bins and sums of consecutive values, which are in one leaf
      for (std::int64_t j = 0; j < static_cast<std::int64_t>(own.size()); ++j) {
        const std::int64_t along = line_.first_site() + j;
        // The last site of the first strand is that of the second one, too.
        if (of_places && strand == 1 && line_.constants.shared == 1 && along == line_.sites() - 1) continue;
        const std::int64_t index = strand == 1 ? line_.chain_sites() - along : along + (of_places ? 1 : 0);
        const auto bin = static_cast<double>(bin_of(index, total, what_.bins));
        if (j % line_.layout.unit() == 0 || pieces[pieces.size() - 2] != bin) pieces.insert(pieces.end(), {bin, 0.0});
        pieces.back() += own[static_cast<std::size_t>(j)];
      }
      const std::vector<double> all = line_.communicator.gather(pieces);
      for (std::size_t i = 0; i < all.size(); i += 2) sums[static_cast<std::size_t>(all[i])] += all[i + 1];
    }
    mean = std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(total * observations_);
    for (std::size_t bin = 0; bin < what_.bins; ++bin) {
      const std::int64_t count = begin_of_bin(bin + 1, total, what_.bins) - begin_of_bin(bin, total, what_.bins);
      sums[bin] /= static_cast<double>(count * observations_);
    }
    return sums;
  }

  LineState& line_;
  bool is_ring_;
  HeatObservation what_;
  std::array<Strand, 2> strands_;
  std::vector<double> w_, v_, pull_;  // of a leaf and its neighbours
  std::array<double, 2> end_temperature_{};
  std::int64_t observations_ = 0;
  ReproducibleSum sum_;  // of the totals
  std::vector<double> totals_;
  double mass_ = 0.0;  // of all sites
};

}  // namespace

std::unique_ptr<HeatObserver> make_heat_observer(LineState& line, bool is_ring, const HeatObservation& what) {
  return std::make_unique<LineHeatObserver>(line, is_ring, what);
}

}  // namespace bathline
