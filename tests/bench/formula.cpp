// Formulas against the same potentials written in C++, alternating: the counter `ratio` is the ratio of their times.
#include <cmath>

#include "bench_world.hpp"
#include "formula/parser.hpp"
#include "model/formula/potential.hpp"

namespace bathline::formula_bench {
namespace {

class HenonHeiles final : public Potential {
 public:
  double value(const Eigen::VectorXd& q) const override {
    const double x = q[0], y = q[1];
    return 0.5 * (x * x + y * y) + x * x * y - y * y * y / 3.0;
  }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    const double x = q[0], y = q[1];
    gradient.resize(2);
    gradient[0] = x + 2.0 * x * y;
    gradient[1] = y + x * x - y * y;
  }
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override {
    const double x = q[0], y = q[1];
    hessian.resize(2, 2);
    hessian(0, 0) = 1.0 + 2.0 * y;
    hessian(0, 1) = hessian(1, 0) = 2.0 * x;
    hessian(1, 1) = 1.0 - 2.0 * y;
  }
};

class Morse final : public Potential {
 public:
  double value(const Eigen::VectorXd& q) const override {
    const double e = decay(q[0]);
    return depth_ * (e * (e - 2.0));
  }
  void gradient(const Eigen::VectorXd& q, Eigen::VectorXd& gradient) const override {
    const double e = decay(q[0]);
    gradient.resize(1);
    gradient[0] = 2.0 * depth_ / width_ * (e * (1.0 - e));
  }
  void hessian(const Eigen::VectorXd& q, Eigen::MatrixXd& hessian) const override {
    const double e = decay(q[0]);
    hessian.resize(1, 1);
    hessian(0, 0) = 2.0 * depth_ / (width_ * width_) * (e * (2.0 * e - 1.0));
  }

 private:
  double decay(double s) const { return std::exp(-(s - r0_) / width_); }
  double depth_ = 4.0, width_ = 0.5, r0_ = 1.0;
};

FormulaPotential typed(const std::string& text, int size) {
  ExpressionGraph graph;
  FormulaNames names = {{"D", graph.constant(4.0)}, {"a", graph.constant(2.0)}, {"r0", graph.constant(1.0)}};
  const char* const coordinates[] = {"x", "y"};
  for (int i = 0; i < size; ++i) names[coordinates[i]] = graph.variable(i);
  return FormulaPotential(graph, parse_formula(text, names, graph), size);
}

enum class Part { value, gradient, hessian };

/// Seconds for many evaluations, each at another position.
double seconds_for(const Potential& potential, Part part, int size) {
  Eigen::VectorXd q = Eigen::VectorXd::Constant(size, 0.3), gradient(size);
  Eigen::MatrixXd hessian(size, size);
  return seconds_of([&] {
    for (int i = 0; i < 100'000; ++i) {
      q[0] = 0.3 + 1e-6 * i;
      if (part == Part::value) benchmark::DoNotOptimize(potential.value(q));
      if (part == Part::gradient) potential.gradient(q, gradient);
      if (part == Part::hessian) potential.hessian(q, hessian);
      benchmark::ClobberMemory();
    }
  });
}

void compare(benchmark::State& state, const Potential& formula, const Potential& built, Part part, int size) {
  double formula_time = std::numeric_limits<double>::infinity(), built_time = formula_time;
  for (auto _ : state) {
    const double seconds = seconds_for(formula, part, size);
    formula_time = std::min(formula_time, seconds);
    built_time = std::min(built_time, seconds_for(built, part, size));
    state.SetIterationTime(seconds);
  }
  state.counters["ratio"] = formula_time / built_time;
}

void henon_heiles(benchmark::State& state, Part part) {
  compare(state, typed("0.5*(x^2 + y^2) + x^2*y - y^3/3", 2), HenonHeiles(), part, 2);
}
void morse(benchmark::State& state, Part part) {
  compare(state, typed("D*(1 - exp(-a*(x - r0)))^2", 1), Morse(), part, 1);
}

constexpr int turns = 30;
BENCHMARK_CAPTURE(henon_heiles, value, Part::value)
    ->Name("formula/henon_heiles/value")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(henon_heiles, gradient, Part::gradient)
    ->Name("formula/henon_heiles/gradient")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(henon_heiles, hessian, Part::hessian)
    ->Name("formula/henon_heiles/hessian")
    ->Iterations(turns)
    ->UseManualTime();
BENCHMARK_CAPTURE(morse, value, Part::value)->Name("formula/morse/value")->Iterations(turns)->UseManualTime();
BENCHMARK_CAPTURE(morse, gradient, Part::gradient)->Name("formula/morse/gradient")->Iterations(turns)->UseManualTime();
BENCHMARK_CAPTURE(morse, hessian, Part::hessian)->Name("formula/morse/hessian")->Iterations(turns)->UseManualTime();

}  // namespace
}  // namespace bathline::formula_bench
