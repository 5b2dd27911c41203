// What realisations and cases ask for again and again, made once.
// Tested by tests/model/semi_infinite_line/line_noise_test.cpp.
#pragma once

#include <deque>
#include <memory>
#include <utility>

namespace bathline {

/// The latest values by the keys that they were made for.
template <class Key, class Value>
class KeyedCache {
 public:
  template <class Make>
  std::shared_ptr<const Value> of(const Key& key, const Make& make) {
    for (const auto& [known, value] : values_) {
      if (known == key) return value;
    }
    constexpr std::size_t most = 16;
    values_.emplace_front(key, std::make_shared<const Value>(make()));
    if (values_.size() > most) values_.pop_back();
    return values_.front().second;
  }

 private:
  std::deque<std::pair<Key, std::shared_ptr<const Value>>> values_;
};

}  // namespace bathline
