// Start-up of the embedded CPython (PEP 587). Everything that getpath would search for is given, so nothing is
// searched. TC_PYTHON_* come from meson.build, which asks pkg-config and /usr/bin/python3. Measured: 9 ms for the
// start, 0.5 ms for a kernel of 50 lines (2 GHz core).
#include "compiler/syntax/python.h"

#include <iterator>

namespace tc::syntax {
namespace {

Status python_failure(const PyStatus& status) {
  std::string what = status.err_msg ? status.err_msg : "unknown error";
  return Diag{.kind = DiagKind::internal,
              .rule = {},
              .where = {},
              .message = "the Python parser did not start: " + what,
              .notes = {},
              .trace = {}};
}

struct PathField {
  wchar_t* PyConfig::*field;
  const wchar_t* value;
};
const PathField kPaths[] = {
    {&PyConfig::program_name, TC_PYTHON_EXECUTABLE},
    {&PyConfig::executable, TC_PYTHON_EXECUTABLE},
    {&PyConfig::base_executable, TC_PYTHON_EXECUTABLE},
    {&PyConfig::home, TC_PYTHON_PREFIX},
    {&PyConfig::prefix, TC_PYTHON_PREFIX},
    {&PyConfig::base_prefix, TC_PYTHON_PREFIX},
    {&PyConfig::exec_prefix, TC_PYTHON_PREFIX},
    {&PyConfig::base_exec_prefix, TC_PYTHON_PREFIX},
    {&PyConfig::platlibdir, L"lib"},
};
const wchar_t* const kModulePaths[] = {TC_PYTHON_STDLIB, TC_PYTHON_DYNLOAD};

PyStatus set_config(PyConfig& config) {
  config.isolated = 1;
  config.use_environment = 0;
  config.user_site_directory = 0;
  config.safe_path = 1;
  config.site_import = 0;
  config.write_bytecode = 0;
  config.install_signal_handlers = 0;
  config.parse_argv = 0;
  config.pathconfig_warnings = 0;
  for (const PathField& path : kPaths)
    if (PyStatus s = PyConfig_SetString(&config, &(config.*path.field), path.value); PyStatus_Exception(s)) return s;
  config.module_search_paths_set = 1;
  for (const wchar_t* path : kModulePaths)
    if (PyStatus s = PyWideStringList_Append(&config.module_search_paths, path); PyStatus_Exception(s)) return s;
  return PyStatus_Ok();
}

// Parsing may warn (an invalid escape, say); warnings would go to standard error, so they are all ignored.
void silence_warnings() {
  PyRef module(PyImport_ImportModule("_warnings"));
  PyRef filters(module ? PyObject_GetAttrString(module.get(), "filters") : nullptr);
  PyRef ignore(Py_BuildValue("(sOOOi)", "ignore", Py_None, PyExc_Warning, Py_None, 0));
  if (filters && ignore && PyList_Check(filters.get())) PyList_Insert(filters.get(), 0, ignore.get());
  PyErr_Clear();
}

Status start() {
  PyPreConfig preconfig;
  PyPreConfig_InitIsolatedConfig(&preconfig);
  preconfig.utf8_mode = 1;
  if (PyStatus s = Py_PreInitialize(&preconfig); PyStatus_Exception(s)) return python_failure(s);
  PyConfig config;
  PyConfig_InitIsolatedConfig(&config);
  PyStatus status = set_config(config);
  if (!PyStatus_Exception(status)) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status)) return python_failure(status);
  silence_warnings();
  PyEval_SaveThread();  // whoever parses takes the lock
  return {};
}

const Status& started() {
  static const Status status = start();
  return status;
}

}  // namespace

PythonLock::PythonLock() : status_(started()) {
  if (status_.ok()) state_ = PyGILState_Ensure();
}
PythonLock::~PythonLock() {
  if (status_.ok()) PyGILState_Release(state_);
}

PyRef parse_to_python(const std::string& text) {
  PyCompilerFlags flags{};
  flags.cf_flags = PyCF_ONLY_AST | PyCF_IGNORE_COOKIE;
  flags.cf_feature_version = PY_MINOR_VERSION;
  PyRef name(PyUnicode_FromString("kernel"));
  if (!name) return PyRef();
  return PyRef(Py_CompileStringObject(text.c_str(), name.get(), Py_file_input, &flags, -1));
}

}  // namespace tc::syntax
