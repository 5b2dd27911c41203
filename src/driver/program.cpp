// The schema of recipes, collected from the catalogues.
#include "driver/program.hpp"

namespace bathline {

CatalogueSchema catalogue_schema_of(const Catalogues& catalogues) {
  CatalogueSchema schema;
  schema.systems = catalogues.systems.entries();
  schema.potentials = catalogues.potentials.entries();
  schema.environments = catalogues.environments.entries();
  schema.integrators = catalogues.integrators.entries();
  schema.studies = catalogues.studies.entries();
  const auto potentials = std::make_shared<const std::vector<CatalogueEntry>>(schema.potentials);
  for (std::vector<CatalogueEntry>* entries : {&schema.systems, &schema.environments}) {
    for (CatalogueEntry& entry : *entries) {
      for (Parameter& parameter : entry.parameters) {
        if (parameter.catalogue_name == "potentials") parameter.kinds = potentials;
      }
    }
  }
  return schema;
}

}  // namespace bathline
