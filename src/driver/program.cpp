// The words of recipes, put together from the catalogues.
#include "driver/program.hpp"

#include <utility>

namespace bathline {

Vocabulary vocabulary_of(const Catalogues& catalogues) {
  Vocabulary words;
  words.systems = catalogues.systems.entries();
  words.potentials = catalogues.potentials.entries();
  words.environments = catalogues.environments.entries();
  words.integrators = catalogues.integrators.entries();
  words.studies = catalogues.studies.entries();
  const auto potentials = std::make_shared<const std::vector<Entry>>(words.potentials);
  for (Entry& system : words.systems) {
    for (Parameter& parameter : system.parameters) {
      if (parameter.listing == "potentials") parameter.kinds = potentials;
    }
  }
  return words;
}

}  // namespace bathline
