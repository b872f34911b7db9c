#include "sim/exec/external.h"

#include <cstdio>
#include <cstring>

#include "sim/exec/access.h"
#include "sim/machine/calls.h"

namespace tc::sim {

uint64_t argument(Warp& w, const Insn& i, uint32_t which, uint32_t lane) {
  const Slot& s = w.cta->program.slots[i.imm + which];
  uint64_t v = 0;
  std::memcpy(&v, slot_bytes(w, s, w.path->calls.local_base, lane), std::min<size_t>(s.bytes, sizeof v));
  return v;
}
void set_result(Warp& w, const Insn& i, uint32_t lane, uint64_t value) {
  if (!i.b) return;
  const Slot& s = w.cta->program.slots[i.imm + i.a];
  std::memcpy(slot_bytes(w, s, w.path->calls.local_base, lane), &value, std::min<size_t>(s.bytes, sizeof value));
  slot_defined(w, s, w.path->calls.local_base, lane);
}

namespace {

constexpr size_t kMostPrinted = size_t{1} << 20;  // bytes of one cluster, what the device's buffer holds by default
constexpr size_t kMostText = 4096;                // of a string

// A pointer of a lane into any memory, read piece by piece. `ok` false: a trap is set.
struct Reader {
  Warp& w;
  const Insn& i;
  uint32_t lane;
  bool ok = true;

  uint64_t number(uint64_t address, uint32_t bytes) {
    const ptx::Space space = resolve(address);
    const uint8_t* p = ok ? host_memory(w, i, lane, space, address, bytes, false) : nullptr;
    uint64_t v = 0;
    if (p) std::memcpy(&v, p, bytes);
    else ok = false;
    return v;
  }
  std::string text(uint64_t address) {
    std::string out;
    while (ok && out.size() < kMostText) {
      const char c = static_cast<char>(number(address++, 1));
      if (c == 0 || !ok) break;
      out += c;
    }
    return out;
  }
};

// One conversion of a printf format: %[flags][width][.precision][length]letter.
struct Conversion {
  std::string spec;  // up to the length, without it
  bool wide = false;
  char letter = 0;
};

class Formatter {
 public:
  Formatter(Reader& r, uint64_t arguments) : r_(r), next_(arguments) {}

  std::string format(const std::string& text) {
    std::string out;
    for (size_t k = 0; k < text.size() && r_.ok;) {
      if (text[k] != '%') {
        out += text[k++];
      } else if (k + 1 < text.size() && text[k + 1] == '%') {
        out += '%';
        k += 2;
      } else {
        const Conversion c = conversion(text, k);
        if (c.letter) out += convert(c), ++count;
        else out += c.spec;
      }
    }
    return out;
  }
  uint32_t count = 0;

 private:
  uint64_t take(uint32_t bytes) {
    next_ = (next_ + bytes - 1) / bytes * bytes;
    const uint64_t v = r_.number(next_, bytes);
    next_ += bytes;
    return v;
  }
  Conversion conversion(const std::string& text, size_t& k) {
    Conversion c;
    c.spec = text[k++];
    for (; k < text.size() && std::strchr("-+ #0123456789.*", text[k]); ++k) {
      if (text[k] == '*') c.spec += std::to_string(static_cast<int32_t>(take(4)));
      else c.spec += text[k];
    }
    for (; k < text.size() && std::strchr("hljztL", text[k]); ++k) c.wide |= text[k] != 'h' && text[k] != 'L';
    if (k < text.size() && std::strchr("diuxXocsfFeEgGaAp", text[k])) c.letter = text[k++];
    return c;
  }
  std::string convert(const Conversion& c) {
    if (std::strchr("fFeEgGaA", c.letter)) return print((c.spec + c.letter).c_str(), std::bit_cast<double>(take(8)));
    if (c.letter == 's') return print((c.spec + 's').c_str(), r_.text(take(8)).c_str());
    if (c.letter == 'p') return print((c.spec + 'p').c_str(), reinterpret_cast<void*>(take(8)));
    if (c.letter == 'c') return print((c.spec + 'c').c_str(), static_cast<int>(take(4)));
    const bool is_signed = c.letter == 'd' || c.letter == 'i';
    const uint64_t raw = take(c.wide ? 8 : 4);
    const auto value = is_signed && !c.wide ? static_cast<long long>(static_cast<int32_t>(raw))
                                            : static_cast<long long>(raw);
    return print((c.spec + "ll" + c.letter).c_str(), value);
  }
  template <class T>
  static std::string print(const char* spec, T value) {
    char text[kMostText];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
    const int n = std::snprintf(text, sizeof text, spec, value);
#pragma GCC diagnostic pop
    return {text, std::min(static_cast<size_t>(std::max(n, 0)), sizeof text - 1)};
  }

  Reader& r_;
  uint64_t next_;
};

// int vprintf(format, arguments): what is printed is kept with the cluster, so that its order does not depend on threads.
Step vprintf(Warp& w, const Insn& i) {
  std::string& printed = w.cta->cluster.printed;
  for (uint32_t m = w.mask; m; m &= m - 1) {
    const uint32_t l = lowest_lane(m);
    Reader r{w, i, l};
    Formatter f(r, argument(w, i, 1, l));
    const std::string text = f.format(r.text(argument(w, i, 0, l)));
    if (!r.ok) return Step::trap;
    if (printed.size() + text.size() <= kMostPrinted) printed += text;
    set_result(w, i, l, f.count);
  }
  return Step::next;
}

// __assertfail(message, file, line, function, character size)
Step assert_fail(Warp& w, const Insn& i) {
  const uint32_t l = lowest_lane(w.mask);
  Reader r{w, i, l};
  const std::string message = r.text(argument(w, i, 0, l)), file = r.text(argument(w, i, 1, l)),
                    function = r.text(argument(w, i, 3, l));
  if (!r.ok) return Step::trap;
  return w.cta->fault("PROG-02", i.place,
                      "assertion '" + message + "' failed in " + function + " at " + file + ":" +
                          std::to_string(argument(w, i, 2, l)) + " (thread " + std::to_string(32 * w.index + l) + ")");
}

constexpr ExternalFunction kFunctions[] = {
    {"vprintf", 2, vprintf, false},
    {"__assertfail", 5, assert_fail, false},
    {"malloc", 1, heap_allocate, true},
    {"free", 1, heap_free, true},
};

}  // namespace

const ExternalFunction* external_function(std::string_view name) {
  for (const ExternalFunction& f : kFunctions)
    if (f.name == name) return &f;
  return nullptr;
}

}  // namespace tc::sim
