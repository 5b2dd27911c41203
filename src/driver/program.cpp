// The words of recipes, put together from the catalogues.
#include "driver/program.hpp"

#include <utility>

namespace bathline {

CatalogueSchema catalogue_schema_of(const Catalogues& catalogues) {
  CatalogueSchema words;
  words.systems = catalogues.systems.entries();
  words.potentials = catalogues.potentials.entries();
  words.environments = catalogues.environments.entries();
  words.integrators = catalogues.integrators.entries();
  words.studies = catalogues.studies.entries();
  const auto potentials = std::make_shared<const std::vector<CatalogueEntry>>(words.potentials);
  for (CatalogueEntry& system : words.systems) {
    for (Parameter& parameter : system.parameters) {
      if (parameter.catalogue_name == "potentials") parameter.kinds = potentials;
    }
  }
  return words;
}

}  // namespace bathline
