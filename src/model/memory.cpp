// A memory: an environment that is nothing but a kernel of decaying oscillations, a few numbers on rank 0.
//
//   gamma(t) = sum_j k_j exp(-r_j t) cos(w_j t),   force on the head -integral gamma(t - s) x'(s) ds = -sum_j k_j Re
//   z_j z_j' = (-r_j + i w_j) z_j + x',   energy k_j |z_j|^2 / 2, of which r_j k_j |z_j|^2 is lost per time
//
// Mode j is a spring k_j in series with a dashpot k_j/r_j on a mass m_j = k_j/w_j^2 with a dashpot r_j m_j to the
// ground. The state is where the spring ends and how the mass moves, w_j = x - Re z_j and p_j = k_j/w_j Im z_j, so that
// w_j' = p_j/m_j + r_j (x - w_j), p_j' = k_j (x - w_j) - r_j p_j. Splittings take the modes' own motion exactly, in
// half steps before and after the particles' step. Source: farshi2018, eq. (36) for the kernel; the modes are ours.
#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "model/environment_catalogue.hpp"

namespace bathline {

namespace {

using Complex = std::complex<double>;

struct Mode {
  double k, r, w;
  Complex grown(double t) const { return std::exp(t * Complex(-r, w)); }
};

/// On rank 0; elsewhere nothing. The modes of an axis stand side by side.
struct MemoryState {
  std::vector<Mode> modes;
  std::vector<double> w, p;
  std::vector<double> dissipated;  // by axis

  std::size_t axis(std::size_t i) const { return i / modes.size(); }
  const Mode& mode(std::size_t i) const { return modes[i % modes.size()]; }
  /// z with the head at x; `put` is the converse.
  Complex z(std::size_t i, std::span<const double> x) const {
    return {x[axis(i)] - w[i], mode(i).w * p[i] / mode(i).k};
  }
  void put(std::size_t i, std::span<const double> x, Complex z) {
    w[i] = x[axis(i)] - z.real();
    p[i] = mode(i).w > 0.0 ? mode(i).k / mode(i).w * z.imag() : 0.0;
  }
};

/// Splittings and Runge-Kutta methods. Every step begins with what the state says, wherever blocks end.
class MemoryExplicitMarch final : public ExplicitMarch {
 public:
  MemoryExplicitMarch(MemoryState& state, const ExplicitScheme& scheme, double h)
      : state_(state), scheme_(scheme), h_(h), splits_(scheme.b.empty()), slopes_(scheme.b.size()) {
    for (const Mode& mode : state.modes) half_.push_back(splits_ ? mode.grown(0.5 * h) : 1.0);
  }
  int limit() const override { return 1 << 20; }
  void open(const BlockPlan&) override { z_.resize(state_.w.size()); }
  void close() override {}

  void force(const HeadMotion& head, std::span<double> force) const override {
    std::fill(force.begin(), force.end(), 0.0);
    for (std::size_t i = 0; i < z_.size(); ++i) {
      const Complex z = next_ > 0 ? z_[i] : half_[i % half_.size()] * state_.z(i, head.x);
      force[state_.axis(i)] -= state_.mode(i).k * z.real();
    }
  }

  void substep(const Substep& substep, const HeadMotion& head) override {
    if (next_ == 0) {
      x_.assign(head.x.begin(), head.x.end());
      for (std::size_t i = 0; i < z_.size(); ++i) z_[i] = state_.z(i, head.x);
      start_ = z_;
      move_freely();
    }
    if (substep.kind == Substep::Kind::stage) stage(static_cast<std::size_t>(substep.stage), head.v);
    if (substep.kind == Substep::Kind::drift) go(substep.weight * h_, head.v);
    if (++next_ < scheme_.substeps.size()) return;
    next_ = 0;
    move_freely();
    for (std::size_t i = 0; i < z_.size(); ++i) state_.put(i, x_, z_[i]);
  }

 private:
  /// Half a step of a splitting with the head held.
  void move_freely() {
    for (std::size_t i = 0; i < z_.size() && splits_; ++i) {
      const Mode& mode = state_.mode(i);
      state_.dissipated[state_.axis(i)] -= 0.5 * mode.k * std::norm(z_[i]) * std::expm1(-h_ * mode.r);
      z_[i] *= half_[i % half_.size()];
    }
  }
  void go(double step, std::span<const double> v) {
    for (std::size_t i = 0; i < z_.size(); ++i) z_[i] += step * v[state_.axis(i)];
    for (std::size_t axis = 0; axis < x_.size(); ++axis) x_[axis] += step * v[axis];
  }
  void stage(std::size_t stage, std::span<const double> v) {
    slopes_[stage].resize(z_.size());
    for (std::size_t i = 0; i < z_.size(); ++i) {
      const Mode& mode = state_.mode(i);
      slopes_[stage][i] = Complex(-mode.r, mode.w) * z_[i] + v[state_.axis(i)];
      state_.dissipated[state_.axis(i)] += h_ * scheme_.b[stage] * mode.r * mode.k * std::norm(z_[i]);
    }
    for (std::size_t axis = 0; axis < x_.size(); ++axis) x_[axis] += h_ * scheme_.b[stage] * v[axis];
    const std::vector<double>& weights = stage + 1 == scheme_.b.size() ? scheme_.b : scheme_.a[stage + 1];
    z_ = start_;
    for (std::size_t j = 0; j <= stage; ++j) {
      for (std::size_t i = 0; i < z_.size(); ++i) z_[i] += h_ * weights[j] * slopes_[j][i];
    }
  }

  MemoryState& state_;
  ExplicitScheme scheme_;
  double h_;
  bool splits_;
  std::size_t next_ = 0;       // substep of the step
  std::vector<double> x_;      // of the head
  std::vector<Complex> half_;  // what half a step of its own makes of every mode
  std::vector<Complex> z_, start_;
  std::vector<std::vector<Complex>> slopes_;  // by stage
};

//   A = Re z 1 + h a (V - w_j B - r_j A),   B = Im z 1 + h a^ (w_j A - r_j B),   z = A + i B at the stages
class MemoryImplicitMarch final : public ImplicitMarch {
 public:
  MemoryImplicitMarch(MemoryState& state, const CollocationScheme& scheme, double h)
      : state_(state), scheme_(scheme), h_(h), s_(scheme.stages()), damping_(Eigen::MatrixXd::Zero(s_, s_)) {
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(s_, s_);
    for (const Mode& mode : state.modes) {
      Eigen::MatrixXd matrix(2 * s_, 2 * s_);
      matrix << one + h * mode.r * scheme.a, h * mode.w * scheme.a, -h * mode.w * scheme.a_hat,
          one + h * mode.r * scheme.a_hat;
      solved_.emplace_back(matrix.inverse());
      damping_ += mode.k * h * solved_.back().topLeftCorner(s_, s_) * scheme.a;
    }
  }
  int limit() const override { return 1 << 20; }
  bool respond(std::span<const double> head, StageResponse& response) override {
    x_.assign(head.begin(), head.end());
    response.damping = damping_;
    response.constant.setZero(s_, static_cast<Eigen::Index>(x_.size()));
    for (std::size_t i = 0; i < state_.w.size(); ++i) {
      response.constant.col(static_cast<Eigen::Index>(state_.axis(i))) -=
          state_.mode(i).k * stages(i, Eigen::VectorXd::Zero(s_)).head(s_);
    }
    return true;
  }
  void complete(const Eigen::MatrixXd& head_velocities) override {
    std::vector<double> end = x_;
    for (std::size_t axis = 0; axis < end.size(); ++axis) {
      end[axis] += h_ * scheme_.b.dot(head_velocities.col(static_cast<Eigen::Index>(axis)));
    }
    for (std::size_t i = 0; i < state_.w.size(); ++i) {
      const Mode& mode = state_.mode(i);
      const Eigen::VectorXd v = head_velocities.col(static_cast<Eigen::Index>(state_.axis(i))), z = stages(i, v);
      const double of_v = scheme_.b.dot(v), re = scheme_.b.dot(z.head(s_)), im = scheme_.b.dot(z.tail(s_));
      state_.dissipated[state_.axis(i)] +=
          h_ * mode.r * mode.k * scheme_.b.dot(z.head(s_).cwiseAbs2() + z.tail(s_).cwiseAbs2());
      state_.put(i, end, state_.z(i, x_) + h_ * (Complex(-mode.r, mode.w) * Complex(re, im) + of_v));
    }
  }

 private:
  /// A and B for a head with these velocities.
  Eigen::VectorXd stages(std::size_t i, const Eigen::VectorXd& velocities) const {
    const Complex z = state_.z(i, x_);
    Eigen::VectorXd right = Eigen::VectorXd::Constant(2 * s_, z.imag());
    right.head(s_) = (h_ * scheme_.a * velocities).array() + z.real();
    return solved_[i % solved_.size()] * right;
  }

  MemoryState& state_;
  CollocationScheme scheme_;
  double h_;
  Eigen::Index s_;
  Eigen::MatrixXd damping_;
  std::vector<Eigen::MatrixXd> solved_;  // by mode
  std::vector<double> x_;                // of the head at the start of the step
};

class Memory final : public Environment {
 public:
  Memory(std::string name, Attachment attachment, std::vector<Mode> modes, const Communicator& communicator)
      : Environment(std::move(name), std::move(attachment), communicator), state_{std::move(modes), {}, {}, {}} {}

  std::optional<std::string> obstacle(const Scheme& scheme) const override {
    const auto* steps = std::get_if<ExplicitScheme>(&scheme);
    const auto* stages = std::get_if<CollocationScheme>(&scheme);
    const auto goes_back = [](const Substep& substep) { return substep.weight < 0.0; };
    if (steps != nullptr && std::any_of(steps->substeps.begin(), steps->substeps.end(), goes_back)) {
      return "which goes back in time on its way, and the decays of `" + name() +
             "` cannot run backwards; take `stoermer-verlet`, `gamma`, `gauss` or `rk4`";
    }
    if (stages != nullptr && stages->stages() > 2 && stages->a != stages->a_hat) {
      return "which treats positions and momenta by different matrices, and the modes of `" + name() +
             "` are neither; take `gauss`, or two stages";
    }
    return std::nullopt;
  }
  std::int64_t bytes(const Scheme&) const override { return 16 * facts().sites * attachment().axes(); }
  /// The whole, whatever the limit: its modes are few.
  Assembly assemble(std::int64_t) const override {
    Assembly assembly;
    for (const auto& [k, r, w] : state_.modes) {
      const int site = static_cast<int>(assembly.mass.size());
      assembly.mass.push_back(k / (w * w));
      assembly.to_head.emplace_back(site, k);
      if (r > 0.0) assembly.slips.emplace_back(site, r / k);
      if (r > 0.0 && w > 0.0) assembly.dashpots.emplace_back(site, r * k / (w * w));
    }
    return assembly;
  }
  std::optional<MemoryFormulas> formulas(std::span<const double> times) const override {
    MemoryFormulas formulas;
    const auto axes = static_cast<std::size_t>(attachment().axes());
    const std::vector<double> rest(axes);
    formulas.random_force.resize(times.size() * axes);
    for (std::size_t n = 0; n < times.size(); ++n) {
      double sum = 0.0;
      for (const Mode& mode : state_.modes) sum += mode.k * mode.grown(times[n]).real();
      formulas.kernel.push_back(sum);
      for (std::size_t i = 0; i < state_.w.size(); ++i) {
        const Complex z = state_.mode(i).grown(times[n]) * state_.z(i, rest);
        formulas.random_force[n * axes + state_.axis(i)] -= state_.mode(i).k * z.real();
      }
    }
    communicator().broadcast(std::span<double>(formulas.random_force));
    return formulas;
  }
  void prepare(const RandomKey&) override {
    const auto axes = static_cast<std::size_t>(attachment().axes());
    state_.w.assign(communicator().is_root() ? axes * state_.modes.size() : 0, 0.0);
    state_.p = state_.w;
    state_.dissipated.assign(communicator().is_root() ? axes : 0, 0.0);
  }
  std::vector<StateField> fields() override {
    std::vector<StateField> fields;
    const auto modes = static_cast<std::int64_t>(state_.modes.size());
    const bool is_here = communicator().is_root();
    for (int axis = 0; axis < attachment().axes(); ++axis) {
      const auto part = [&](std::vector<double>& all, std::int64_t length) {
        return is_here ? std::span(all.data() + axis * length, static_cast<std::size_t>(length)) : std::span<double>();
      };
      fields.push_back({"w", axis, 0, modes, part(state_.w, modes)});
      fields.push_back({"p", axis, 0, modes, part(state_.p, modes)});
      fields.push_back({"dissipated", axis, 0, 1, part(state_.dissipated, 1)});
    }
    return fields;
  }
  EnvironmentEnergy energy(std::span<const double> head) override {
    double numbers[3] = {};
    for (std::size_t i = 0; i < state_.w.size(); ++i) {
      const Complex z = state_.z(i, head);
      numbers[0] += 0.5 * state_.mode(i).k * z.imag() * z.imag();
      numbers[1] += 0.5 * state_.mode(i).k * z.real() * z.real();
    }
    for (const double lost : state_.dissipated) numbers[2] += lost;
    communicator().broadcast(std::span<double>(numbers));
    return {numbers[0], numbers[1], numbers[2]};
  }
  void force(std::span<const double> head, std::span<double> force) const override {
    std::fill(force.begin(), force.end(), 0.0);
    for (std::size_t i = 0; i < state_.w.size(); ++i) {
      force[state_.axis(i)] -= state_.mode(i).k * state_.z(i, head).real();
    }
  }
  std::unique_ptr<ExplicitMarch> explicit_march(const ExplicitScheme& scheme, double h) override {
    return std::make_unique<MemoryExplicitMarch>(state_, scheme, h);
  }
  std::unique_ptr<ImplicitMarch> implicit_march(const CollocationScheme& scheme, double h) override {
    return std::make_unique<MemoryImplicitMarch>(state_, scheme, h);
  }

 private:
  EnvironmentFacts describe() const override {
    EnvironmentFacts facts{.sites = static_cast<std::int64_t>(state_.modes.size()), .site_name = "mode"};
    for (const auto& [k, r, w] : state_.modes) {
      // A mode that never dies down is a spring to the start in the long run, which no damper stands for.
      facts.damping += r + w > 0.0 ? k * r / (r * r + w * w) : std::numeric_limits<double>::infinity();
      facts.highest_frequency = std::max(facts.highest_frequency, std::hypot(r, w));
      facts.fastest_decay = std::max(facts.fastest_decay, r);
    }
    facts.loses_energy = facts.fastest_decay > 0.0;
    return facts;
  }
  MemoryState state_;
};

std::unique_ptr<Environment> build_memory(const Section& section, const OpenSystem& system, double,
                                          const Communicator& communicator, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  const auto &k = section.numbers("stiffness"), &r = section.numbers("rate"), &w = section.numbers("frequency");
  if (k.empty() || r.size() != k.size() || w.size() != k.size()) {
    mistakes.add(section.where("stiffness"),
                 fmt::format("a mode needs a stiffness, a rate and a frequency, but there are {}, {} and {}; give as "
                             "many of each, at least one",
                             k.size(), r.size(), w.size()));
  }
  if (section.number("temperature") > 0.0) {
    mistakes.add(section.where("temperature"), "a memory has no noise yet: leave out its `temperature`");
  }
  const long particle = section.integer("attach");
  check_particle(section, particle, system, mistakes);
  if (mistakes.count() > before) return nullptr;
  std::vector<Mode> modes;
  for (std::size_t j = 0; j < k.size(); ++j) modes.push_back({k[j], r[j], w[j]});
  return std::make_unique<Memory>(section.text("name"), Attachment({{static_cast<int>(particle), 1.0}}, system.axes),
                                  std::move(modes), communicator);
}

Parameter of_modes(const char* name, const char* units, const char* doc, Bound bound) {
  return {.name = name, .type = ValueType::numbers, .units = units, .doc = doc, .required = true, .bound = bound};
}

}  // namespace

EnvironmentKind memory_environment_kind() {
  return {
      {.name = "memory",
       .summary = "memory kernel of decaying oscillations: a sum of exponentials around one particle",
       .equation = "m q_a'' + V'(q_a) + integral_0^t gamma(t-s) q_a'(s) ds = 0\n"
                   "gamma(t) = sum_j stiffness_j exp(-rate_j t) cos(frequency_j t)",
       .source = "farshi2018, section 4.3, eq. (36)",
       .parameters = {{.name = "attach",
                       .type = ValueType::integer,
                       .doc = "particle that remembers, from 0",
                       .fallback = "0",
                       .bound = Bound::nonnegative},
                      of_modes("stiffness", "N/m", "of every mode, what it adds to gamma(0)", Bound::positive),
                      of_modes("rate", "1/s", "at which every mode dies down", Bound::nonnegative),
                      of_modes("frequency", "rad/s", "of every mode", Bound::nonnegative),
                      {.name = "temperature",
                       .units = "J",
                       .doc = "kT of the start; only 0 until a memory has noise",
                       .fallback = "0.0",
                       .bound = Bound::nonnegative}},
       .notes = "Stands for the damper D = sum_j stiffness_j rate_j / (rate_j^2 + frequency_j^2), which a mode with "
                "neither rate nor frequency has none of. Splittings take decays exactly, in half steps around those "
                "of the particles: of order 2 at most, so compositions with steps backwards are refused, and so is "
                "`lobatto` with more than two stages. What the modes have dissipated stands in the ledger."},
      build_memory};
}

}  // namespace bathline
