// Access to a validated table; a wrong key or type is a bug of the caller.
#include "recipe/section.hpp"

#include <stdexcept>

#include <fmt/format.h>

namespace bathline {

template <class T>
const T& Section::get(const std::string& key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) {
    if (has(key)) throw UnreadableValue();
    throw std::logic_error(fmt::format("the table at {} has no `{}`", to_string(where_), key));
  }
  const T* value = std::get_if<T>(&entry->second);
  if (value == nullptr) {
    throw std::logic_error(fmt::format("`{}` at {} is read as another type than it has", key, to_string(where(key))));
  }
  return *value;
}

// The accessors in the header are inline, so the types they ask for are instantiated here.
template const bool& Section::get(const std::string&) const;
template const long& Section::get(const std::string&) const;
template const double& Section::get(const std::string&) const;
template const std::string& Section::get(const std::string&) const;
template const std::vector<double>& Section::get(const std::string&) const;
template const std::vector<long>& Section::get(const std::string&) const;
template const std::vector<std::string>& Section::get(const std::string&) const;
template const Section::Rows& Section::get(const std::string&) const;
template const std::vector<Section>& Section::get(const std::string&) const;

const Section& Section::table(const std::string& key) const {
  const auto& held = tables(key);
  if (held.size() != 1) throw std::logic_error(fmt::format("`{}` at {} is not one table", key, to_string(where(key))));
  return held.front();
}

Location Section::where(const std::string& key) const {
  const auto place = places_.find(key);
  return place == places_.end() ? where_ : place->second;
}

void Section::set(const std::string& key, Value value, Location where) {
  values_[key] = std::move(value);
  places_[key] = std::move(where);
}

void Section::set_unreadable(const std::string& key, Location where) {
  values_.erase(key);
  places_[key] = std::move(where);
}

}  // namespace bathline
