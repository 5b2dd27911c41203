// An entry of the catalogue of integrators: description, properties and scheme.
#pragma once  // Public: programs of others may include this header.

#include <functional>
#include <string>

#include "methods/scheme.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/section.hpp"

namespace bathline {

/// What a method promises on smooth problems; the property tests hold every method of the catalogue to it.
struct MethodProperties {
  int order = 0;            ///< 0: exact to the accuracy of the reference
  int order_damped = 0;     ///< on damped systems, where that is lower; else 0
  bool symplectic = false;  ///< on a closed system
  bool time_reversible = false;
  bool linear_invariants = true;
  bool quadratic_invariants = false;  ///< all of them, energy of a linear system included
  bool angular_momentum = false;      ///< of a central potential
  /// Largest h omega for which a harmonic oscillation stays bounded; 0: never bounded; infinity: always.
  double imaginary_axis_limit = 0.0;
  /// Largest h rate for which pure decay p' = -rate p stays bounded, for `on = "open"`; infinity: always.
  double real_axis_limit = 0.0;
};

/// How a method treats an open system with noise.
struct LangevinSupport {
  bool takes_noise = false;
  /// What is exact in the thermal state, or why the method takes no noise: a sentence without its subject, the method.
  std::string statement = "has no noise variant";
  /// The scheme with noise; empty if it is that of the method without noise.
  std::function<Scheme(const Section& options)> scheme = {};
};

/// One line of the catalogue.
struct Method {
  /// What a method advances: q and p of a mechanical system, or z beside them of a contact system. Mechanical methods
  /// whose scheme has stages advance contact systems as well.
  enum class Domain { mechanical, contact, both };

  CatalogueEntry entry;
  std::function<Scheme(const Section& options)> scheme;
  std::function<MethodProperties(const Section& options)> properties;
  Domain domain = Domain::mechanical;
  /// The scheme for momenta that are not constant masses times velocities; empty if it is `scheme`.
  std::function<Scheme(const Section& options)> lagrangian_scheme = {};
  LangevinSupport langevin = {};

  /// The scheme on an open system with noise.
  Scheme langevin_scheme(const Section& options) const {
    return langevin.scheme ? langevin.scheme(options) : scheme(options);
  }
};

/// The methods of this program.
const Catalogue<Method>& methods();

/// Order, structure and stability limits of a method with its default options, in words.
std::string describe_properties(const Method& method);

}  // namespace bathline
