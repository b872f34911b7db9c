// Result<T>: a value or one Diag. Status: success or one Diag. Both must be looked at.
// (g++ 12 has no std::expected under C++20; this is the part of it that is used here.)
#pragma once
#include <cassert>
#include <optional>
#include <utility>
#include <variant>

#include "base/diag.h"

namespace tc {

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Diag diag) : state_(std::move(diag)) {}
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() {
    assert(ok() && "value() of a failed Result");
    return std::get<0>(state_);
  }
  const T& value() const {
    assert(ok() && "value() of a failed Result");
    return std::get<0>(state_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Diag& error() const {
    assert(!ok() && "error() of a successful Result");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Diag> state_;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Diag diag) : diag_(std::move(diag)) {}
  bool ok() const { return !diag_; }
  explicit operator bool() const { return ok(); }
  const Diag& error() const {
    assert(diag_ && "error() of a successful Status");
    return *diag_;
  }

 private:
  std::optional<Diag> diag_;
};

}  // namespace tc
