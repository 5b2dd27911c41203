// Gradients of costs: against differences of high order on nonlinear systems, over all methods and several
// environments; against the discrete Gramian; what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <cmath>
#include <fstream>

#include "method_cases.hpp"
#include "random_numbers.hpp"
#include "study/with_costates/adjoint_run.hpp"
#include "study/fit/from_recipe.hpp"
#include "study/run_study.hpp"

namespace bathline::gradient_test {
namespace {

using Eigen::VectorXd;
using testing::HasSubstr;

std::string options_of(const MethodCase& method) {
  std::string text = "method = \"" + method.method->entry.name + "\"\n";
  for (const std::string& key : method.options.keys()) {
    const Section::Value& value = method.options.value(key);
    const bool is_text = std::holds_alternative<std::string>(value);
    text += key + " = " + (is_text ? "\"" : "") + printed(value) + (is_text ? "\"" : "") + "\n";
  }
  return text;
}

/// Two nonlinear oscillators with friction, a drive and three controls, which act by formulas as well, one of them by
/// these alone.
const std::string pair = R"toml(
[system]
kind = "formula"
coordinates = ["x", "y"]
masses = [1.0, 1.5]
V = "k*x^2/2 + 0.3*x^4 + y^2 - 0.4*x*y^2 + cos(b*y)"
force = ["-0.2*x_dot*x^2 + 0.1*sin(t) + 0.3*w*y", "-0.1*y_dot + 0.05*b*x_dot - b*u*exp(-y^2) + 0.2*s^2*y_dot*x"]
drive = ["0", "0.2*k*cos(2*t)"]
parameters = { k = 1.2, b = 0.7 }
q0 = [0.4, -0.3]
v0 = [0.5, 0.2]
[[controls]]
name = "u"
on = "x"
pieces = 8
initial = "0.3*cos(t)"
[[controls]]
name = "w"
on = "y"
degree = 0
pieces = 4
initial = [0.2, -0.3, 0.5, 0.1]
[[controls]]
name = "s"
pieces = 2
initial = "0.5 + 0.4*t"
[study]
kind = "gradient"
final_cost = "x^2 + x*y_dot + 0.5*k*y_dot^2 + t*x"
running_cost = "0.5*u^2 + w^2 + 0.3*s^2*x + 0.2*x^2*y + b*x_dot^2 + 0.1*t*y_dot*u"
)toml";

struct Surroundings {
  std::string name, text;
  bool is_closed = true;
  std::string constant = "";  // a number of an environment
};
const std::vector<Surroundings>& all_surroundings() {
  static const std::vector<Surroundings> all = {
      {"open", "[system.damping_matrix]\n", false},
      {"damper", "[[environments]]\nkind = \"damper\"\nname = \"d\"\nattach = 0\ndamping = 0.4\n", true, "d.damping"},
      {"line and memory",
       "[[environments]]\nkind = \"spring-mass-line\"\nattach = 0\nsites = 7\nM = 0.3\nlambda = 0.8\n"
       "[[environments]]\nkind = \"memory\"\nname = \"m\"\nattach = 1\nstiffness = [0.5, 0.8]\nrate = [0.7, 3.0]\n"
       "frequency = [0.0, 1.2]\n",
       true, "m.rate.1"},
      {"bath between both",
       "[[environments]]\nkind = \"spring-inerter-line\"\nname = \"line\"\nattach = [0, 1]\nsites = 5\nb = 0.3\n"
       "k = 0.6\n",
       true, "line.b"},
      {"magnetic field", "magnetic_field = 0.7\n"},
      {"infinite line",
       "[[environments]]\nkind = \"spring-mass-line\"\nattach = 1\nsites = \"infinite\"\nM = 0.05\nlambda = 2.0\n"}};
  return all;
}

std::string recipe_of(const Surroundings& surroundings, const std::string& method, const std::string& system = pair) {
  const bool is_of_system = surroundings.name == "magnetic field";
  const std::string environment = surroundings.name == "open" || is_of_system ? "" : surroundings.text;
  std::string text = system;
  if (is_of_system) text.insert(text.find("parameters"), surroundings.text);
  return "title = \"t\"\n" + text + environment + "[time]\nstep = 0.05\nend = 2.0\n[[integrators]]\nname = \"run\"\n" +
         method + "on = \"" + (surroundings.is_closed ? "closed" : "open") + "\"\n";
}

/// A variation of all that a system is differentiated by.
struct Variation {
  VectorXd q0, v0, mass, controls;
  explicit Variation(const ParticleSystem& system)
      : q0(system.size()),
        v0(system.size()),
        mass(VectorXd::Zero(system.size())),
        controls(controls_of(system)->numbers().size()) {
    RandomNumbers random(7);
    for (VectorXd* part : {&q0, &v0, &mass, &controls}) {
      if (part == &mass && system.magnetic_field != 0.0) continue;  // refused
      for (double& number : *part) number = random.uniform();
    }
  }
  ParticleSystem applied(const ParticleSystem& to, double size) const {
    ParticleSystem system = to;
    system.q0 += size * q0;
    system.v0 += size * v0;
    system.mass += size * mass;
    const auto drive = controls_of(system);
    set_controls(system, drive->with(VectorXd(drive->numbers() + size * controls)));
    return system;
  }
  double slope(const CostGradient& gradient) const {
    return q0.dot(gradient.q0) + v0.dot(gradient.v0) + mass.dot(gradient.mass) + controls.dot(gradient.controls);
  }
};

/// df/dx at 0 by differences of order 6.
template <class Function>
auto derivative(Function f, double size) -> decltype(f(size)) {
  const auto odd = [&](double x) -> decltype(f(size)) { return f(x * size) - f(-x * size); };
  return (0.75 * odd(1.0) - 0.15 * odd(2.0) + odd(3.0) / 60.0) / size;
}

double cost_of(const ReadRecipe& read, const PathCost& cost, const ParticleSystem& system) {
  AdjointRun run(*read.experiment, read.experiment->cases().front(), cost, 5);
  EXPECT_FALSE(run.run(system));
  double value = run.cost();
  test_world().broadcast(std::span<double>(&value, 1));
  return value;
}

std::optional<PathCost> cost_in(const ReadRecipe& read) {
  Mistakes mistakes;
  return PathCost::read(*read.recipe, *read.experiment, mistakes);
}

/// The masses of the cases are variations of those of the particles, which environments may add to.
void check(const std::string& text) {
  const ReadRecipe read = read_recipe(text);
  if (read.report().find("uses the method") != std::string::npos) return;  // the method and the environment do not fit
  ASSERT_EQ(read.report(), "");
  Mistakes mistakes;
  refuse_without_costates(*read.recipe, *read.experiment, false, mistakes);
  if (!mistakes.empty()) return;  // said in a sentence
  const std::optional<PathCost> cost = cost_in(read);
  ASSERT_TRUE(cost);
  const ParticleSystem& system = read.experiment->system();
  const Variation variation(system);
  AdjointRun run(*read.experiment, read.experiment->cases().front(), *cost, 5);
  CostGradient gradient;
  ASSERT_FALSE(run.run(system));
  ASSERT_FALSE(run.pull_back({}, gradient));
  const double by_differences =
      derivative([&](double size) { return cost_of(read, *cost, variation.applied(system, size)); }, 2e-3);
  const double by_parameter = derivative(
      [&](double size) {
        std::string other = text;
        other.replace(other.find("k = 1.2"), 7, "k = " + fmt::format("{:.17g}", 1.2 + size));
        const ReadRecipe changed = read_recipe(other);
        return cost_of(changed, *cost_in(changed), changed.experiment->system());
      },
      2e-3);
  if (!test_world().is_root()) return;
  EXPECT_NEAR(variation.slope(gradient), by_differences, 1e-10 * (1.0 + std::abs(by_differences)));
  EXPECT_NEAR(gradient.parameters[1], by_parameter, 1e-10 * (1.0 + std::abs(by_parameter)));  // b, then k
}

TEST(MpiGradient, IsThatOfDifferencesForEveryMethodInAllSurroundings) {
  std::size_t index = 0;
  for (const Surroundings& surroundings : all_surroundings()) {
    // Semi-infinite lines compute their exponentials for every run, which takes long. On several ranks an eleventh of
    // the methods is enough to see whether the ranks agree.
    const std::size_t stride = test_world().size() > 1 ? 11 : surroundings.name == "infinite line" ? 5 : 1;
    for (const MethodCase& method : method_cases()) {
      if (why_no_pull_back(method.scheme) || ++index % stride != 0) continue;
      SCOPED_TRACE(surroundings.name + ", " + method.name);
      check(recipe_of(surroundings, options_of(method)));
    }
  }
}

// The error of the differences of order 6 is about 1e-16/2e-3 of values below 10, that of central ones, in magnetic
// fields, 1e-11 of values that are multiplied by slopes of up to 50.
TEST(MpiGradient, TangentsOfFitsAreThoseOfDifferences) {
  const SharedFolder folder;
  const std::string data = folder.file("data.txt");
  if (test_world().is_root()) std::ofstream(data) << "0 1 2\n0.5 1 0\n1.25 0 1\n2.0 2 1\n";
  test_world().barrier();
  const std::string system =
      pair.substr(0, pair.find("[study]")) +
      "[study]\nkind = \"fit\"\nobserve = [\"x + b*y_dot\", \"sin(y)*x_dot\"]\nsigma = [0.5, 2.0]\n"
      "data_file = \"" +
      data + "\"\n";
  std::size_t index = 0, count = 0;
  for (const Surroundings& surroundings : all_surroundings()) {
    const std::size_t stride = test_world().size() > 1 ? 23 : surroundings.name == "infinite line" ? 11 : 5;
    std::vector<std::string> paths = {"system.parameters.k", "system.parameters.b", "system.masses.1", "system.q0.0",
                                      "system.v0.1"};
    if (!surroundings.constant.empty()) paths.push_back("environments." + surroundings.constant);
    for (const MethodCase& method : method_cases()) {
      if (why_no_pull_back(method.scheme) || ++index % stride != 0) continue;
      SCOPED_TRACE(surroundings.name + ", " + method.name);
      std::string text = recipe_of(surroundings, options_of(method), system);
      std::string parameters;
      for (const std::string& path : paths) parameters += "[[study.parameters]]\nof = \"" + path + "\"\n";
      text.insert(text.find("data_file"), "halve_step = false\n");
      text.insert(text.find(data) + data.size() + 2, parameters);
      ReadRecipe read = read_recipe(text);
      if (read.report().find("uses the method") != std::string::npos) continue;
      ASSERT_EQ(read.report(), "");
      const FitPlan plan = read_fit_plan(*read.recipe, *read.experiment, read.mistakes);
      ASSERT_EQ(read.report(), "");
      const FitModel model(plan.recipe, test_program(), read.experiment->cases().front(), plan.data, plan.parameters,
                           1);
      EXPECT_EQ(model.has_tangents(), surroundings.name != "magnetic field");
      VectorXd x(std::ssize(plan.parameters));
      for (Eigen::Index j = 0; j < x.size(); ++j) x[j] = plan.parameters[static_cast<std::size_t>(j)].start;
      const std::optional<Prediction> tangents = model.predict(x);
      ASSERT_TRUE(tangents);
      for (Eigen::Index j = 0; j < x.size(); ++j) {
        const auto values = [&](double size) -> VectorXd {
          VectorXd changed = x;
          changed[j] += size;
          return model.predict_by_differences(changed)->values();
        };
        EXPECT_LT((tangents->slopes().col(j) - derivative(values, 2e-3)).cwiseAbs().maxCoeff(),
                  model.has_tangents() ? 1e-10 : 1e-9)
            << paths[static_cast<std::size_t>(j)];
      }
      EXPECT_GT(tangents->slopes().colwise().norm().minCoeff(), 1e-4);
      ++count;
    }
  }
  EXPECT_GT(count, test_world().size() > 1 ? 2u : 15u);
}

// x'' = -x - 0.2 x' + u from (1, 0) to rest with a number for each kick: the control of least effort is R^T lambda with
// the transposed reach matrix R, and its cost half the inverse Gramian. Source: the sums of the scheme, by hand.
TEST(MpiGradient, VanishesAtTheControlOfTheDiscreteGramian) {
  const std::string system = R"toml(
[system]
kind = "single-oscillator"
m = 1.0
k = 1.0
damping = 0.2
q0 = [1.0]
[[controls]]
name = "u"
on = "x"
degree = 0
pieces = 40
[study]
kind = "optimal-control"
running_cost = "u^2/2"
end = { x = 0.0, x_dot = 0.0 }
residual = 1e-11
infeasibility = 1e-12
)toml";
  const double references[] = {0.200063696949, 0.201438224032, 0.202133478221};
  for (int i = 0; i < 3; ++i) {
    const int steps = 40 << i;
    std::string text = "title = \"t\"\n" + system +
                       fmt::format(
                           "[time]\nstep = {}\nend = 4.0\n[[integrators]]\nmethod = \"gamma\"\ngamma = 0.0\n"
                           "on = \"open\"\n",
                           4.0 / steps);
    text.replace(text.find("pieces = 40"), 11, fmt::format("pieces = {}", steps));
    const RunStudy study(text);
    EXPECT_NEAR(study.value("optimal-control/gamma/cost"), references[i], 1e-11);
    EXPECT_EQ(study.value("optimal-control/gamma/converged"), 1.0);
  }
}

TEST(MpiGradient, RefusesWhatHasNoCostates) {
  const auto report = [](const std::string& text) { return report_of(text); };
  const Surroundings open = all_surroundings()[0], damper = all_surroundings()[1];
  EXPECT_THAT(report(recipe_of(open, "method = \"rk4\"\n")), HasSubstr("`rk4` has explicit stages"));
  EXPECT_THAT(report(recipe_of(open, "method = \"gamma\"\n") + "[output]\nevery = 1\n"), "");
  std::string text = recipe_of(damper, "method = \"gamma\"\n");
  text.replace(text.find("cos(b*y)"), 8, "abs(y)");
  EXPECT_THAT(report(text), HasSubstr("gradients need smooth formulas"));
  text = recipe_of({"matched",
                    "[[environments]]\nkind = \"spring-mass-line\"\nattach = 0\nsites = 7\nM = 0.3\nlambda = 0.8\n"
                    "far_end = \"matched\"\n"},
                   "method = \"gamma\"\n");
  EXPECT_THAT(report(text), HasSubstr("matched"));
  text = recipe_of({"nonlinear", "[[environments]]\nkind = \"damper\"\ncouple = \"x^2\"\ndamping = 0.4\n"},
                   "method = \"gamma\"\n");
  EXPECT_THAT(report(text), HasSubstr("is not linear"));
  text = recipe_of(open, "method = \"gamma\"\n");
  text.replace(text.find("[study]"), 7, "[study]\nby = [\"uu\"]");
  EXPECT_THAT(report(text), HasSubstr("by: `uu`"));
  text = recipe_of(open, "method = \"gauss\"\n");
  text.replace(text.find("kind = \"formula\""), 16, "kind = \"lagrangian\"");
  text.replace(text.find("masses = [1.0, 1.5]\nV = \""), 25, "L = \"x_dot^2/2 + y_dot^2/2 - (");
  text.replace(text.find("cos(b*y)"), 8, "cos(b*y))");
  EXPECT_THAT(report(text), HasSubstr("with masses"));
}

}  // namespace
}  // namespace bathline::gradient_test
