// Drawing the random numbers of several steps numbers_per_block.
// Tested by tests/model/thermal/white_noise_test.cpp.
#include "model/noise_stream.hpp"

#include <algorithm>

#include "random/normal_batch.hpp"
#include "random/streams.hpp"

namespace bathline {

namespace {

/// About as many numbers are drawn at once.
constexpr std::int64_t numbers_per_block = 512;

}  // namespace

RngKey NoiseStream::environment_key(const RngKey& start) {
  return streams::environment_noise.key(start.seed, start.realisation, 2 * streams::environment_starts.index_of(start));
}

void NoiseStream::begin(const RngKey& key) {
  key_ = key;
  blocks_ = {};
}

void NoiseStream::start(const RngKey& key, std::span<double> numbers) const {
  if (source_) {
    source_(before_first_step, 0, numbers);
  } else {
    fill_normals(key, 0, numbers);
  }
}

void NoiseStream::draw(Block& block, std::int64_t step, int draw, std::size_t count) const {
  const auto size = static_cast<std::int64_t>(count);
  block.count = count;
  block.steps = std::max<std::int64_t>(1, numbers_per_block / size);
  block.first = step / block.steps * block.steps;
  block.numbers.resize(static_cast<std::size_t>(block.steps) * count);
  fill_normals(following(key_, static_cast<std::uint32_t>(draw)), static_cast<std::uint64_t>(block.first) * count,
               block.numbers);
}

std::span<const double> NoiseStream::from(std::int64_t step, int draw, std::size_t count, std::int64_t steps) {
  if (count == 0) return {};
  Block& block = blocks_.at(static_cast<std::size_t>(draw));
  if (source_) {
    block.numbers.resize(count);
    source_(step, draw, block.numbers);
    return block.numbers;
  }
  const bool is_drawn = block.count == count && step >= block.first && step < block.first + block.steps;
  if (!is_drawn) this->draw(block, step, draw, count);
  const std::int64_t ahead = std::min(steps, block.first + block.steps - step);
  return std::span<const double>(block.numbers)
      .subspan(static_cast<std::size_t>(step - block.first) * count, static_cast<std::size_t>(ahead) * count);
}

}  // namespace bathline
