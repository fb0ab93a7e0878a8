#pragma once

#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/verify/report.hpp>

namespace heddle_plan {

/// The ranks that wait for each other whatever the transfers are, or nothing: each with the
/// position of its next step and the receive that this step needs. The sender's rank is the next
/// one's, the last sender's the first one's.
///
/// Requires: compute steps that cover every stage and micro-batch.
std::vector<heddle::Action> circle_of(heddle::OrderView compute);

}  // namespace heddle_plan
