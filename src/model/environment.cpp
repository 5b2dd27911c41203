// The parts that all environments share: cached properties, and gathering and scattering of the state.
// Tested by tests/properties/environments_test.cpp.
#include "model/environment.hpp"

#include <Eigen/LU>
#include <cmath>
#include <stdexcept>

namespace bathline {

const EnvironmentProperties& Environment::properties() const {
  if (!properties_) {
    properties_ = describe();
    properties_->is_linear = properties_->is_linear && attachment_.nonlinear() == nullptr;
  }
  return *properties_;
}

std::optional<std::string> Environment::unsupported_reason(const Scheme& scheme) const {
  if (std::holds_alternative<ExactFlow>(scheme) && attachment_.nonlinear() != nullptr && !properties().is_white) {
    return "the exact flow is implemented for linear systems only, and the `couple` of `" + name_ + "` is not linear";
  }
  if (std::holds_alternative<ExactFlow>(scheme) && !properties().is_linear && !properties().is_white) {
    return "the exact flow is implemented for linear environments only, and `" + name_ + "` is not linear";
  }
  const auto* stages = std::get_if<PartitionedRungeKutta>(&scheme);
  if (stages != nullptr && attachment_.nonlinear() != nullptr && properties().sites == 0 && !properties().is_white) {
    // The heads whose stage values X are given: x+ = (1 - y.1) x + y.X with A^T y = b, where A may be singular, as that
    // of Lobatto IIIA is.
    const Eigen::MatrixXd transposed = stages->a.transpose();
    const Eigen::VectorXd y = transposed.fullPivLu().solve(stages->b);
    const bool is_determined = (transposed * y - stages->b).norm() <= 1e-12;
    if (!is_determined || std::abs(1.0 - y.sum()) > 1.0 + 1e-9) {
      return "the positions that it gives a head between the steps would grow with every step where `couple` is not "
             "linear and the environment is a kernel, as `" +
             name_ + "` is";
    }
  }
  const auto* splitting = std::get_if<ExplicitScheme>(&scheme);
  if (splitting != nullptr && splitting->has_ou_substeps()) return own_unsupported_reason(splitting->without_ou());
  return own_unsupported_reason(scheme);
}

StateField Environment::field(std::string_view name, int axis) {
  for (StateField& field : fields()) {
    if (field.name == name && field.axis == axis) return std::move(field);
  }
  throw std::out_of_range(name_ + " has no field " + std::string(name));
}

void Environment::gather_state(std::vector<double>& w, std::vector<double>& p) {
  const auto axes = static_cast<std::size_t>(attachment_.axes());
  w.assign(communicator_.is_root() ? static_cast<std::size_t>(properties().sites) * axes : 0, 0.0);
  p.assign(w.size(), 0.0);
  for (const StateField& field : fields()) {
    if (field.name != "w" && field.name != "p") continue;
    std::vector<double>& all = field.name == "w" ? w : p;
    const std::vector<double> row = communicator_.gather(field.values);
    for (std::size_t site = 0; site < row.size(); ++site)
      all[site * axes + static_cast<std::size_t>(field.axis)] = row[site];
  }
}

void Environment::scatter_state(std::span<const double> w, std::span<const double> p) {
  const auto axes = static_cast<std::size_t>(attachment_.axes());
  for (const StateField& field : fields()) {
    if (field.name != "w" && field.name != "p") continue;
    const std::span<const double> all = field.name == "w" ? w : p;
    std::vector<double> row(communicator_.is_root() ? static_cast<std::size_t>(field.total) : 0);
    for (std::size_t site = 0; site < row.size(); ++site)
      row[site] = all[site * axes + static_cast<std::size_t>(field.axis)];
    communicator_.scatter(row, field.values);
  }
  fields_changed();
}

}  // namespace bathline
