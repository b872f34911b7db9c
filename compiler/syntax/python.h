// The embedded CPython, used as a parser: starts it and hands out syntax trees as Python objects.
// Internal to this folder.
#pragma once
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace tc::syntax {

// An owned reference.
class PyRef {
 public:
  PyRef() = default;
  explicit PyRef(PyObject* owned) : object_(owned) {}
  PyRef(PyRef&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  PyRef& operator=(PyRef&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  PyRef(const PyRef&) = delete;
  PyRef& operator=(const PyRef&) = delete;
  ~PyRef() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

// Holds the interpreter lock while it lives; starts the interpreter on first use.
class PythonLock {
 public:
  PythonLock();
  ~PythonLock();
  PythonLock(const PythonLock&) = delete;
  PythonLock& operator=(const PythonLock&) = delete;
  const Status& status() const { return status_; }

 private:
  Status status_;
  PyGILState_STATE state_{};
};

// The `_ast.Module` of a text (UTF-8, no NUL), or a null reference with a Python exception set. Needs the lock.
PyRef parse_to_python(const std::string& text);

}  // namespace tc::syntax
