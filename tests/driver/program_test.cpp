// The catalogues of a program, including entries that another program adds.
#include "driver/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "driver/experiment.hpp"
#include "driver/feasibility.hpp"
#include "model/potentials/pair_potential_sum.hpp"
#include "builtin_catalogues.hpp"
#include "test_world.hpp"

namespace bathline::program_test {
namespace {

TEST(Program, AllEntriesAreDescribed) {
  const CatalogueSchema schema = catalogue_schema_of(builtin_catalogues());
  for (const auto* entries :
       {&schema.systems, &schema.potentials, &schema.environments, &schema.integrators, &schema.studies}) {
    EXPECT_FALSE(entries->empty());
    std::set<std::string> names;
    for (const CatalogueEntry& entry : *entries) {
      SCOPED_TRACE(entry.name);
      EXPECT_TRUE(names.insert(entry.name).second) << "a recipe could not tell them apart";
      EXPECT_FALSE(entry.summary.empty());
      EXPECT_FALSE(entry.equation.empty());
      EXPECT_FALSE(entry.source.empty());
      for (const Parameter& parameter : entry.parameters) {
        EXPECT_FALSE(parameter.doc.empty()) << parameter.name;
        EXPECT_FALSE(parameter.required && !parameter.default_value.empty()) << parameter.name;
      }
    }
  }
}

/// V(s) = k s^6 / 6.
class Sextic final : public PairPotential {
 public:
  explicit Sextic(double k) : k_(k) {}
  double value(double s) const override { return k_ * std::pow(s, 6) / 6.0; }
  double derivative(double s) const override { return k_ * std::pow(s, 5); }
  double second_derivative(double s) const override { return 5.0 * k_ * std::pow(s, 4); }
  bool is_quadratic() const override { return false; }

 private:
  double k_;
};

class NoStudy final : public Study {
 public:
  std::optional<CaseFailure> run(ResultFile&, Progress&, Checkpoints&) override { return std::nullopt; }
};

/// A particle of 3 kg in the potential that the recipe names.
SystemKind caged_kind() {
  return {
      {.name = "caged",
       .parameters = {{.name = "cage", .type = ValueType::table, .required = true, .catalogue_name = "potentials"}}},
      [](const Section& section, const Catalogue<PotentialKind>& potentials, ParticleSystem& system,
         Mistakes& mistakes) {
        system.particles = system.axes = 1;
        system.mass = Eigen::VectorXd::Constant(1, 3.0);
        system.q0 = Eigen::VectorXd::Constant(1, 2.0);
        system.v0 = Eigen::VectorXd::Zero(1);
        system.potential = std::make_shared<PairPotentialSum>(
            std::vector<PairPotentialSum::Term>{
                {PairPotentialSum::origin, 0, build_potential(potentials, section.table("cage"), mistakes)}},
            1);
      }};
}

/// The catalogues of another program, with one more entry each. Its environment and its integrator are renamed ones.
Catalogues extended_catalogues() {
  Catalogues catalogues = builtin_catalogues();
  catalogues.potentials.add({{.name = "sextic", .parameters = {{.name = "k", .required = true}}},
                             [](const Section& section, Mistakes&) -> std::shared_ptr<const PairPotential> {
                               return std::make_shared<Sextic>(section.number("k"));
                             }});
  catalogues.systems.add(caged_kind());
  EnvironmentKind bath = *catalogues.environments.find("heat-bath");
  bath.entry.name = "my-bath";
  catalogues.environments.add(bath);
  Method method = *catalogues.integrators.find("stoermer-verlet");
  method.entry.name = "my-verlet";
  catalogues.integrators.add(method);
  StudyKind study = *catalogues.studies.find("trajectory");
  study.entry.name = "my-study";
  study.make = [](const Recipe&, const Experiment&, Mistakes&) -> std::unique_ptr<Study> {
    return std::make_unique<NoStudy>();
  };
  catalogues.studies.add(study);
  return catalogues;
}

constexpr const char* recipe_text = R"(title = "t"
[system]
kind = "caged"
cage = { kind = "sextic", k = 0.5 }
[[environments]]
kind = "my-bath"
oscillators = 4
damping = 0.1
omega_max = 5.0
[time]
step = 0.01
steps = 3
[[integrators]]
method = "my-verlet"
on = "closed"
[study]
kind = "my-study"
)";

TEST(MpiProgram, RecipesCanNameAddedEntries) {
  const Program program(extended_catalogues(), test_world());
  Mistakes mistakes;
  const Recipe recipe = parse_recipe(recipe_text, "r.toml", {}, program.catalogue_schema(), mistakes);
  const Experiment experiment(recipe, program, mistakes);
  const Feasibility feasibility(recipe, experiment, mistakes);
  ASSERT_EQ(mistakes.report(), "");
  // The resolved recipe, which includes the potential's own key, resolves to itself.
  EXPECT_EQ(parse_recipe(recipe.resolved, "r.toml", {}, program.catalogue_schema(), mistakes).resolved,
            recipe.resolved);
  EXPECT_THAT(recipe.resolved, testing::HasSubstr("[system.cage]\nkind = \"sextic\"\nk = 0.5"));
  const Problem problem = experiment.make_problem(experiment.cases().front());
  EXPECT_DOUBLE_EQ(problem.system().potential->value(problem.q), 0.5 * 64.0 / 6.0);
  EXPECT_EQ(problem.environments().front()->properties().sites, 4);
  const auto study = program.catalogues().studies.find("my-study")->make(recipe, experiment, mistakes);
  EXPECT_NE(dynamic_cast<const NoStudy*>(study.get()), nullptr);
}

TEST(MpiProgram, BuiltinCataloguesDoNotContainThem) {
  const Program program(builtin_catalogues(), test_world());
  Mistakes mistakes;
  const Recipe recipe = parse_recipe(recipe_text, "r.toml", {}, program.catalogue_schema(), mistakes);
  EXPECT_THAT(mistakes.report(), testing::HasSubstr("r.toml:3:"));
}

}  // namespace
}  // namespace bathline::program_test
