// Accesses of a given width, output, foreign functions, random numbers, reductions over thread indices.
// Sources: tilelang/language/builtin.py, cuda/language/print.py, cuda/language/random.py, customize.py.
#include <algorithm>

#include "compiler/eval/builtin.h"

namespace tc::eval {
namespace {
using ir::MetaInt;
using ir::OpKind;

// ---------------------------------------------------------------------------------------------- ld, st of N bits
// The 32-bit words from an element on.
ir::ValueId words(Session& s, const Args& a, std::string_view name, int64_t bits) {
  Box box = box_arg(s, a, name);
  const ir::Type type = buffer_type(s, box.buffer);
  int64_t elements = bits / static_cast<int64_t>(info(type.dtype).bits * type.lanes);
  if (elements < 1) fail(a.where, "an element of the buffer has more than " + std::to_string(bits) + " bits");
  for (MetaInt& e : box.extents) e = MetaInt(1);
  box.extents.back() = MetaInt(elements);
  box.whole = false;
  return emit_box(s, box);
}
int64_t width_of(const Args& a) { return std::atoll(a.builtin->name + 3); }

Value load_words(Session& s, const Args& a, std::string_view row) {
  Trace& t = in_launch(s, a);
  int64_t bits = width_of(a);
  std::vector<ir::ValueId> operands{words(s, a, "src", bits)};
  if (a.given("pred")) operands.push_back(as_condition(s, a.need("pred"), a.where));
  ir::ValueId v =
      t.builder.call(row, std::move(operands), ir::Type::scalar(DType::u32, static_cast<uint32_t>(bits / 32)));
  set(s, s.module[v].def, "bits", MetaInt(bits));
  return scalar(v);
}
Value store_words(Session& s, const Args& a, std::string_view row) {
  Trace& t = in_launch(s, a);
  int64_t bits = width_of(a);
  std::vector<ir::ValueId> operands{words(s, a, "dst", bits), scalar_arg(s, a, "value")};
  if (a.given("pred")) operands.push_back(as_condition(s, a.need("pred"), a.where));
  set(s, t.builder.call(row, std::move(operands)), "bits", MetaInt(bits));
  return none();
}
Value ldg(Session& s, Scope&, Args& a) { return load_words(s, a, "ldg"); }
Value lds(Session& s, Scope&, Args& a) { return load_words(s, a, "lds"); }
Value stg(Session& s, Scope&, Args& a) { return store_words(s, a, "stg"); }
Value sts(Session& s, Scope&, Args& a) { return store_words(s, a, "sts"); }

Value ldg_readonly(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  Box box = box_arg(s, a, "load_or_buf");
  if (a.given("index")) {
    if (box.offsets.size() != 1) fail(a.where, "T.__ldg with an index takes a buffer of one dimension");
    box.offsets[0] = index_arg(s, a, "index");
  }
  for (MetaInt& e : box.extents) e = MetaInt(1);
  box.whole = false;
  const ir::Type type = buffer_type(s, box.buffer);
  ir::Type result = ir::Type::scalar(type.dtype, type.lanes);
  return scalar(t.builder.call("ldg_readonly", {emit_box(s, box)}, result));
}

Value ptx_cp_async(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  ir::ValueId dst = region_arg(s, a, "dst_access_ptr"), src = region_arg(s, a, "src_access_ptr");
  std::vector<ir::ValueId> operands{dst, src};
  if (a.given("predicate")) operands.push_back(as_condition(s, a.need("predicate"), a.where));
  ir::OpId op = t.builder.call("ptx_cp_async", std::move(operands));
  set(s, op, "elements", to_int(s, a.need("num_elems"), a.where, "num_elems"));
  return none();
}

Value dp4a(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  ir::ValueId x = region_arg(s, a, "A"), y = region_arg(s, a, "B"), z = region_arg(s, a, "C");
  bool legal = s.module[x].type.dtype == DType::i8 && s.module[y].type.dtype == DType::i8 &&
               s.module[z].type.dtype == DType::i32;
  if (!legal) fail(a.where, "T.dp4a takes int8, int8 and an int32 to add to");
  t.builder.call("dp4a", {x, y, z});
  return none();
}

// ---------------------------------------------------------------------------------------------- output
Value print(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  std::string message = a.given("msg") ? to_text(a.need("msg"), a.where, "msg") : "";
  std::vector<ir::ValueId> operands;
  const Value* object = a.get("obj");
  const auto* buffer = object ? object->as<BufferV>() : nullptr;
  if (!object && message.empty()) fail(a.where, "T.print needs something to print");
  if (buffer && !buffer->is_var) operands.push_back(buffer->id);
  else if (object) operands.push_back(scalar_arg(s, a, "obj"));
  int64_t group = a.given("warp_group_id") ? to_int(s, a.need("warp_group_id"), a.where, "warp_group_id").value : 0;
  int64_t warp = a.given("warp_id") ? to_int(s, a.need("warp_id"), a.where, "warp_id").value : 0;
  ir::OpId op = t.builder.call("print", std::move(operands));
  set(s, op, "message", message);
  if (buffer) set(s, op, "lane", MetaInt(128 * group + 32 * warp));
  if (buffer) set(s, op, "access", std::string("r"));
  return none();
}

Value device_assert(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  ir::ValueId condition = as_condition(s, a.need("condition"), a.where);
  ir::OpId op = t.builder.call("device_assert", {condition});
  if (a.given("msg")) set(s, op, "message", to_text(a.need("msg"), a.where, "msg"));
  if (flag(s, a, "no_stack_info")) set(s, op, "no_stack_info", MetaInt(1));
  return none();
}

// ---------------------------------------------------------------------------------------------- foreign functions
// Pointers and buffers are regions with the access they state; text arguments are attributes.
void foreign_argument(Session& s, const Value& v, size_t place, const SourceRange& where,
                      std::vector<ir::ValueId>& operands, std::string& access, std::vector<ir::Attr>& attrs) {
  if (const auto* t = v.as<std::string>()) {
    attrs.push_back({"text" + std::to_string(place), *t});
    return;
  }
  const auto* object = v.as<const LibraryObject*>();
  const auto* buffer = v.as<BufferV>();
  const auto* region = v.as<const RegionObject*>();
  if (object && (*object)->kind == LibraryKind::pointer) {
    std::string how = to_text(*(*object)->field("access"), where, "the access");
    operands.push_back(emit_box(s, pointed_to(s, v, where, "the pointer")));
    access += how == "rw" ? 'u' : how[0];
  } else if ((buffer && !buffer->is_var) || (region && (*region)->has_slice)) {
    Box box = pointed_to(s, v, where, "the argument");
    bool barrier = buffer_type(s, box.buffer).space == ir::Space::barrier;
    operands.push_back(emit_box(s, box));
    access += barrier ? 'x' : 'u';
  } else {
    operands.push_back(to_scalar(s, v, where, "the argument"));
    access += 'v';
  }
}

std::optional<ElementType> foreign_result(Session& s, const Value& dtype, const SourceRange& where) {
  const auto* t = dtype.as<std::string>();
  if (t && (*t == "handle" || *t == "void" || t->empty())) return std::nullopt;
  if (const auto* d = dtype.as<DType>(); d && *d == DType::u64) return ElementType{DType::u64, 1};
  return to_element(s, dtype, where);
}

// The type comes first, or as dtype=.
std::vector<Value> leading(const Args& a, const char* what) {
  std::vector<Value> all = a.rest;
  if (const Value* dtype = a.get("dtype")) all.insert(all.begin(), *dtype);
  if (all.size() < 2) fail(a.where, std::string("T.") + a.builtin->name + " takes " + what);
  return all;
}

Value call_foreign(Session& s, Args& a, bool pure) {
  Trace& t = traced(s, a);
  std::vector<ir::ValueId> operands;
  std::string access;
  std::vector<Value> rest = leading(a, "a type and the function's name");
  std::vector<ir::Attr> attrs{{"function", to_text(rest[1], a.where, "the function's name")}};
  for (size_t i = 2; i < rest.size(); ++i) foreign_argument(s, rest[i], i - 2, a.where, operands, access, attrs);
  if (!access.empty()) attrs.push_back({"access", access});
  auto result = foreign_result(s, rest[0], a.where);
  if (!result) {
    ir::OpId op = t.builder.call("call_extern", std::move(operands));
    for (ir::Attr& attr : attrs) set(s, op, attr.name, std::move(attr.value));
    return none();
  }
  ir::ValueId v = t.builder.call(pure ? "call_pure_extern" : "call_extern_value", std::move(operands),
                                 ir::Type::scalar(result->dtype, result->lanes));
  for (ir::Attr& attr : attrs) set(s, s.module[v].def, attr.name, std::move(attr.value));
  return scalar(v);
}
Value call_extern(Session& s, Scope&, Args& a) { return call_foreign(s, a, false); }
Value call_pure_extern(Session& s, Scope&, Args& a) { return call_foreign(s, a, true); }

// T.call_intrin(dtype, "tl.shfl_xor", …): the function of that name.
Value call_intrin(Session& s, Scope& scope, Args& a) {
  std::vector<Value> rest = leading(a, "a type and the intrinsic's name");
  std::string name = to_text(rest[1], a.where, "the intrinsic's name");
  for (std::string_view prefix : {"tl.", "tir.", "tirx."})
    if (name.starts_with(prefix)) name = name.substr(prefix.size());
  const Builtin* known = find_builtin("T", name);
  if (!known || !known->call || known->call == call_intrin) fail_unsupported(a.where, "the intrinsic '" + name + "'");
  return call_builtin(s, scope, *known, {rest.begin() + 2, rest.end()}, {}, a.where);
}

Value evaluate(Session&, Scope&, Args&) { return none(); }

// ---------------------------------------------------------------------------------------------- reductions by threads
// T.comm_reducer(lambda x, y: x + y, [0]): which operation the function is, tried on two scalars.
Value comm_reducer(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  auto* const* f = a.need("combiner").as<FunctionObject*>();
  if (!f) fail(a.where, "T.comm_reducer takes a function, not " + kind_name(a.need("combiner")));
  ir::BlockId outer = std::exchange(t.builder.block, s.module.new_block());
  size_t known = t.constants.size();
  std::vector<Value> pair;
  for (const char* name : {"x", "y"}) pair.push_back(scalar(s.module.new_value(ir::Type::scalar(DType::f32), name)));
  Value result = call_function(s, **f, bind_params(s, **f, pair, {}, a.where, false), a.where);
  ir::ValueId id = to_scalar(s, result, a.where, "what the function gives");
  t.builder.block = outer;
  t.constants.resize(known);
  static constexpr std::pair<OpKind, const char*> kOps[] = {
      {OpKind::add, "sum"}, {OpKind::mul, "mul"}, {OpKind::max, "max"}, {OpKind::min, "min"}};
  ir::OpId def = s.module[id].def;
  for (auto [kind, name] : kOps)
    if (def.valid() && s.module[def].kind == kind)
      return library(s, LibraryKind::reducer, "reducer", {{"op", text(name)}});
  fail_unsupported(a.where, "a reducer that is no sum, product, maximum or minimum");
}

// T.tvm_thread_allreduce(1, value, condition, result, axis…).
Value thread_allreduce(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  if (a.rest.size() < 5) fail(a.where, "T.tvm_thread_allreduce takes a size, a value, a condition, a result and axes");
  if (to_int(s, a.rest[0], a.where, "the size").value != 1)
    fail_unsupported(a.where, "T.tvm_thread_allreduce of several values");
  ir::ValueId value = to_scalar(s, a.rest[1], a.where, "the value");
  ir::ValueId condition = as_condition(s, a.rest[2], a.where);
  Box result = pointed_to(s, a.rest[3], a.where, "the result");
  std::vector<MetaInt> dims;
  for (size_t i = 4; i < a.rest.size(); ++i) {
    ir::ValueId axis = to_index(s, a.rest[i], a.where, "an axis");
    for (int64_t d = 0; d < static_cast<int64_t>(t.threads.size()); ++d) {
      auto apart = constant_difference(s, axis, thread_index_of(s, d), a.where);
      if (apart && apart->value == 0) dims.push_back(MetaInt(d));
    }
  }
  if (dims.size() + 4 != a.rest.size()) fail(a.where, "an axis of T.tvm_thread_allreduce is no thread index");
  ir::OpId op = t.builder.call("thread_allreduce", {value, condition, emit_box(s, result)});
  set(s, op, "dims", dims);
  return none();
}

// T.tvm_warp_shuffle(mask, value, lane, width, warp size) and its kin.
Value tvm_shuffle(Session& s, const Args& a, std::string_view row, const char* lane) {
  Trace& t = in_launch(s, a);
  ir::ValueId value = scalar_arg(s, a, "value");
  ir::Type type = ir::Type::scalar(dtype_of(s, value), s.module[value].type.lanes);
  ir::ValueId mask = convert(s, scalar_arg(s, a, "mask"), DType::u32);
  return scalar(t.builder.call(row, {value, index_arg(s, a, lane), index_arg(s, a, "width"), mask}, type));
}
Value tvm_warp_shuffle(Session& s, Scope&, Args& a) { return tvm_shuffle(s, a, "shfl_sync", "warp_id"); }
Value tvm_warp_shuffle_up(Session& s, Scope&, Args& a) { return tvm_shuffle(s, a, "shfl_up", "offset"); }
Value tvm_warp_shuffle_down(Session& s, Scope&, Args& a) { return tvm_shuffle(s, a, "shfl_down", "offset"); }

Value tvm_storage_sync(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  std::string scope = to_text(a.need("storage_scope"), a.where, "the scope");
  if (scope == "warp") t.builder.call("sync_warp", {constant(s, MetaInt(0xFFFFFFFF), DType::u32)});
  else if (scope.starts_with("shared")) t.builder.op(OpKind::sync_threads, {});
  else fail_unsupported(a.where, "T.tvm_storage_sync of '" + scope + "'");
  return none();
}

// ---------------------------------------------------------------------------------------------- random numbers
Value rng_init(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  static constexpr std::string_view kGenerators[] = {"curandStateMRG32k3a_t", "curandStatePhilox4_32_10_t",
                                                     "curandStateXORWOW_t"};
  std::string generator =
      a.given("generator") ? to_text(a.need("generator"), a.where, "generator") : std::string(kGenerators[1]);
  if (std::find(std::begin(kGenerators), std::end(kGenerators), generator) == std::end(kGenerators))
    fail(a.where, "there is no random number generator '" + generator + "'");
  ir::ValueId seed = index_arg(s, a, "seed");
  ir::ValueId sequence;
  if (a.given("seq")) {
    sequence = index_arg(s, a, "seq");
  } else {  // the thread's number: threadIdx.x + blockIdx.x * blockDim.x
    ir::ValueId block = s.module[s.module[t.launch].blocks[0]].args[0];
    sequence = scalar_binary(s, OpKind::add, thread_index_of(s, 0),
                             scalar_binary(s, OpKind::mul, block, constant(s, t.threads[0])));
  }
  ir::ValueId offset = a.given("off") ? index_arg(s, a, "off") : constant(s, MetaInt(0));
  set(s, t.builder.call("rng_init", {seed, sequence, offset}), "generator", generator);
  return none();
}
Value rng_rand_float(Session& s, Scope&, Args& a) {
  Trace& t = in_launch(s, a);
  int64_t bits = a.given("bit") ? to_int(s, a.need("bit"), a.where, "bit").value : 32;
  std::string dist = a.given("dist") ? to_text(a.need("dist"), a.where, "dist") : "uniform";
  if (bits != 32 && bits != 64) fail(a.where, "T.rng_rand_float gives 32 or 64 bits, not " + std::to_string(bits));
  if (dist != "uniform" && dist != "normal") fail(a.where, "the distribution is uniform or normal");
  ir::ValueId v = t.builder.call("rng_rand_float", {}, ir::Type::scalar(bits == 32 ? DType::f32 : DType::f64));
  set(s, s.module[v].def, "dist", dist);
  return scalar(v);
}

constexpr Builtin kRows[] = {
    {"T", "ldg32", "src, pred=", ldg},
    {"T", "ldg64", "src, pred=", ldg},
    {"T", "ldg128", "src, pred=", ldg},
    {"T", "ldg256", "src, pred=", ldg},
    {"T", "stg32", "dst, value, pred=", stg},
    {"T", "stg64", "dst, value, pred=", stg},
    {"T", "stg128", "dst, value, pred=", stg},
    {"T", "stg256", "dst, value, pred=", stg},
    {"T", "lds32", "src", lds},
    {"T", "lds64", "src", lds},
    {"T", "lds128", "src", lds},
    {"T", "sts32", "dst, value", sts},
    {"T", "sts64", "dst, value", sts},
    {"T", "sts128", "dst, value", sts},
    {"T", "__ldg", "load_or_buf, index=", ldg_readonly},
    {"T", "ptx_cp_async", "dst_access_ptr, src_access_ptr, num_elems, predicate=", ptx_cp_async},
    {"T", "dp4a", "A, B, C", dp4a},
    {"T", "print", "obj=, msg=, warp_group_id=, warp_id=", print},
    {"T", "device_assert", "condition, msg=, no_stack_info=", device_assert},
    {"T", "call_extern", "*args, dtype=, span=", call_extern},
    {"T", "call_pure_extern", "*args, dtype=, span=", call_pure_extern},
    {"T", "call_intrin", "*args, dtype=, annotations=, span=", call_intrin},
    {"T", "evaluate", "value", evaluate},
    {"T", "comm_reducer", "combiner, identity", comm_reducer},
    {"T", "tvm_thread_allreduce", "*freduce_args, dtype=", thread_allreduce},
    {"T", "tvm_warp_shuffle", "mask, value, warp_id, width, warp_size", tvm_warp_shuffle},
    {"T", "tvm_warp_shuffle_up", "mask, value, offset, width, warp_size", tvm_warp_shuffle_up},
    {"T", "tvm_warp_shuffle_down", "mask, value, offset, width, warp_size", tvm_warp_shuffle_down},
    {"T", "tvm_storage_sync", "storage_scope", tvm_storage_sync},
    {"T", "rng_init", "seed, seq=, off=, generator=", rng_init},
    {"T", "rng_rand_float", "bit=, dist=", rng_rand_float},
};
}  // namespace

std::span<const Builtin> memory_builtins() { return kRows; }

}  // namespace tc::eval
