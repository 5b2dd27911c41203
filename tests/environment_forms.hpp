// Every environment of the catalogue in every form that its own description allows, on two planar particles.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "catalogue_sections.hpp"
#include "method_cases.hpp"
#include "model/environment_catalogue.hpp"
#include "model/problem.hpp"
#include "random_numbers.hpp"
#include "scene.hpp"
#include "test_world.hpp"

namespace bathline {

/// The step for which those on a characteristic grid are made, s.
constexpr double forms_step = 0.1;

/// One way to describe an environment of a kind.
struct Form {
  std::string name;
  const EnvironmentKind* kind;
  Section section;
};

/// An environment on two planar particles; null where the description is invalid. @note Collective.
inline std::unique_ptr<Environment> build(const Form& form, const Communicator& world) {
  RandomNumbers random(81);
  Mistakes mistakes;
  std::unique_ptr<Environment> environment;
  completes([&] {
    environment = form.kind->build(form.section, random_particles(2, 2, random), {forms_step, 1.0}, world, mistakes);
  });
  return mistakes.empty() ? std::move(environment) : nullptr;
}

inline bool is_table(const Parameter& parameter) {
  return parameter.type == ValueType::table || parameter.type == ValueType::tables;
}

/// The forms with the smallest sets of up to four optional keys that describe an environment of this kind, by trial.
inline std::vector<Form> smallest_forms(const EnvironmentKind& kind) {
  std::vector<std::string> keys;
  for (const Parameter& parameter : kind.entry.parameters) {
    if (!parameter.required && parameter.default_value.empty() && !is_table(parameter)) keys.push_back(parameter.name);
  }
  std::vector<Form> forms;
  std::vector<std::uint32_t> accepted;
  for (int size = 0; size <= 4; ++size) {
    for (std::uint32_t set = 0; set < 1u << keys.size(); ++set) {
      const auto is_within = [set](std::uint32_t smaller) { return (smaller & set) == smaller; };
      if (std::popcount(set) != size || std::any_of(accepted.begin(), accepted.end(), is_within)) continue;
      std::vector<std::string> given;
      std::string name = kind.entry.name;
      for (std::size_t i = 0; i < keys.size(); ++i) {
        if ((set >> i & 1u) == 0) continue;
        given.push_back(keys[i]);
        name += " " + keys[i];
      }
      const Form form{name, &kind, example_section(kind.entry, given)};
      if (!build(form, test_world())) continue;
      accepted.push_back(set);
      forms.push_back(form);
    }
  }
  return forms;
}

/// The values of a key other than its default.
inline std::vector<Section::Value> other_values(const Parameter& parameter) {
  std::vector<Section::Value> values;
  if (parameter.type == ValueType::boolean) values = {parameter.default_value != "true"};
  for (const std::string& choice : parameter.choices) {
    if (parameter.type == ValueType::text || !parameter.alternative_types.empty()) values.emplace_back(choice);
  }
  return values;
}

/// Every form of every kind, and each form with one of its choices changed.
inline const std::vector<Form>& all_forms() {
  static const std::vector<Form> all = [] {
    std::vector<Form> forms;
    for (const EnvironmentKind& kind : environments()) {
      const std::vector<Form> smallest = smallest_forms(kind);
      EXPECT_FALSE(smallest.empty()) << "no description of " << kind.entry.name << " is accepted";
      for (const Form& form : smallest) {
        forms.push_back(form);
        for (const Parameter& parameter : kind.entry.parameters) {
          for (const Section::Value& value : other_values(parameter)) {
            Form other = form;
            other.section.set(parameter.name, value, {});
            other.name += " " + parameter.name + "=" + printed(value);
            if (build(other, test_world())) forms.push_back(other);
          }
        }
      }
    }
    return forms;
  }();
  return all;
}

inline Problem problem_with(const Form& form, const Communicator& world) {
  RandomNumbers random(81);
  ParticleSystem system = random_particles(2, 2, random);
  system.potential = std::make_shared<QuadraticPotential>(Eigen::MatrixXd::Identity(4, 4));
  std::vector<std::unique_ptr<Environment>> all;
  all.push_back(build(form, world));
  Problem problem(system, Eigen::MatrixXd::Zero(4, 4), std::move(all), world);
  problem.prepare(5);
  return problem;
}

}  // namespace bathline
