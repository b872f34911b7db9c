// Expected<T>: a value or one Error (a message, and the 1-based line of the text it is about; 0 = no line).
// runtime/ builds with the standard library alone, so it has its own small result type instead of base/result.h.
#pragma once
#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tc::runtime {

struct Error {
  std::string message;
  int line = 0;
};

template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::move(value)) {}
  Expected(Error error) : state_(std::move(error)) {}
  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() {
    assert(ok() && "value() of a failed Expected");
    return std::get<0>(state_);
  }
  const T& value() const {
    assert(ok() && "value() of a failed Expected");
    return std::get<0>(state_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const {
    assert(!ok() && "error() of a successful Expected");
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

// Success, or one Error.
struct Nothing {};
using Done = Expected<Nothing>;

}  // namespace tc::runtime
