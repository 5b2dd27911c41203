// Explicit schemes on a heat bath: several steps a pass.
//
// A pass always spans the same steps, counted from the start of the run or the last change from outside, and the head's
// force within it always comes from the forecast at its beginning. So neither the number of ranks nor where a run stops
// to be recorded changes a bit.
#include <algorithm>
#include <stdexcept>

#include "model/star/star.hpp"

namespace bathline {

int Star::block_limit(const ExplicitScheme&) const { return steps_per_pass_ - (pass_.forecast ? pass_.done : 0); }

void Star::open_block(const ExplicitScheme& scheme, double h, int steps) {
  const bool is_new = !pass_.kernel || pass_.kernel->step() != h || !(pass_.kernel->scheme() == scheme);
  if (is_new) {
    measure_reply(scheme, h);
    pass_.forecast = !unfinished_.empty();
    if (pass_.forecast) {
      if (unfinished_.size() != pass_.free.size() + pass_.history.size()) {
        throw std::out_of_range("what the heat bath carried is of another scheme");
      }
      const auto middle = unfinished_.begin() + static_cast<std::ptrdiff_t>(pass_.free.size());
      pass_.free.assign(unfinished_.begin(), middle);
      pass_.history.assign(middle, unfinished_.end());
      unfinished_.clear();
    }
  }
  if (!pass_.forecast) {
    pass_.done = pass_.substep = 0;
    pass(false, true);
  }
  eliminated_ = false;
  pass_.steps = steps;
  pass_.open = true;
}

void Star::substep(const Substep&, std::span<const double> head) {
  const auto length = static_cast<std::size_t>(steps_per_pass_ * pass_.kernel->substeps());
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    pass_.history[axis * length + static_cast<std::size_t>(pass_.substep)] = head[axis];
  }
  ++pass_.substep;
}

void Star::close_block() {
  const auto length = static_cast<std::size_t>(steps_per_pass_ * pass_.kernel->substeps());
  const auto begin = static_cast<std::size_t>(pass_.done * pass_.kernel->substeps());
  const auto count = static_cast<std::size_t>(pass_.steps * pass_.kernel->substeps());
  pass_.heads.resize(axes_ * count);
  for (std::size_t axis = 0; axis < axes_ && communicator_.is_root(); ++axis) {
    std::copy_n(pass_.history.begin() + static_cast<std::ptrdiff_t>(axis * length + begin), count,
                pass_.heads.begin() + static_cast<std::ptrdiff_t>(axis * count));
  }
  communicator_.broadcast(std::span<double>(pass_.heads));
  pass_.done += pass_.steps;
  const bool complete = pass_.done == steps_per_pass_;
  pass(true, complete);
  if (complete) pass_.done = pass_.substep = 0;
  pass_.open = false;
}

double Star::pull(std::size_t axis, int substep) const {
  const int substeps = pass_.kernel->substeps();
  const auto length = static_cast<std::size_t>(steps_per_pass_ * substeps);
  const double* history = pass_.history.data() + axis * length;
  double sum = pass_.free[axis * length + static_cast<std::size_t>(substep)];
  for (int l = 0; l < substep; ++l) {
    const int in_step = l % substeps;
    sum += pass_.reply[static_cast<std::size_t>(in_step) * length + static_cast<std::size_t>(substep - (l - in_step))] *
           history[l];
  }
  return sum;
}

void Star::measure_reply(const ExplicitScheme& scheme, double h) {
  pass_.kernel = std::make_unique<StarKernel>(scheme, h);
  const int substeps = pass_.kernel->substeps();
  const auto length = static_cast<std::size_t>(steps_per_pass_ * substeps);
  pass_.free.assign(axes_ * length, 0.0);
  pass_.history.assign(axes_ * length, 0.0);
  pass_.reply.assign(length * static_cast<std::size_t>(substeps), 0.0);
  // One substep at a time: schemes of high order have so many that all at once would be a long message.
  for (int l = 0; l < substeps; ++l) {
    std::vector<double> heads(length);
    heads[static_cast<std::size_t>(l)] = 1.0;
    sum_.open(static_cast<int>(length));
    for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int count) {
      pass_.kernel->reply(heads, count, stiffness_.data() + begin, inverse_mass_.data() + begin, sum_.leaf(leaf));
    });
    sum_.reduce(std::span(pass_.reply).subspan(static_cast<std::size_t>(l) * length, length));
  }
}

void Star::pass(bool advances, bool then_forecast) {
  const auto length = static_cast<std::size_t>(steps_per_pass_ * pass_.kernel->substeps());
  const std::size_t taken = advances ? pass_.heads.size() / axes_ : 0;
  // Without a forecast the pull after the block has to be summed up by itself.
  sum_.open(static_cast<int>(then_forecast ? axes_ * length : axes_));
  for_each_chunk([&](std::int64_t leaf, std::int64_t begin, int count) {
    for (std::size_t axis = 0; axis < axes_; ++axis) {
      pass_.kernel->pass(std::span(pass_.heads).subspan(axis * taken, taken), count, w_[axis].data() + begin,
                         p_[axis].data() + begin, stiffness_.data() + begin, inverse_mass_.data() + begin,
                         then_forecast ? sum_.leaf(leaf).subspan(axis * length, length) : std::span<double>());
      if (!then_forecast) {
        sum_.leaf(leaf)[axis] += StarKernel::pull(count, stiffness_.data() + begin, w_[axis].data() + begin);
      }
    }
  });
  if (!then_forecast) {
    sum_.reduce(pull_);
    return;
  }
  sum_.reduce(pass_.free);
  for (std::size_t axis = 0; axis < axes_; ++axis) pull_[axis] = pass_.free[axis * length];
  pass_.forecast = true;
}

}  // namespace bathline
