#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

/// A small matrix of doubles and the few operations that a linear layer needs: a tensor library of
/// our own, to show that heddle asks for none in particular.
namespace matrix {

class Matrix {
 public:
  Matrix() = default;
  Matrix(std::int64_t rows, std::int64_t columns, double value = 0)
      : rows_{rows}, columns_{columns}, values_(static_cast<std::size_t>(rows * columns), value) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::vector<double>& values() { return values_; }
  const std::vector<double>& values() const { return values_; }

  double& at(std::int64_t row, std::int64_t column) { return values_[index(row, column)]; }
  double at(std::int64_t row, std::int64_t column) const { return values_[index(row, column)]; }

  friend bool operator==(const Matrix&, const Matrix&) = default;

 private:
  std::size_t index(std::int64_t row, std::int64_t column) const {
    return static_cast<std::size_t>(row * columns_ + column);
  }

  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::vector<double> values_;
};

/// The rows (dimension 0) or columns (dimension 1) `[begin, begin + length)`, copied.
inline Matrix narrow(const Matrix& whole, int dimension, std::int64_t begin, std::int64_t length) {
  const bool cuts_rows = dimension == 0;
  Matrix part{cuts_rows ? length : whole.rows(), cuts_rows ? whole.columns() : length};
  for (std::int64_t row = 0; row < part.rows(); ++row) {
    for (std::int64_t column = 0; column < part.columns(); ++column) {
      part.at(row, column) =
          cuts_rows ? whole.at(begin + row, column) : whole.at(row, begin + column);
    }
  }
  return part;
}

/// `left * right`.
inline Matrix product(const Matrix& left, const Matrix& right) {
  if (left.columns() != right.rows()) throw std::invalid_argument("product: the sizes do not fit");
  Matrix result{left.rows(), right.columns()};
  for (std::int64_t row = 0; row < left.rows(); ++row) {
    for (std::int64_t inner = 0; inner < left.columns(); ++inner) {
      for (std::int64_t column = 0; column < right.columns(); ++column) {
        result.at(row, column) += left.at(row, inner) * right.at(inner, column);
      }
    }
  }
  return result;
}

inline Matrix transposed(const Matrix& matrix) {
  Matrix result{matrix.columns(), matrix.rows()};
  for (std::int64_t row = 0; row < matrix.rows(); ++row) {
    for (std::int64_t column = 0; column < matrix.columns(); ++column) {
      result.at(column, row) = matrix.at(row, column);
    }
  }
  return result;
}

/// Adds `change`, times `factor`, to `target`.
inline void add(Matrix& target, const Matrix& change, double factor = 1) {
  for (std::size_t index = 0; index < target.values().size(); ++index) {
    target.values()[index] += factor * change.values()[index];
  }
}

/// `function(left, right)` of each pair of elements.
template <class Function>
Matrix combine(const Matrix& left, const Matrix& right, Function function) {
  Matrix result = left;
  std::transform(left.values().begin(), left.values().end(), right.values().begin(),
                 result.values().begin(), function);
  return result;
}

/// Numbers between -1 and 1 that are the same on every machine.
inline Matrix random_matrix(std::int64_t rows, std::int64_t columns, unsigned seed) {
  std::mt19937 generator{seed};
  Matrix result{rows, columns};
  for (double& value : result.values()) {
    value = static_cast<double>(generator()) / static_cast<double>(std::mt19937::max()) * 2 - 1;
  }
  return result;
}

/// What crosses from one stage to the next: a list of matrices. Models `heddle::splittable_bundle`.
class MatrixBundle {
 public:
  using Value = Matrix;

  MatrixBundle() = default;
  explicit MatrixBundle(std::vector<Matrix> values) : values_{std::move(values)} {}

  static std::int64_t length(const Matrix& value, int dimension) {
    return dimension == 0 ? value.rows() : value.columns();
  }
  static Matrix narrow(const Matrix& value, int dimension, std::int64_t begin,
                       std::int64_t length) {
    return matrix::narrow(value, dimension, begin, length);
  }

  void append(Matrix value) { values_.push_back(std::move(value)); }
  std::size_t size() const { return values_.size(); }
  Matrix& operator[](std::size_t index) { return values_[index]; }
  const Matrix& operator[](std::size_t index) const { return values_[index]; }

  friend bool operator==(const MatrixBundle&, const MatrixBundle&) = default;

 private:
  std::vector<Matrix> values_;
};

}  // namespace matrix
