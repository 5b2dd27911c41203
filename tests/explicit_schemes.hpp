// Every explicit scheme of the catalogue, and one without any symmetry.
#pragma once

#include <string>
#include <vector>

#include "method_cases.hpp"

namespace bathline {

struct NamedScheme {
  std::string name;
  ExplicitScheme scheme;
  bool is_splitting() const { return scheme.b.empty(); }
};

inline const std::vector<NamedScheme>& explicit_schemes() {
  static const std::vector<NamedScheme> all = [] {
    using Kind = Substep::Kind;
    std::vector<NamedScheme> schemes = {{"lopsided", splitting({{Kind::kick, 0.3},
                                                                {Kind::drift, 0.7},
                                                                {Kind::kick, 0.1, true},
                                                                {Kind::kick, 0.2},
                                                                {Kind::drift, 0.3},
                                                                {Kind::kick, 0.4, true}})}};
    for (const MethodCase& method : method_cases()) {
      if (const auto* scheme = std::get_if<ExplicitScheme>(&method.scheme)) schemes.push_back({method.name, *scheme});
    }
    return schemes;
  }();
  return all;
}

}  // namespace bathline
