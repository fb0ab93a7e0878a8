# Headers of verify/. One a line, sorted, relative to include/heddle.
set(HEDDLE_HEADERS_verify
  verify/causality.hpp
  verify/coverage.hpp
  verify/fault.hpp
  verify/matching.hpp
  verify/memory.hpp
  verify/pairing.hpp
  verify/progress.hpp
  verify/report.hpp
  verify/scratch.hpp
  verify/slots.hpp
  verify/tower_causality.hpp
  verify/tower_coverage.hpp
  verify/valid.hpp
  verify/verify.hpp
)
