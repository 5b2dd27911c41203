// A cache of the latest values by key, for kernels and filters that realisations and cases share.
// Tested by tests/model/semi_infinite_line/line_noise_test.cpp.
#pragma once

#include <deque>
#include <memory>
#include <utility>

namespace bathline {

/// The latest values, with the keys that they were made for.
template <class Key, class Value>
class KeyedCache {
 public:
  template <class Make>
  std::shared_ptr<const Value> get_or_make(const Key& key, const Make& make) {
    for (const auto& [cached, value] : values_) {
      if (cached == key) return value;
    }
    constexpr std::size_t max_entries = 16;
    values_.emplace_front(key, std::make_shared<const Value>(make()));
    if (values_.size() > max_entries) values_.pop_back();
    return values_.front().second;
  }

 private:
  std::deque<std::pair<Key, std::shared_ptr<const Value>>> values_;
};

}  // namespace bathline
