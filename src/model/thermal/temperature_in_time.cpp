// Temperatures that depend on the time.
// Tested by tests/study/temperature_test.cpp.
#include "model/thermal/temperature_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formula/program.hpp"
#include "model/formula/scope.hpp"

namespace bathline {

const std::string kt_in_time = "kT in time";

double TemperatureInTime::amplitude(double t) const { return std::sqrt(std::max(at(t), 0.0) / start_); }

namespace {

std::shared_ptr<const TemperatureInTime> read(const Section& section, const std::string& key, FormulaScope scope,
                                              Mistakes& mistakes) {
  const std::optional<Expression> formula = read_formula(section, key, scope, mistakes);
  if (!formula) return nullptr;
  const double start = 0.0;
  if (!check_finite(section, key, "for t = 0 the formula", scope, {*formula}, {&start, 1}, mistakes)) return nullptr;
  const FormulaProgram program(scope.graph, {&*formula, 1}, 1);
  auto temperature = std::make_shared<const TemperatureInTime>([program](double t) { return program.run(&t); });
  if (temperature->at(0.0) > 0.0) return temperature;
  mistakes.add(section.where_in_text(key, 0),
               fmt::format("kT: at t = 0 the formula is {:.6g}: must be positive, as noise is that of the start times "
                           "a factor; begin at a small value",
                           temperature->at(0.0)));
  return nullptr;
}

FormulaScope scope_of_time() {
  FormulaScope scope;
  scope.add_variable("t");
  return scope;
}

}  // namespace

void keep_temperature_at_start(Section& environment, Mistakes& mistakes) {
  if (!environment.holds<std::string>("kT")) return;
  const Location where = environment.where("kT");
  const std::string formula = environment.text("kT");
  const std::shared_ptr<const TemperatureInTime> temperature = read(environment, "kT", scope_of_time(), mistakes);
  if (!temperature) return;
  environment.set("kT", temperature->at(0.0), where);
  environment.set(kt_in_time, formula, where);
}

std::shared_ptr<const TemperatureInTime> read_temperature_in_time(const Section& environment) {
  if (!environment.has(kt_in_time) || environment.number("kT") == 0.0) return nullptr;
  Mistakes reported_before;
  return read(environment, kt_in_time, scope_of_time(), reported_before);
}

std::shared_ptr<const TemperatureInTime> read_temperature_in_time(const Section& section, int particle, int count,
                                                                  Mistakes& mistakes) {
  FormulaScope scope = scope_of_time();
  scope.names["i"] = scope.graph.constant(particle);
  scope.names["n"] = scope.graph.constant(count);
  return read(section, "kT", std::move(scope), mistakes);
}

void check_temperatures(const TemperaturesInTime& temperatures, double end, const Section& section,
                        Mistakes& mistakes) {
  constexpr int times = 1000;
  for (const auto& temperature : temperatures) {
    for (int k = 0; temperature && k <= times; ++k) {
      const double t = end * k / times, kt = temperature->at(t);
      if (kt >= 0.0) continue;
      mistakes.add(section.where("kT"),
                   fmt::format("kT: at t = {:.6g} the formula is {:.6g}: must not be negative", t, kt));
      return;
    }
  }
}

}  // namespace bathline
