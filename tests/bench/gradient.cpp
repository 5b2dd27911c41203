// Gradients of the final cost by start, masses and parameters; the counter `of_run` is the ratio of their rate to that
// of runs alone, both with what they set up.
#include <stdexcept>
#include <string>

#include "bench_world.hpp"
#include "builtin_catalogues.hpp"
#include "study/with_costates/adjoint_run.hpp"

namespace bathline::gradient_bench {
namespace {

void gradient(benchmark::State& state, const std::string& system, int steps) {
  const Program program(builtin_catalogues(), bench_world());
  Mistakes mistakes;
  const Recipe recipe = parse_recipe("title = \"gradient\"\n" + system + "[study]\nkind = \"gradient\"\n[time]\n" +
                                         "step = 0.01\nend = " + std::to_string(0.01 * steps) + "\n",
                                     "gradient.toml", {}, program.catalogue_schema(), mistakes);
  const Experiment experiment(recipe, program, mistakes);
  Recipe with_cost = recipe;
  with_cost.study.set("final_cost", std::string("x^2 + x_dot"), {});
  const std::optional<PathCost> cost = PathCost::read(with_cost, experiment, mistakes);
  if (!mistakes.empty()) throw std::logic_error(mistakes.report());
  const Case& this_case = experiment.cases().front();
  AdjointRun adjoint(experiment, this_case, *cost, steps);
  const auto work = [&] {
    CostGradient slopes;
    if (adjoint.run(experiment.system()) || adjoint.pull_back({}, slopes)) state.SkipWithError("a step failed");
  };
  time_alternating(state, steps, work, "of_run", [&] {
    Problem problem = experiment.make_problem(this_case);
    problem.prepare();
    if (make_stepper(this_case.scheme, problem, this_case.step)->advance(steps)) state.SkipWithError("a step failed");
  });
}

const std::string duffing =
    "[system]\nkind = \"formula\"\ncoordinates = [\"x\"]\nmasses = [1.0]\nV = \"k*x^2/2 + b*x^4/4\"\nq0 = [1.5]\n"
    "parameters = { k = 1.0, b = 0.5 }\n";
const std::string damper = "[[environments]]\nkind = \"damper\"\ndamping = 0.1\n";
const std::string line = "[[environments]]\nkind = \"spring-mass-line\"\nsites = 500\nM = 0.01\nlambda = 100.0\n";

std::string with(const std::string& method) {
  return "[[integrators]]\nname = \"run\"\non = \"closed\"\nmethod = " + method + "\n";
}

BENCHMARK_CAPTURE(gradient, duffing_verlet, duffing + damper + with("\"stoermer-verlet\""), 100'000)
    ->Name("gradient/duffing/verlet")
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(gradient, duffing_gauss2, duffing + damper + with("\"gauss\"\nstages = 2"), 100'000)
    ->Name("gradient/duffing/gauss2")
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(gradient, line_gamma0, duffing + line + with("\"gamma\"\ngamma = 0.0"), 20'000)
    ->Name("gradient/line/gamma0")
    ->Iterations(10)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bathline::gradient_bench
