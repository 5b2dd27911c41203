// What becomes of requests to stop.
#pragma once

namespace bathline {

/// The command says that it was stopped by the signals so far, so that they do not stop its next run as well. A part of
/// them may arrive within a quarter of a second: launchers and ranks pass a signal on several times.
void report_stop();

}  // namespace bathline
