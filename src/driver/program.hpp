// The catalogues whose entries recipes can name, and the ranks that a recipe runs on.
#pragma once  // Public: programs of others may include this header.

#include "driver/study.hpp"
#include "methods/method.hpp"
#include "model/environment_catalogue.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/system_catalogue.hpp"
#include "parallel/communicator.hpp"
#include "recipe/catalogue.hpp"
#include "recipe/catalogue_schema.hpp"

namespace bathline {

/// Everything that recipes can name. External programs add entries to the built-in ones.
struct Catalogues {
  Catalogue<SystemKind> systems;
  Catalogue<PotentialKind> potentials;
  Catalogue<EnvironmentKind> environments;
  Catalogue<Method> integrators;
  Catalogue<StudyKind> studies;
};

/// The schema of recipes: the descriptions of all entries of the catalogues.
CatalogueSchema catalogue_schema_of(const Catalogues& catalogues);

/// Catalogues with their schema, and the communicator.
class Program {
 public:
  /// `communicator` must outlive it.
  Program(Catalogues catalogues, const Communicator& communicator)
      : catalogues_(std::move(catalogues)),
        catalogue_schema_(catalogue_schema_of(catalogues_)),
        communicator_(communicator) {}

  const Catalogues& catalogues() const { return catalogues_; }
  const CatalogueSchema& catalogue_schema() const { return catalogue_schema_; }
  const Communicator& communicator() const { return communicator_; }

 private:
  Catalogues catalogues_;
  CatalogueSchema catalogue_schema_;
  const Communicator& communicator_;
};

}  // namespace bathline
