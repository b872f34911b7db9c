// Names. A function has a scope; each run-time block inside it (a loop, a branch, a section) a child whose names are
// gone after it. Rebinding a name that a loop body has read from outside would carry a value from one iteration to the
// next, which straight tracing cannot express: it is an error that points at T.alloc_var.
#include "compiler/eval/session.h"

namespace tc::eval {

const Value* lookup(Scope& scope, const std::string& name) {
  for (Scope* s = &scope; s; s = s->parent)
    if (auto it = s->names.find(name); it != s->names.end()) return &it->second;
  return nullptr;
}

namespace {
// Notes for every loop between the reader and the binding that it reads a name of outside.
void note_outer_read(Scope& scope, const std::string& name, const SourceRange& where) {
  for (Scope* s = &scope; s && !s->names.contains(name); s = s->parent) {
    if (s->is_loop) s->outer_reads.try_emplace(name, where);
    if (s->is_function) return;
  }
}

// Inside a branch the new value is gone at its end anyway: the next iteration reads the one of before the loop, as the
// release has it, and a warning says so.
void check_not_carried(Session& session, Scope& scope, const std::string& name, const SourceRange& where) {
  bool in_branch = false;
  for (Scope* s = &scope; s && !s->names.contains(name) && !s->is_function; s = s->parent) {
    in_branch |= !s->is_loop;
    auto read = s->outer_reads.find(name);
    if (read == s->outer_reads.end()) continue;
    if (in_branch) {
      return warn(session, where,
                  "'" + name + "' has this value in this block only; the next iteration reads the one of before the "
                  "loop again, unless it is a variable of T.alloc_var");
    }
    Diag d = input_error(
        where,
        "'" + name +
            "' would carry a value from one iteration of a run-time loop to the next; a variable of T.alloc_var can");
    d.notes.push_back({read->second, "read here from outside the loop"});
    throw Failure{d};
  }
}

// The binding that an assignment in `scope` would replace, inside the same function.
const Value* own_binding(Scope& scope, const std::string& name) {
  for (Scope* s = &scope; s; s = s->parent) {
    if (auto it = s->names.find(name); it != s->names.end()) return &it->second;
    if (s->is_function) return nullptr;
  }
  return nullptr;
}
}  // namespace

Value read_name(Session& s, Scope& scope, const std::string& name, const SourceRange& where) {
  const Value* found = lookup(scope, name);
  if (!found) {
    if (name == "__name__") return text("__main__");
    return namespace_attribute(s, NamespaceV{"builtins"}, name, where);
  }
  if (const auto* poison = found->as<const PoisonObject*>()) {
    Diag d = input_error(where, "'" + name + "' " + (*poison)->why);
    d.notes.push_back({(*poison)->where, "bound in this block"});
    throw Failure{d};
  }
  note_outer_read(scope, name, where);
  return *found;
}

void bind_name(Session& s, Scope& scope, const std::string& name, Value value, const SourceRange& where) {
  for (Scope* at = &scope; at; at = at->is_function ? nullptr : at->parent)
    if (auto other = at->elsewhere.find(name); other != at->elsewhere.end()) {
      Value& slot = other->second->names[name];
      slot = s.uncertain ? merged(s, slot, value, "an unknown condition", where) : value;
      return;
    }
  if (const BufferV* made = value.as<BufferV>(); made && made->fresh) {
    s.module[made->id].name = name;
    scope.names[name] = Value{BufferV{made->id, true, false}};
    return;
  }
  const Value* old = own_binding(scope, name);
  const BufferV* var = old ? old->as<BufferV>() : nullptr;
  if (var && var->is_var && (is_static_number(value) || is_runtime(value))) {
    const BufferV* same = value.as<BufferV>();
    if (!(same && same->id == var->id)) store_var(s, *var, value, where);
    return;
  }
  const auto* ref = old ? old->as<const RegionObject*>() : nullptr;
  if (ref && (*ref)->is_ref && (is_static_number(value) || is_runtime(value)))
    return store_region(s, **ref, value, where);
  check_not_carried(s, scope, name, where);
  // An element or a variable is read when it is bound, so that later stores do not change what the name means.
  if (is_runtime(value) && s.trace) {
    ir::ValueId id = to_scalar(s, value, where, "the value");
    if (s.module[id].name.empty() && s.module[id].def.valid()) s.module[id].name = name;
    value = scalar(id);
  }
  if (const BufferV* buffer = value.as<BufferV>(); buffer && s.module[buffer->id].name.empty())
    s.module[buffer->id].name = name;
  scope.names[name] = std::move(value);
}

Outcome run_block(Session& s, Scope& scope, ir::BlockId block, bool is_loop, const SourceRange& where,
                  const std::function<Outcome(Scope&)>& body) {
  Trace& t = *s.trace;
  ir::BlockId outer = t.builder.block;
  size_t known = t.constants.size();
  Scope& inner = s.heap.scopes.emplace_back(Scope{.parent = &scope,
                                                  .names = {},
                                                  .is_function = false,
                                                  .is_loop = is_loop,
                                                  .staged = scope.staged,
                                                  .outer_reads = {}});
  t.builder.block = block;
  Outcome outcome = body(inner);
  t.builder.block = outer;
  t.constants.resize(known);
  for (const auto& [name, value] : inner.names) {
    s.heap.poisons.push_back({"was bound inside a run-time block, and its value is not available after it", where});
    scope.names[name] = Value{&s.heap.poisons.back()};
  }
  return outcome;
}

}  // namespace tc::eval
