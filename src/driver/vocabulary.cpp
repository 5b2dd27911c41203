// The vocabulary of recipes, put together from the catalogues.
#include "driver/vocabulary.hpp"

#include "integrate/method.hpp"
#include "model/environment_catalogue.hpp"
#include "model/potentials/catalogue.hpp"
#include "model/system_catalogue.hpp"
#include "study/catalogue.hpp"

namespace bathline {

const Vocabulary& vocabulary() {
  static const Vocabulary all = [] {
    Vocabulary words;
    for (const SystemKind& kind : system_kinds()) words.systems.push_back(kind.entry);
    words.potentials = potential_entries();
    for (const EnvironmentKind& kind : environment_kinds()) words.environments.push_back(kind.entry);
    for (const Method& method : methods()) {
      Entry entry = method.entry;
      const std::string properties = describe_properties(method);
      entry.notes = entry.notes.empty() ? properties : properties + " " + entry.notes;
      words.integrators.push_back(std::move(entry));
    }
    for (const StudyKind& kind : study_kinds()) words.studies.push_back(kind.entry);
    return words;
  }();
  return all;
}

}  // namespace bathline
