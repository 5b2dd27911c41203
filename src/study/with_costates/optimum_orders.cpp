// Errors of optima, and fits of their orders.
// Tested by tests/costates/optimal_control_test.cpp.
#include "study/with_costates/optimum_orders.hpp"

#include <cmath>

#include "study/theory/measured_order.hpp"

namespace bathline {

void write_orders(ResultFile& file, const std::string& name, const std::vector<double>& steps, double end,
                  std::span<const SteppedOptimum> optima, std::span<const SteppedOptimum> reference) {
  Measured all[] = {{"cost", "1", "least cost"}, {"control", "N", "control of the costates"}};
  const SteppedOptimum &exact = reference.back(), &check = reference[reference.size() - 2];
  const auto largest = [](const Eigen::VectorXd& controls) { return controls.lpNorm<Eigen::Infinity>(); };
  for (const SteppedOptimum& optimum : optima) {
    for (Measured& measured : all) measured.errors.begin_step();
    all[0].errors.add(std::abs(optimum.cost - exact.cost), std::abs(exact.cost), 1,
                      std::abs(check.cost - exact.cost) + std::pow(optimum.residual, 2) + std::pow(exact.residual, 2));
    all[1].errors.add(largest(optimum.controls - exact.controls), largest(exact.controls), 1,
                      largest(check.controls - exact.controls) + optimum.residual + exact.residual);
  }
  const std::string group = "optimal-control/" + name;
  const Dimension step[] = {{"step", steps, "s", "time step"}};
  for (Measured& measured : all) {
    measured.errors.fit(steps, end);
    const MeasuredOrder& errors = measured.errors;
    file.array(group, {"error_" + measured.name, measured.units, "error of the " + measured.what, {}}, step,
               errors.mean());
    file.array(group,
               {"reference_error_" + measured.name,
                measured.units,
                "estimated error of the " + measured.what + " of the reference",
                {}},
               step, errors.reference());
    file.array(group, {"used_" + measured.name, "1", "1 where the fit of the order uses the point", {}}, step,
               errors.used());
    file.number(group, "order_" + measured.name, "1", "fitted order of the " + measured.what, errors.order(), true);
  }
  log_fit_warnings(name, all);
}

}  // namespace bathline
