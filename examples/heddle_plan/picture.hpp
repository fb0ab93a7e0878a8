#pragma once

#include <string>
#include <vector>

#include <heddle/core/order.hpp>
#include <heddle/plan/comparison.hpp>

#include "flags.hpp"

namespace heddle_plan {

/// What `--format` asks for of one order. `columns` is its compute order, if that is known.
std::string picture_of(const Request& request, Format format, const heddle::Order& order,
                       const heddle::Order& columns, const std::string& title);

/// What `--compare` prints.
std::string picture_of(const Request& request, std::vector<heddle::Candidate> candidates);

/// `4 ranks x 2 stages x 8 micro-batches`
std::string words_of(heddle::PipelineShape shape);

}  // namespace heddle_plan
