// tilelang-corpus DIR...: every .py file below the folders through the front end, as a table: kernels, instances found
// and how, tile operations, the first diagnostic, milliseconds. Each file is read in a process of its own, so that one
// that crashed or hung would be a row of the table too (and exit code 1).
//   milliseconds: of evaluation, the start of the embedded parser (about 9 ms) included
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>

#include "compiler/eval/evaluate.h"

namespace tc::tools {
namespace {
namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> folders;
  std::string manifests, format = "md";
  int timeout = 20;
};

struct Row {
  std::string file;
  size_t kernels = 0, unresolved = 0, instances = 0, traced = 0, ops = 0;
  std::string found, result, message;
  double ms = 0;
};

// A text of one line without the separators of the table.
std::string plain(std::string s) {
  for (char& c : s)
    if (c == '\t' || c == '\n' || c == '|') c = ' ';
  return s.size() > 160 ? s.substr(0, 157) + "..." : s;
}

size_t count_ops(const ir::Module& m) {
  size_t n = 0;
  for (const ir::Func& f : m.funcs) ir::walk(m, f.body, [&](ir::OpId) { ++n; });
  return n;
}

// ok: every kernel has an instance and all are traced; else the first error.
void judge(const eval::Evaluated& e, Row& row) {
  std::map<std::string, size_t> found;
  row.kernels = e.kernels.size();
  for (const eval::FoundKernel& k : e.kernels) {
    row.unresolved += k.instances.empty();
    for (const eval::FoundInstance& i : k.instances) ++row.instances, ++found[i.from];
  }
  for (const auto& [from, n] : found) row.found += (row.found.empty() ? "" : ", ") + from + " " + std::to_string(n);
  row.traced = e.module.funcs.size();
  row.ops = count_ops(e.module);
  row.result = e.diags.empty() ? "ok" : "diagnostic";
  if (e.kernels.empty()) row.result = "no kernel";
  for (const Diag& d : e.diags) {
    if (d.severity != Severity::error) continue;
    std::string place = place_text(d.where);
    row.message =
        plain((place.rfind('/') == std::string::npos ? place : place.substr(place.rfind('/') + 1)) + ": " + d.message);
    break;
  }
  if (Status valid = ir::validate(e.module); !valid) row.result = "invalid", row.message = plain(valid.error().message);
}

std::string packed(const Row& r) {
  std::string out;
  for (size_t n : {r.kernels, r.unresolved, r.instances, r.traced, r.ops}) out += std::to_string(n) + "\t";
  return out + r.found + "\t" + r.result + "\t" + std::to_string(r.ms) + "\t" + r.message;
}

void unpack(const std::string& text, Row& r) {
  std::vector<std::string> fields(1);
  for (char c : text)
    if (c == '\t') fields.emplace_back();
    else fields.back() += c;
  if (fields.size() != 9) return;
  size_t at = 0;
  for (size_t* n : {&r.kernels, &r.unresolved, &r.instances, &r.traced, &r.ops}) *n = std::stoul(fields[at++]);
  r.found = fields[5], r.result = fields[6], r.ms = std::stod(fields[7]), r.message = fields[8];
}

[[noreturn]] void child(const std::string& path, const Options& o, int out) {
  auto start = std::chrono::steady_clock::now();
  Row row;
  judge(eval::evaluate_file(path, {.manifest = o.manifests}), row);
  row.ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::string text = packed(row);
  ssize_t written = write(out, text.data(), text.size());
  _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

Row run_file(const std::string& path, const Options& o) {
  Row row{.file = path};
  int ends[2];
  if (pipe(ends) != 0) return row.result = "no pipe", row;
  std::fflush(nullptr);
  pid_t pid = fork();
  if (pid == 0) child(path, o, ends[1]);
  close(ends[1]);
  std::string text;
  pollfd ready{ends[0], POLLIN, 0};
  while (poll(&ready, 1, o.timeout * 1000) > 0) {
    char buffer[4096];
    ssize_t n = read(ends[0], buffer, sizeof buffer);
    if (n <= 0) break;
    text.append(buffer, static_cast<size_t>(n));
  }
  close(ends[0]);
  bool late = text.empty() && waitpid(pid, nullptr, WNOHANG) == 0;
  if (late) usleep(100'000);
  int status = 0;
  pid_t ended = late ? waitpid(pid, &status, WNOHANG) : 0;
  if (late && ended == 0) kill(pid, SIGKILL), row.result = "hang";
  if (ended == 0) waitpid(pid, &status, 0);
  if (text.empty() && row.result.empty()) row.result = "crash";
  unpack(text, row);
  return row;
}

std::vector<std::string> files_below(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, error); !error && it != fs::end(it); it.increment(error))
    if (it->path().extension() == ".py" && it->is_regular_file()) out.push_back(it->path().string());
  std::sort(out.begin(), out.end());
  return out;
}

void print_row(const Row& r, const std::string& file, bool markdown) {
  std::string place = r.message.empty() ? "" : ": " + r.message;
  if (markdown)
    std::printf("| %s | %zu | %zu | %zu | %s | %zu | %s%s | %.0f |\n", file.c_str(), r.kernels, r.instances, r.traced,
                r.found.c_str(), r.ops, r.result.c_str(), place.c_str(), r.ms);
  else
    std::printf("%s\t%zu\t%zu\t%zu\t%s\t%zu\t%s\t%s\t%.0f\n", file.c_str(), r.kernels, r.instances, r.traced,
                r.found.c_str(), r.ops, r.result.c_str(), r.message.c_str(), r.ms);
}

int run(const Options& o) {
  bool markdown = o.format == "md";
  std::printf(markdown ? "| file | kernels | instances | traced | found by | tile ops | result | ms |\n"
                         "|---|---|---|---|---|---|---|---|\n"
                       : "file\tkernels\tinstances\ttraced\tfound by\ttile ops\tresult\tmessage\tms\n");
  std::map<std::string, size_t> results;
  std::vector<double> times;
  Row total;
  size_t files = 0, complete = 0;
  bool broken = false;
  for (const std::string& folder : o.folders)
    for (const std::string& path : files_below(folder)) {
      Row r = run_file(path, o);
      print_row(r, fs::relative(path, folder).string(), markdown);
      ++files, ++results[r.result];
      complete += r.kernels > 0 && r.unresolved == 0;
      times.push_back(r.ms);
      total.kernels += r.kernels, total.instances += r.instances, total.traced += r.traced, total.ops += r.ops;
      broken = broken || r.result == "crash" || r.result == "hang" || r.result == "invalid";
    }
  if (files == 0) {
    std::fprintf(stderr, "tilelang-corpus: error: no .py file\n");
    return 2;
  }
  std::sort(times.begin(), times.end());
  std::string counts;
  for (const auto& [result, n] : results) counts += (counts.empty() ? "" : ", ") + result + " " + std::to_string(n);
  std::printf(
      "%s%zu files (%s); every kernel has an instance in %zu; %zu kernels, %zu instances, %zu traced, %zu tile "
      "ops; median %.0f ms, worst %.0f ms\n",
      markdown ? "\n" : "# ", files, counts.c_str(), complete, total.kernels, total.instances, total.traced, total.ops,
      times[times.size() / 2], times.back());
  return broken ? 1 : 0;
}

}  // namespace
}  // namespace tc::tools

int main(int argc, char** argv) {
  tc::tools::Options o;
  CLI::App app{"tilelang-corpus: every .py file below folders through the front end, as a table"};
  app.add_option("DIR", o.folders, "folders")->required();
  app.add_option("--manifests", o.manifests, "folder of manifests, looked up by the files' paths");
  app.add_option("--format", o.format, "md or tsv")->check(CLI::IsMember({"md", "tsv"}));
  app.add_option("--timeout", o.timeout, "seconds a file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return tc::tools::run(o);
}
