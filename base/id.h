// Typed 32-bit ids into the arenas of a module: Id<struct ValueTag> cannot be mixed up with Id<struct OpTag>.
#pragma once
#include <compare>
#include <cstdint>
#include <functional>

namespace tc {

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t index = kNone;
  bool valid() const { return index != kNone; }
  auto operator<=>(const Id&) const = default;
};

}  // namespace tc

template <class Tag>
struct std::hash<tc::Id<Tag>> {
  size_t operator()(tc::Id<Tag> id) const noexcept { return id.index; }
};
