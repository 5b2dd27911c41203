// Access to a validated table; a wrong key or type is a bug of the caller.
#include "recipe/section.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace bathline {

template <class T>
const T& Section::get(const std::string& key) const {
  const auto entry = values_.find(key);
  if (entry == values_.end()) {
    throw std::logic_error(fmt::format("the table at {} has no `{}`", to_string(where_), key));
  }
  const T* value = std::get_if<T>(&entry->second);
  if (value == nullptr) {
    throw std::logic_error(fmt::format("`{}` at {} is read with a wrong type", key, to_string(where(key))));
  }
  return *value;
}

// The accessors in the header are inline, so their types are instantiated here.
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
  const auto& list = tables(key);
  if (list.size() != 1) throw std::logic_error(fmt::format("`{}` at {} is not one table", key, to_string(where(key))));
  return list.front();
}

std::vector<std::string> Section::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : values_) keys.push_back(key);
  return keys;
}

Location Section::where_in_text(const std::string& key, std::size_t offset, std::size_t index) const {
  const auto lines = lines_of_texts_.find(key);
  if (lines == lines_of_texts_.end() || index >= lines->second.size()) return where(key);
  const std::string& all = holds<std::string>(key) ? text(key) : texts(key).at(index);
  const std::string before = all.substr(0, offset);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  if (line >= lines->second[index].size()) return where(key);
  Location location = lines->second[index][line];
  // Columns count characters, not bytes.
  const std::string in_line = before.substr(before.rfind('\n') + 1);
  location.column += static_cast<int>(std::count_if(
      in_line.begin(), in_line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  return location;
}

Location Section::where(const std::string& key) const {
  const auto location = locations_.find(key);
  return location == locations_.end() ? where_ : location->second;
}

void Section::set(const std::string& key, Value value, Location where) {
  values_[key] = std::move(value);
  locations_[key] = std::move(where);
}

void Section::set_lines_of_texts(const std::string& key, std::vector<std::vector<Location>> lines) {
  lines_of_texts_[key] = std::move(lines);
}

}  // namespace bathline
