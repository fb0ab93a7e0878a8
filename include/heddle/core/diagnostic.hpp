#pragma once

#include <functional>
#include <string>
#include <utility>

namespace heddle {

/// How much a diagnostic matters; errors are exceptions and never diagnostics.
enum class Severity { note, warning };

/// Something worth knowing that stops nothing: an input that no stage reads, a module that no stage
/// owns.
struct Diagnostic {
  Severity severity = Severity::warning;
  std::string message;
};

/// Where diagnostics go. An empty sink, the default, drops them: the library is silent unless
/// asked.
using DiagnosticSink = std::function<void(const Diagnostic&)>;

/// Hands `message` to `sink` if there is one.
inline void diagnose(const DiagnosticSink& sink, Severity severity, std::string message) {
  if (sink) sink(Diagnostic{severity, std::move(message)});
}

}  // namespace heddle
