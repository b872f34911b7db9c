// Random modules of the tile level: every row of op.def and intrinsic.def, with repeated operands, nested blocks,
// vector types, dynamic extents and attributes of every kind. Each is valid, and reads back as what was printed.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "compiler/ir/ir.h"

namespace tc::ir {
namespace {

constexpr std::string_view kIntrinsics[] = {
#define INTRINSIC(name, operands, results, proxy, sync, scope) #name,
#include "compiler/ir/intrinsic.def"
#undef INTRINSIC
};
constexpr OpKind kOps[] = {
#define OP(name, levels, operands, results, blocks, proxy, sync, scope) OpKind::name,
#include "compiler/ir/op.def"
#undef OP
};
constexpr DType kTypes[] = {DType::i32, DType::i64, DType::u8, DType::f16, DType::bf16, DType::f32, DType::e4m3};
constexpr int kDeepest = 5;

struct Generator {
  std::mt19937 rng;
  Module m;
  Builder b{m, {}};
  std::vector<std::vector<ValueId>> visible;  // by block, outermost first
  int depth = 0, loops = 0;

  explicit Generator(unsigned seed) : rng(seed) {}

  size_t below(size_t n) { return rng() % n; }
  bool one_in(size_t n) { return below(n) == 0; }
  template <class T, size_t N>
  T any(const T (&from)[N]) {
    return from[below(N)];
  }

  // ---- values
  MetaInt meta(int64_t value) {
    if (one_in(2)) return value;
    MetaInt k = meta_param(m, any({"K", "block_M", "STAGES"}), value + 3);
    return one_in(2) ? meta_binary(m, MetaKind::sub, k, MetaInt(3))
                     : meta_binary(m, MetaKind::add, meta_binary(m, MetaKind::mul, k, MetaInt(1)), MetaInt(-3));
  }
  // An extent that is known at the launch.
  MetaInt dynamic_extent() {
    MetaId n = m.new_meta({.kind = MetaKind::symbol, .name = "n"});
    MetaInt symbol(MetaInt::kDynamic, n);
    return one_in(2) ? symbol : meta_binary(m, MetaKind::ceildiv, symbol, MetaInt(64));
  }
  ValueId show(ValueId v) {
    if (one_in(2)) m[v].name = any({"x", "acc", "row_2", "i"});
    visible.back().push_back(v);
    return v;
  }
  template <class Fits>
  std::optional<ValueId> known(Fits&& fits) {
    std::vector<ValueId> found;
    for (const auto& scope : visible)
      for (ValueId v : scope)
        if (fits(m[v].type)) found.push_back(v);
    if (found.empty() || one_in(4)) return std::nullopt;
    return found[below(found.size())];
  }
  ValueId scalar(DType type, uint32_t lanes = 1) {
    if (auto v =
            known([&](const Type& t) { return t.kind == TypeKind::scalar && t.dtype == type && t.lanes == lanes; }))
      return *v;
    ValueId v = is_float(type) ? b.constant(any({0.0, -0.0, 1e-30, 3.0, HUGE_VAL}), type)
                               : b.constant(meta(static_cast<int64_t>(below(9))), type);
    if (lanes == 1) return show(v);
    return show(b.call("broadcast", {v}, Type::scalar(type, lanes)));
  }
  ValueId index() { return scalar(DType::i32); }
  Type buffer_type() {
    Type t = Type::buffer(any({Space::shared, Space::fragment, Space::local, Space::tmem}), any(kTypes), {});
    for (size_t rank = 1 + below(3); rank > 0; --rank) t.shape.push_back(meta(static_cast<int64_t>(1 + below(64))));
    if (one_in(6)) t.lanes = 4;
    return t;
  }
  ValueId buffer() {
    if (auto v = known([](const Type& t) { return t.kind == TypeKind::buffer && t.space != Space::barrier; }))
      return *v;
    return show(b.alloc(buffer_type(), ""));
  }
  ValueId barrier() {
    if (auto v = known([](const Type& t) { return t.kind == TypeKind::buffer && t.space == Space::barrier; }))
      return *v;
    ValueId v = b.alloc(Type::buffer(Space::barrier, DType::u64, {MetaInt(2)}), "full");
    set_attr(m[m[v].def].attrs, "counts", std::vector<MetaInt>{meta(128), MetaInt(1)});
    return show(v);
  }
  ValueId region() {
    ValueId base = buffer();
    if (one_in(2)) return base;
    std::vector<ValueId> offsets, extents;
    for (size_t d = m[base].type.rank(); d > 0; --d) offsets.push_back(index());
    for (size_t d = m[base].type.rank(); d > 0; --d)
      extents.push_back(one_in(5) ? b.binary(OpKind::min, b.thread_index(), index())
                                  : b.constant(meta(static_cast<int64_t>(1 + below(8)))));
    return b.region(base, offsets, extents);
  }
  ValueId operand(char role) {
    switch (role) {
      case 'v': return scalar(any(kTypes));
      case 'B': return barrier();
      case 'b': return buffer();
      case 'x': return one_in(2) ? region() : scalar(any(kTypes), one_in(3) ? 2 : 1);
      default: return region();
    }
  }
  // One of the alternatives, repeats written out.
  std::vector<ValueId> operands(std::string_view spec) {
    std::vector<std::string_view> choices;
    for (size_t at = 0; at <= spec.size();) {
      size_t end = std::min(spec.find('|', at), spec.size());
      choices.push_back(spec.substr(at, end - at));
      at = end + 1;
    }
    std::string_view chosen = choices[below(choices.size())];
    std::vector<ValueId> out;
    for (size_t i = 0; i < chosen.size(); ++i) {
      bool repeated = i + 1 < chosen.size() && chosen[i + 1] == '*';
      for (size_t n = repeated ? below(4) : 1; n > 0; --n) out.push_back(operand(chosen[i]));
      i += repeated;
    }
    return out;
  }

  void decorate(OpId op) {
    while (one_in(3)) {
      AttrValue values[] = {meta(-3), any({0.5, -0.0, 1e300, -HUGE_VAL}),
                            std::string(any({"", "a \"b\"\n\\", "größer"})), std::vector<MetaInt>{},
                            std::vector<MetaInt>{meta(1), MetaInt(-2)}};
      set_attr(m[op].attrs, any({"tag", "policy", "num_stages"}), values[below(5)]);
    }
  }

  // ---- operations
  void scalars(OpKind kind) {
    DType type = any(kTypes);
    uint32_t lanes = one_in(5) ? 2 : 1;
    size_t count = info(kind).operands.size();
    std::vector<ValueId> in;
    for (size_t i = 0; i < count; ++i)
      in.push_back(kind == OpKind::select && i == 0 ? scalar(DType::b1, lanes) : scalar(type, lanes));
    bool truth = kind >= OpKind::eq && kind <= OpKind::logical_not;
    OpId op = m.new_op(b.block, kind, std::move(in), {Type::scalar(truth ? DType::b1 : type, lanes)}, {});
    decorate(op);
    show(m[op].results[0]);
  }
  void memory(OpKind kind) {
    ValueId base = buffer();
    Type type = m[base].type;
    std::vector<ValueId> in{base};
    for (size_t d = 0; d < type.rank(); ++d) in.push_back(index());
    if (kind == OpKind::store || kind == OpKind::atomic_store) in.push_back(scalar(type.dtype, type.lanes));
    std::vector<Type> results;
    if (info(kind).results) results.push_back(Type::scalar(type.dtype, type.lanes));
    OpId op = m.new_op(b.block, kind, std::move(in), std::move(results), {});
    decorate(op);
    if (!m[op].results.empty()) show(m[op].results[0]);
  }
  void plain(OpKind kind, const OpInfo& row, std::string_view name) {
    std::vector<ValueId> in = operands(row.operands);
    std::vector<Type> results;
    if (row.results)
      results.push_back(kind == OpKind::view || kind == OpKind::pointer_view
                            ? buffer_type()
                            : Type::scalar(any(kTypes), one_in(4) ? 4 : 1));
    OpId op = m.new_op(b.block, kind, std::move(in), std::move(results), {});
    if (!name.empty()) set_attr(m[op].attrs, "name", std::string(name));
    decorate(op);
    if (!m[op].results.empty()) show(m[op].results[0]);
  }

  void fill(BlockId block, OpKind around, size_t which) {
    BlockId outer = std::exchange(b.block, block);
    visible.emplace_back(m[block].args);
    ++depth;
    bool annotation = around == OpKind::layout || around == OpKind::loop_layout;
    int inner = annotation ? std::exchange(loops, 0) : loops;
    for (size_t n = annotation && m[block].args.empty() ? 0 : below(7); n > 0; --n) {
      if (annotation) scalars(OpKind::add);
      else any_op();
    }
    if (around == OpKind::while_ && which == 0) b.op(OpKind::condition, {scalar(DType::b1)});
    if (annotation && !m[block].args.empty()) b.op(OpKind::yield_, {index(), index()});
    loops = inner;
    --depth;
    visible.pop_back();
    b.block = outer;
  }
  void nest(OpKind kind, const OpInfo& row) {
    std::vector<ValueId> in;
    if (kind == OpKind::if_) in = {scalar(DType::b1)};
    if (kind == OpKind::for_) in = {index(), index()};
    if (kind == OpKind::layout) in = {buffer()};
    if (kind == OpKind::parallel || kind == OpKind::launch)
      for (size_t n = 1 + below(3); n > 0; --n) in.push_back(index());
    size_t args = kind == OpKind::for_                                    ? 1
                  : kind == OpKind::layout || kind == OpKind::loop_layout ? below(3)
                  : kind == OpKind::if_                                   ? 0
                                                                          : in.size();
    OpId op = m.new_op(b.block, kind, std::move(in), {}, {});
    decorate(op);
    for (int k = 0; k < row.blocks; ++k) {
      BlockId block = m.new_block();
      m[op].blocks.push_back(block);
      for (size_t a = 0; a < args; ++a) {
        ValueId v = m.new_value(Type::scalar(DType::i32), "i");
        m[block].args.push_back(v);
      }
    }
    bool loop = kind == OpKind::for_ || kind == OpKind::while_;
    loops += loop;
    std::vector<BlockId> blocks = m[op].blocks;
    for (size_t k = 0; k < blocks.size(); ++k) fill(blocks[k], kind, k);
    loops -= loop;
  }

  void any_op() {
    OpKind kind = one_in(3) ? OpKind::call : any(kOps);
    const OpInfo& row = info(kind);
    bool ends = kind == OpKind::condition || kind == OpKind::yield_ || kind == OpKind::launch;
    bool leaves = kind == OpKind::break_ || kind == OpKind::continue_;
    if (!is_legal(kind, Level::tile) || ends || (leaves && loops == 0) || (row.blocks && depth >= kDeepest)) return;
    if (kind == OpKind::call) {
      std::string_view name = any(kIntrinsics);
      return plain(kind, *find_intrinsic(name), name);
    }
    if (kind == OpKind::constant) return void(scalar(any(kTypes)));
    if (kind == OpKind::alloc) return void(one_in(3) ? barrier() : buffer());
    if (kind == OpKind::region) return void(region());
    if (kind >= OpKind::add && kind <= OpKind::select) return scalars(kind);
    bool element =
        kind == OpKind::load || kind == OpKind::store || kind == OpKind::atomic_load || kind == OpKind::atomic_store;
    if (element) return memory(kind);
    if (row.blocks) return nest(kind, row);
    plain(kind, row, {});
  }

  void function(std::string name) {
    Func f{
        .name = name, .instance = name + "[K=4]", .specialisation = "arg", .args = {{"K", 4}}, .body = m.new_block()};
    b.block = f.body;
    visible = {{}};
    f.symbols = {m.new_value(Type::scalar(DType::i32), "n")};
    for (size_t n = 1 + below(3); n > 0; --n) {
      Type t = Type::buffer(Space::global, any(kTypes), {one_in(2) ? dynamic_extent() : meta(32), MetaInt(64)});
      if (one_in(3)) t.strides = {meta(64), MetaInt(1)};
      f.params.push_back(m.new_value(one_in(4) ? Type::scalar(DType::f32) : t, "A"));
    }
    if (one_in(2)) f.outputs = {static_cast<int64_t>(f.params.size()) - 1};
    if (one_in(2)) f.attrs = {{"tl.disable_tma_lower", MetaInt(1)}, {"text", std::string("x=\"1\"")}};
    visible[0] = f.params;
    visible[0].push_back(f.symbols[0]);
    for (size_t n = 1 + below(2); n > 0; --n) nest(OpKind::launch, info(OpKind::launch));
    m.funcs.push_back(std::move(f));
  }
};

TEST(RandomModules, AreValidAndReadBack) {
  std::set<std::string> seen;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    Generator g(seed);
    for (const char* name : {"f", "g"}) g.function(name);
    Status valid = validate(g.m);
    ASSERT_TRUE(valid.ok()) << seed << ": " << render(valid.error()) << print(g.m);
    std::string text = print(g.m);
    auto again = parse("random.ir", text);
    ASSERT_TRUE(again.ok()) << seed << ": " << render(again.error()) << text;
    EXPECT_EQ(print(*again), text) << seed;
    EXPECT_TRUE(equal(g.m, *again)) << seed;
    Status reread = validate(*again);
    EXPECT_TRUE(reread.ok()) << seed << ": " << render(reread.error());
    for (const Op& op : g.m.ops) seen.insert(std::string(row_of(op).name));
  }
  for (OpKind kind : kOps) {
    bool wanted = is_legal(kind, Level::tile) && kind != OpKind::call;
    EXPECT_TRUE(!wanted || seen.contains(std::string(info(kind).name))) << info(kind).name;
  }
  for (std::string_view name : kIntrinsics) EXPECT_TRUE(seen.contains(std::string(name))) << name;
}

// A module with one operand exchanged for another value is valid or refused with a message, and prints either way.
TEST(RandomModules, BrokenOnesAreRefusedOrValid) {
  size_t refused = 0;
  for (unsigned seed = 1; seed <= 200; ++seed) {
    Generator g(seed);
    g.function("f");
    std::vector<OpId> with_operands;
    walk(g.m, g.m.funcs[0].body, [&](OpId id) {
      if (!g.m[id].operands.empty()) with_operands.push_back(id);
    });
    Op& op = g.m[with_operands[g.below(with_operands.size())]];
    op.operands[g.below(op.operands.size())] = ValueId{static_cast<uint32_t>(g.below(g.m.values.size()))};
    Status s = validate(g.m);
    if (s.ok()) continue;
    ++refused;
    EXPECT_FALSE(s.error().message.empty());
  }
  EXPECT_GT(refused, 100u);
}

}  // namespace
}  // namespace tc::ir
