// Explicit and implicit steps of a particle with a long uniform line, by the program's own kernels.
#include "advance/stepper.hpp"
#include "bench_world.hpp"
#include "integrate/method.hpp"
#include "model/line.hpp"

namespace bathline {
namespace {

/// An oscillator on a fixed line of `sites` sites on every rank, with h sqrt(lambda/M) = 1/2.
Problem oscillator_on_a_line(std::int64_t sites) {
  OpenSystem system;
  system.particles = 1;
  system.mass = Eigen::VectorXd::Ones(1);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Ones(1, 1));
  system.q0 = Eigen::VectorXd::Zero(1);
  system.v0 = Eigen::VectorXd::Ones(1);
  std::vector<std::unique_ptr<Environment>> line;
  line.push_back(std::make_unique<Line>("line", Attachment({{0, 1.0}}, 1), LineConstants{},
                                        sites * bench_world().size(), bench_world()));
  Problem problem(system, Eigen::MatrixXd::Zero(1, 1), std::move(line), bench_world());
  problem.prepare();
  return problem;
}

/// `calls` times `steps` steps at a time with the given gamma, on `sites` sites of every rank.
void advance_line(benchmark::State& state, double gamma, std::int64_t sites, int calls, int steps) {
  Section options;
  options.set("gamma", gamma, {});
  const Scheme scheme = find_method("gamma")->scheme(options);
  Problem problem = oscillator_on_a_line(sites);
  const std::unique_ptr<Stepper> stepper = make_stepper(scheme, problem, 0.5);
  time_together(state, sites * bench_world().size() * calls * steps, [&] {
    for (int call = 0; call < calls; ++call) stepper->advance(steps);
  });
}

void explicit_fused(benchmark::State& state) { advance_line(state, 0.0, memory_resident_sites(), 1, 1); }
void explicit_blocked(benchmark::State& state) { advance_line(state, 0.0, memory_resident_sites(), 1, 64); }
/// Two arrays of this size share the first-level cache with their copies.
void explicit_blocked_in_cache(benchmark::State& state) { advance_line(state, 0.0, 1500, 1, 64 * 200); }
void midpoint(benchmark::State& state) { advance_line(state, 0.5, memory_resident_sites(), 1, 1); }

BENCHMARK(explicit_fused)->Name("line/explicit/fused")->Iterations(10)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(explicit_blocked)
    ->Name("line/explicit/blocked")
    ->Iterations(3)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(explicit_blocked_in_cache)
    ->Name("line/explicit/blocked_in_cache")
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(midpoint)->Name("line/midpoint/ours")->Iterations(5)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bathline
