#include "check.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <heddle/core/csv.hpp>
#include <heddle/core/text.hpp>
#include <heddle/schedule/lower.hpp>
#include <heddle/verify/verify.hpp>

#include "circle.hpp"
#include "picture.hpp"

namespace heddle_plan {

namespace {

using heddle::Cell;
using heddle::Step;

std::string read_file(const std::string& name) {
  if (std::filesystem::is_directory(name))
    throw UsageError("'" + name + "' is a folder, not a file");
  std::ifstream file{name, std::ios::binary};
  std::string content{std::istreambuf_iterator<char>{file}, {}};
  if (!file.is_open() || file.bad()) throw UsageError("cannot read the file '" + name + "'");
  return content;
}

/// Steps are written `F3@2`, and commas stand in CSV alone.
bool is_text_form(const std::string& text) {
  return text.find('@') != text.npos && text.find(',') == text.npos;
}

/// An order from a file: as it stands there, and as it would run.
struct CheckedOrder {
  heddle::ImportedOrder imported;
  heddle::Order lowered;
  bool was_lowered = false;
  heddle::StepWriter write = &heddle::text_of;
};

/// The compute step that a transfer is there for: what a send takes its payload from, what a
/// receive feeds.
Step served_by(Step transfer) {
  const bool goes_forward = transfer.kind == heddle::StepKind::send_activation ||
                            transfer.kind == heddle::StepKind::receive_activation;
  return {goes_forward ? heddle::StepKind::forward : heddle::StepKind::backward,
          transfer.micro_batch, transfer.stage};
}

/// The cell of `step`, which stands at `position` of the order that runs. A step that lowering put
/// in has the cell of the compute step that it serves.
const Cell* cell_of(const CheckedOrder& checked, int rank, int position, Step step) {
  const auto& imported = checked.imported;
  if (!checked.was_lowered) return &imported.cell(rank, position);
  if (heddle::is_transfer(step.kind)) step = served_by(step);
  const auto steps = imported.order.rank(rank);
  const auto is_meant = [&](Step other) {
    const bool input_half =
        other.kind == heddle::StepKind::backward_input && step.kind == heddle::StepKind::backward;
    return other == step ||
           (input_half && other.stage == step.stage && other.micro_batch == step.micro_batch);
  };
  const auto found = std::ranges::find_if(steps, is_meant);
  if (found == steps.end()) return nullptr;
  return &imported.cell(rank, static_cast<int>(found - steps.begin()));
}

/// The first cell that names the micro-batch of a step which is nowhere: the stray one, if a
/// micro-batch has but one.
const Cell* first_cell_of_micro_batch(const CheckedOrder& checked, int micro_batch) {
  const auto& steps = checked.imported.order.steps;
  const auto found = std::ranges::find(steps, micro_batch, &Step::micro_batch);
  if (found == steps.end()) return nullptr;
  return &checked.imported.cells[static_cast<std::size_t>(found - steps.begin())];
}

std::string words_of(const Cell& cell) {
  return "row " + std::to_string(cell.row) + ", column " + std::to_string(cell.column) + ", '" +
         cell.token + "'";
}

void report(const CheckedOrder& checked, heddle::OrderView judged, const heddle::FaultReport& fault,
            const std::string& file) {
  const Cell* cell = fault.position != heddle::no_position
                         ? cell_of(checked, fault.rank, fault.position, fault.step)
                         : first_cell_of_micro_batch(checked, fault.step.micro_batch);
  std::string text = file + ": ";
  if (cell != nullptr) text += words_of(*cell) + ": ";
  text += heddle::describe(judged, fault, checked.write) + '\n';
  for (const auto& action : fault.cycle) {
    text += "  rank " + std::to_string(action.rank) + " waits at " + checked.write(action.step);
    const Cell* place = cell_of(checked, action.rank, action.position, action.step);
    if (place != nullptr)
      text += std::string{checked.was_lowered ? " for " : " in "} + words_of(*place);
    text += '\n';
  }
  std::fputs(text.c_str(), stderr);
}

CheckedOrder read(const Request& request) {
  CheckedOrder checked;
  const auto text = read_file(request.file);
  if (is_text_form(text)) {
    checked.imported = heddle::read_text(text, request.shape);
  } else {
    checked.imported = heddle::read_csv(text, request.shape);
    checked.write = &heddle::csv_of;
  }
  return checked;
}

void report(const CheckedOrder& checked, const std::vector<heddle::Action>& circle,
            const std::string& file) {
  std::string text = file + ": these ranks wait for each other, so no step of them is ever run:\n";
  for (const auto& [rank, position, receive] : circle) {
    text += "  rank " + std::to_string(rank) + " waits at " + checked.write(receive) + " for " +
            checked.write(heddle::matching_send(receive)) + ", before " +
            words_of(checked.imported.cell(rank, position)) + '\n';
  }
  std::fputs(text.c_str(), stderr);
}

/// Whether compute steps from a file are without fault; their transfers are placed for that.
bool passes_lowered(CheckedOrder& checked, const Request& request) {
  const auto& order = checked.imported.order;
  if (const auto fault = heddle::coverage_fault(order)) {
    report(checked, order, heddle::FaultReport{*fault, {}, {}}, request.file);
    return false;
  }
  if (const auto circle = circle_of(order); !circle.empty()) {
    report(checked, circle, request.file);
    return false;
  }
  checked.lowered = heddle::lower(order, request.data);
  checked.was_lowered = true;
  const auto fault = heddle::verify(checked.lowered);
  if (fault) report(checked, checked.lowered, *fault, request.file);
  return !fault;
}

/// Whether the order in the file is without fault.
bool passes(CheckedOrder& checked, const Request& request) {
  const auto& order = checked.imported.order;
  const auto moves = [](Step step) { return heddle::is_transfer(step.kind); };
  if (std::ranges::none_of(order.steps, moves)) return passes_lowered(checked, request);
  checked.lowered = order;
  const auto fault = heddle::verify(order);
  if (fault) report(checked, order, *fault, request.file);
  return !fault;
}

}  // namespace

int check_file(const Request& request) {
  try {
    CheckedOrder checked = read(request);
    if (!passes(checked, request)) return 1;
    const auto& order = checked.imported.order;
    const auto shape = words_of(order.shape);
    const auto output = request.format
                            ? picture_of(request, *request.format, checked.lowered, order,
                                         request.file + ", " + shape)
                            : request.file + ": an order without fault, " + shape + ", " +
                                  std::to_string(checked.lowered.steps.size()) + " steps\n";
    std::fputs(output.c_str(), stdout);
    return 0;
  } catch (const heddle::FormatError& error) {
    std::fprintf(stderr, "%s: %s\n", request.file.c_str(), error.what());
  } catch (const heddle::ShapeError& error) {
    std::fprintf(stderr, "%s: %s\n", request.file.c_str(), error.what());
  }
  return 1;
}

}  // namespace heddle_plan
