#include "sim/ptx/constant.h"

#include <bit>
#include <charconv>
#include <cstdlib>

namespace tc::ptx {
namespace {

constexpr int kDeepest = 100;  // nesting of an expression

enum class Op : uint8_t {
  mul,
  div,
  rem,
  add,
  sub,
  shl,
  shr,
  le,
  ge,
  lt,
  gt,
  eq,
  ne,
  bit_and,
  bit_xor,
  bit_or,
  both,
  either
};
struct OpRow {
  std::string_view text;
  int level;  // binds the tighter the higher
  Op op;
};
// Longer operators first: the text is that of the punctuation tokens, glued together.
constexpr OpRow kOps[] = {{"<<", 8, Op::shl},    {">>", 8, Op::shr},  {"<=", 7, Op::le},   {">=", 7, Op::ge},
                          {"==", 6, Op::eq},     {"!=", 6, Op::ne},   {"&&", 2, Op::both}, {"||", 1, Op::either},
                          {"*", 10, Op::mul},    {"/", 10, Op::div},  {"%", 10, Op::rem},  {"+", 9, Op::add},
                          {"-", 9, Op::sub},     {"<", 7, Op::lt},    {">", 7, Op::gt},    {"&", 5, Op::bit_and},
                          {"^", 4, Op::bit_xor}, {"|", 3, Op::bit_or}};
constexpr int kProduct = 10;

Constant integer(uint64_t bits, bool is_unsigned) { return {false, is_unsigned, Type::f64, bits}; }
double value_of(const Constant& c) {
  if (!c.is_real)
    return c.is_unsigned ? static_cast<double>(c.bits) : static_cast<double>(static_cast<int64_t>(c.bits));
  return c.real_type == Type::f32 ? std::bit_cast<float>(static_cast<uint32_t>(c.bits)) : std::bit_cast<double>(c.bits);
}
Constant real_constant(double v) { return {true, false, Type::f64, std::bit_cast<uint64_t>(v)}; }

Constant divide(const Constant& a, const Constant& b, bool is_unsigned, bool remainder) {
  if (is_unsigned) return integer(remainder ? a.bits % b.bits : a.bits / b.bits, true);
  const auto x = static_cast<int64_t>(a.bits), y = static_cast<int64_t>(b.bits);
  if (y == -1) return integer(remainder ? 0 : -a.bits, false);
  return integer(static_cast<uint64_t>(remainder ? x % y : x / y), false);
}

bool less(const Constant& a, const Constant& b, bool is_unsigned) {
  return is_unsigned ? a.bits < b.bits : static_cast<int64_t>(a.bits) < static_cast<int64_t>(b.bits);
}

Constant on_integers(Op op, const Constant& a, const Constant& b) {
  const bool u = a.is_unsigned || b.is_unsigned;
  const uint64_t n = b.bits;
  switch (op) {
    case Op::mul: return integer(a.bits * b.bits, u);
    case Op::div: return divide(a, b, u, false);
    case Op::rem: return divide(a, b, u, true);
    case Op::add: return integer(a.bits + b.bits, u);
    case Op::sub: return integer(a.bits - b.bits, u);
    case Op::shl: return integer(n > 63 ? 0 : a.bits << n, a.is_unsigned);
    case Op::shr:
      if (a.is_unsigned) return integer(n > 63 ? 0 : a.bits >> n, true);
      return integer(static_cast<uint64_t>(static_cast<int64_t>(a.bits) >> std::min<uint64_t>(n, 63)), false);
    case Op::le: return integer(!less(b, a, u), false);
    case Op::ge: return integer(!less(a, b, u), false);
    case Op::lt: return integer(less(a, b, u), false);
    case Op::gt: return integer(less(b, a, u), false);
    case Op::eq: return integer(a.bits == b.bits, false);
    case Op::ne: return integer(a.bits != b.bits, false);
    case Op::bit_and: return integer(a.bits & b.bits, u);
    case Op::bit_xor: return integer(a.bits ^ b.bits, u);
    case Op::bit_or: return integer(a.bits | b.bits, u);
    case Op::both: return integer(a.bits && b.bits, false);
    case Op::either: return integer(a.bits || b.bits, false);
  }
  return a;
}

}  // namespace

bool ConstantReader::punct(std::string_view text, size_t ahead) const {
  return peek(ahead).kind == Token::Kind::punct && peek(ahead).text == text;
}

void ConstantReader::fail(std::string message) {
  if (error_.empty()) error_ = std::move(message);
}

Constant ConstantReader::read(Extent extent) {
  const Constant c = extent == Extent::product ? binary(kProduct) : conditional();
  if (eaten_) fail("malformed expression");
  return c;
}

Constant ConstantReader::conditional() {
  const Constant test = binary(1);
  if (!error_.empty() || !punct("?")) return test;
  if (++depth_ > kDeepest) return fail("an expression is nested too deeply"), test;
  ++at_;
  const Constant yes = conditional();
  if (!punct(":")) return fail("expected ':' of a conditional expression"), test;
  ++at_;
  const Constant no = conditional();
  --depth_;
  return test.bits ? yes : no;
}

Constant ConstantReader::binary(int least) {
  Constant left = unary();
  while (error_.empty()) {
    const OpRow* found = nullptr;
    size_t tokens = 1;
    bool percent = false;
    for (const OpRow& r : kOps) {
      const bool two = r.text.size() == 2;
      percent = r.op == Op::rem && peek().kind == Token::Kind::word && peek().text.front() == '%';
      if (percent || (punct(r.text.substr(0, 1)) && (!two || (punct(r.text.substr(1), 1) && peek(1).glued)))) {
        found = &r, tokens = two ? 2 : 1;
        break;
      }
    }
    if (!found || found->level < least) return left;
    if (percent && peek().text.size() > 1) eaten_ = 1;
    else at_ += tokens;
    const Constant right = binary(found->level + 1);
    if (!error_.empty()) return left;
    if (left.is_real || right.is_real) {
      const double a = value_of(left), b = value_of(right);
      if (found->op == Op::add) left = real_constant(a + b);
      else if (found->op == Op::sub) left = real_constant(a - b);
      else if (found->op == Op::mul) left = real_constant(a * b);
      else if (found->op == Op::div) left = real_constant(a / b);
      else fail("reals have no operator " + std::string(found->text));
    } else if ((found->op == Op::div || found->op == Op::rem) && right.bits == 0) {
      fail("division by zero in an expression");
    } else {
      left = on_integers(found->op, left, right);
    }
  }
  return left;
}

Constant ConstantReader::unary() {
  if (++depth_ > kDeepest) return fail("an expression is nested too deeply"), Constant{};
  Constant c;
  const bool sign = punct("-"), plus = punct("+"), invert = punct("~"), negate = punct("!");
  if (sign || plus || invert || negate) {
    ++at_;
    c = unary();
    if (c.is_real && (invert || negate)) fail("reals have no such operator");
    if (sign && c.is_real) c.bits ^= uint64_t{1} << (c.real_type == Type::f32 ? 31 : 63);
    else if (sign) c.bits = -c.bits;
    if (invert) c.bits = ~c.bits;
    if (negate) c = integer(c.bits == 0, false);
  } else if (punct("(") && peek(1).kind == Token::Kind::dotted && punct(")", 2)) {
    const bool to_signed = peek(1).text == ".s64";
    if (!to_signed && peek(1).text != ".u64") fail("a cast is (.s64) or (.u64)");
    at_ += 3;
    c = unary();
    if (c.is_real) fail("a real cannot be cast");
    c.is_unsigned = !to_signed;
  } else {
    c = primary();
  }
  --depth_;
  return c;
}

Constant ConstantReader::primary() {
  if (eaten_) return number();
  if (punct("(")) {
    ++at_;
    const Constant c = conditional();
    if (!punct(")")) fail("expected ')'");
    else ++at_;
    return c;
  }
  if (peek().kind == Token::Kind::word && peek().text == "WARP_SZ") return ++at_, integer(32, false);
  if (peek().kind == Token::Kind::number) return number();
  fail("expected a number");
  return {};
}

Constant ConstantReader::real(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double v = std::strtod(copy.c_str(), &end);
  if (*end || copy.find_first_of("xX") != copy.npos) fail("malformed number");
  return real_constant(v);
}

Constant ConstantReader::number() {
  std::string_view text = peek().text.substr(std::exchange(eaten_, 0));
  auto has_prefix = [&](char c) { return text.size() > 1 && text[0] == '0' && (text[1] | 0x20) == c; };
  Constant c;
  int base = 10;
  if ((has_prefix('f') && text.size() == 10) || (has_prefix('d') && text.size() == 18)) {
    c.is_real = true, c.real_type = has_prefix('f') ? Type::f32 : Type::f64;
    base = 16, text.remove_prefix(2);
  } else if (has_prefix('x') || has_prefix('b')) {
    base = has_prefix('x') ? 16 : 2, text.remove_prefix(2);
  } else if (text.find_first_of(".eE") != text.npos) {
    c = real(text);
    if (error_.empty()) ++at_;
    return c;
  } else if (text.size() > 1 && text[0] == '0' && text != "0U") {
    base = 8, text.remove_prefix(1);
  }
  if (!c.is_real && text.ends_with('U')) c.is_unsigned = true, text.remove_suffix(1);
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), c.bits, base);
  if (ec != std::errc() || end != text.data() + text.size()) return fail("malformed number"), c;
  ++at_;
  if (!c.is_real && c.bits >> 63) c.is_unsigned = true;
  return c;
}

}  // namespace tc::ptx
