// Objects of host code whose values reach kernels: argparse (the defaults stand for the command line), the properties
// of the device, AutoTuner.
#include "compiler/eval/session.h"
#include "specs/arch.h"

namespace tc::eval {
namespace {
using Keywords = std::vector<std::pair<std::string, Value>>;

const Value* keyword(const Keywords& keywords, std::string_view name) {
  for (const auto& [n, v] : keywords)
    if (n == name) return &v;
  return nullptr;
}

// --num_split, --num-split → num_split; of several spellings the first long one.
std::string destination(const std::vector<Value>& spellings) {
  std::string name;
  for (const Value& v : spellings)
    if (const auto* t = v.as<std::string>(); t && (name.empty() || (t->starts_with("--") && !name.starts_with("--"))))
      name = *t;
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// Other values that the command line may give: choices, and the other truth value.
void note_alternatives(Session& s, const std::string& name, const Value& otherwise, const Value* choices) {
  auto known = [&](const Value& v) {
    return std::any_of(s.alternatives.begin(), s.alternatives.end(),
                       [&](const Session::Alternative& a) { return a.name == name && equal_values(a.value, v); });
  };
  std::vector<Value> others;
  if (const auto* b = otherwise.as<BoolV>()) others.push_back(boolean(!b->value));
  if (choices && (choices->is<ListObject*>() || choices->is<const TupleObject*>()))
    for (const Value& v : to_items(s, *choices, {}, "the choices"))
      if (!equal_values(v, otherwise)) others.push_back(v);
  for (const Value& v : others)
    if (!known(v)) s.alternatives.push_back({name, "--" + name + " " + format(s, v), v});
}

Value add_argument(Session& s, HostObject& parser, const std::vector<Value>& positional, const Keywords& keywords,
                   const SourceRange& where) {
  std::string name = destination(positional);
  if (const Value* dest = keyword(keywords, "dest"); dest && dest->is<std::string>()) name = *dest->as<std::string>();
  const Value *otherwise = keyword(keywords, "default"), *action = keyword(keywords, "action");
  const std::string* act = action ? action->as<std::string>() : nullptr;
  if (otherwise) parser.attrs[name] = *otherwise;
  else if (act && (*act == "store_true" || *act == "store_false")) parser.attrs[name] = boolean(*act == "store_false");
  else if (!positional.empty() && positional[0].is<std::string>() && positional[0].as<std::string>()->starts_with("-"))
    parser.attrs[name] = none();
  else parser.attrs[name] = opaque(s, "the command line argument '" + name + "'", where);
  note_alternatives(s, name, parser.attrs[name], keyword(keywords, "choices"));
  return none();
}

Value parsed(Session& s, const HostObject& parser, const SourceRange& where) {
  HostObject& record = host_object(s, HostKind::record, "the command line arguments", where);
  record.attrs = parser.attrs;
  for (const auto& [name, value] : s.command_line)
    if (record.attrs.contains(name)) record.attrs[name] = value;
  return Value{&record};
}

// Of the target: sm_90a has (9, 0).
std::pair<int, int> capability(const Session& s) {
  int number = 0;
  for (char c : s.options->arch)
    if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
  return {number / 10, number % 10};
}
}  // namespace

// The number of SMs: --arg sm_count, else that of the target's usual device.
int64_t sm_count(const Session& s) {
  if (s.sm_count) return *s.sm_count;
  for (const auto& [name, value] : s.options->args)
    if (name == "sm_count") {
      ArgValue v = parse_arg(value);
      if (const auto* i = std::get_if<int64_t>(&v)) return *i;
    }
  auto arch = find_arch(s.options->arch);
  return arch ? arch->sm_count : 0;
}

// Functions of the host that make such objects, by their full name; nullopt: none of them.
std::optional<Value> call_host(Session& s, Scope& scope, const std::string& name, const std::vector<Value>& positional,
                               const Keywords& keywords, const SourceRange& where) {
  if (name == "argparse.ArgumentParser") return Value{&host_object(s, HostKind::parser, "an argument parser", where)};
  if (name == "torch.cuda.get_device_properties") {
    HostObject& o = host_object(s, HostKind::record, "the properties of the device", where);
    auto [major, minor] = capability(s);
    o.attrs["multi_processor_count"] = integer(sm_count(s));
    o.attrs["major"] = integer(major);
    o.attrs["minor"] = integer(minor);
    o.attrs["warp_size"] = integer(32);
    if (auto arch = find_arch(s.options->arch)) {
      o.attrs["shared_memory_per_multiprocessor"] = integer(smem_bytes_of_sm(*arch));
      o.attrs["shared_memory_per_block_optin"] = integer(arch->max_smem_bytes);
      o.attrs["shared_memory_per_block"] = integer(arch->default_smem_bytes);
      o.attrs["regs_per_multiprocessor"] = integer(arch->registers);
    }
    return Value{&o};
  }
  if (name == "torch.cuda.get_device_capability") {
    auto [major, minor] = capability(s);
    return tuple(s, {integer(major), integer(minor)});
  }
  if (name.ends_with(".get_target_compute_version")) {
    auto [major, minor] = capability(s);
    return text(std::to_string(major) + "." + std::to_string(minor));
  }
  if (name.ends_with(".parse_compute_version") && positional.size() == 1 && positional[0].is<std::string>()) {
    int major = 0, minor = 0;
    if (std::sscanf(positional[0].as<std::string>()->c_str(), "%d.%d", &major, &minor) == 2)
      return tuple(s, {integer(major), integer(minor)});
  }
  if (name.ends_with(".get_num_sms")) return integer(sm_count(s));
  if (name.ends_with(".DataType") && positional.size() == 1) return Value{to_dtype(s, positional[0], where)};
  if (name.ends_with("AutoTuner.from_kernel") || name.ends_with(".AutoTuner")) {
    HostObject& o = host_object(s, HostKind::tuner, "a tuner", where);
    for (auto [key, place] : {std::pair("kernel", 0u), std::pair("configs", 1u)}) {
      const Value* v = place < positional.size() ? &positional[place] : keyword(keywords, key);
      o.attrs[key] = v ? *v : none();
    }
    return Value{&o};
  }
  if (auto known = call_host_function(s, scope, name, positional, keywords, where)) return known;
  if (name.starts_with("einops.")) return call_einops(s, name.substr(7), positional, keywords, where);
  if (name.starts_with("numpy."))
    return call_torch(s, name.substr(6) == "array" ? "tensor" : name.substr(6), positional, keywords, where);
  if (name.starts_with("torch.")) return call_torch(s, name.substr(6), positional, keywords, where);
  return std::nullopt;
}

Value call_object_method(Session& s, HostObject& o, const std::string& name, const std::vector<Value>& positional,
                         const Keywords& keywords, const SourceRange& where) {
  switch (o.kind) {
    case HostKind::parser:
      if (name == "add_argument") return add_argument(s, o, positional, keywords, where);
      if (name == "parse_args") return parsed(s, o, where);
      if (name == "parse_known_args") return tuple(s, {parsed(s, o, where), list(s, {})});
      if (name == "add_argument_group" || name == "add_mutually_exclusive_group") return Value{&o};
      return none();
    case HostKind::tuner: {
      if (name != "run") return Value{&o};
      auto* const* factory = o.attrs["kernel"].as<FunctionObject*>();
      if (!factory) return opaque(s, "the result of a tuner", where);
      s.heap.functions.push_back(**factory);
      FunctionObject& tuned = s.heap.functions.back();
      s.heap.values.push_back(o.attrs["configs"]);
      tuned.configs = &s.heap.values.back();
      HostObject& result = host_object(s, HostKind::record, "the result of a tuner", where);
      result.attrs["kernel"] = call_factory(s, tuned, {}, {}, where);
      return Value{&result};
    }
    case HostKind::context:
      if (name == "save_for_backward") o.attrs["saved_tensors"] = tuple(s, positional);
      return none();
    case HostKind::layer: return layer_result(s, o, positional, where);
    case HostKind::marker: return none();
    case HostKind::record:
    case HostKind::super: return opaque(s, o.what + "." + name + "(...)", where);
  }
  return none();
}

}  // namespace tc::eval
