// The words of recipes, put together from the catalogues.
#include "driver/program.hpp"

#include <utility>

namespace bathline {

Vocabulary vocabulary_of(const Catalogues& catalogues) {
  Vocabulary words;
  words.systems = catalogues.systems.entries();
  words.potentials = catalogues.potentials.entries();
  words.environments = catalogues.environments.entries();
  words.studies = catalogues.studies.entries();
  for (const Method& method : catalogues.integrators) {
    Entry entry = method.entry;
    const std::string properties = describe_properties(method);
    entry.notes = entry.notes.empty() ? properties : properties + " " + entry.notes;
    words.integrators.push_back(std::move(entry));
  }
  const auto potentials = std::make_shared<const std::vector<Entry>>(words.potentials);
  for (Entry& system : words.systems) {
    for (Parameter& parameter : system.parameters) {
      if (parameter.listing == "potentials") parameter.kinds = potentials;
    }
  }
  return words;
}

}  // namespace bathline
