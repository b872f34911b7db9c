// The launch manifest: everything needed to launch one kernel, as text. One reader, one printer, for all producers
// (code generation, headers of .cu/.ptx files, bundle folders) and consumers (simulator, GPU replay).
//
//   arch: sm_90a
//   launch: kernel=gemm grid=2,2 block=384 cluster=1 smem=131072
//   tensor: A f16 shape=256,768 role=in fill=normal seed=1
//   tensor: C f32 shape=256,128 role=out fill=nan
//   arg: mA tensormap f16 dims=768,256 strides=1536 box=64,128 swizzle=128B of=A
//   arg: pC buffer of=C
//   arg: kt i32 12
//   check: gemm M=256 N=128 K=768
//
// One item a line; in a .cu or .ptx file each line of the leading comment block starts with `//`.
// launch  grid/block/cluster are x[,y[,z]] (grid in CTAs, cluster in CTAs), smem is the dynamic shared size in bytes.
// tensor  a global allocation: row-major, the last dimension contiguous. It need not be a parameter.
//         role: in, out, inout. fill: normal (mean 0, sd 1), ints (-4..4; unsigned 0..8; u8 any byte), mod3 (i % 3),
//         zero, nan (every byte 0xFF: a NaN in every float type). Default: ints for in, nan for out and inout.
// arg     the kernel's parameters, in order:
//         NAME <dtype> VALUE                a scalar; a float may be given by its bits as 0x...
//         NAME buffer of=TENSOR [offset=B]  a pointer into the tensor, B bytes from its start
//         NAME tensormap <dtype> dims= strides= box= [estrides=] [swizzle=none|32B|64B|128B] [oob=zero|nan]
//              [l2=none|64B|128B|256B] of=TENSOR [offset=B]      by value, 128 bytes
//         NAME tensormap_ptr ...            the same, as a pointer to a map in global memory
//         NAME struct BYTES [data=HEX]      a structure by value: its bytes (zeros, or two digits a byte), and then
// part:   NAME OFFSET <any of the above>    what lies at byte OFFSET of structure NAME: a scalar, a pointer, a map
//         dims, box and estrides in elements, dimension 0 innermost; strides in bytes, of dimensions 1 and up.
// check   kept as text: an intended result by name (runtime/reference.h).
// Short forms of hand-written files: `arg: A buffer f16 4096 [values=mod3]` and a tensormap without of= declare a
// tensor of that name too. Its role follows the name: dst, out, c, o, mc are outputs that start as zeros; values=zero
// is inout; all others are inputs. Fails: an Error with the 1-based line for an unknown key, a missing or malformed
// field, an unknown tensor.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/dtype.h"
#include "runtime/expected.h"

namespace tc::runtime {

enum class Role : uint8_t { in, out, inout };
enum class Fill : uint8_t { normal, ints, mod3, zero, nan };
enum class Swizzle : uint8_t { none, b32, b64, b128 };
enum class OobFill : uint8_t { zero, nan };
enum class L2Promotion : uint8_t { none, b64, b128, b256 };

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return static_cast<uint64_t>(x) * y * z; }
  bool operator==(const Dim3&) const = default;
};

struct TensorSpec {
  std::string name;
  DType dtype = DType::f32;
  std::vector<uint64_t> shape;
  Role role = Role::in;
  Fill fill = Fill::ints;
  uint64_t seed = 0;
  uint64_t elements() const;
  uint64_t bytes() const { return elements() * row(dtype).bytes; }
  bool operator==(const TensorSpec&) const = default;
};

struct ScalarArg {
  DType dtype = DType::i32;
  uint64_t bits = 0;  // little endian, upper bytes zero
  bool operator==(const ScalarArg&) const = default;
};
struct BufferArg {
  std::string tensor;
  uint64_t offset_bytes = 0;
  bool operator==(const BufferArg&) const = default;
};
struct TensorMapArg {
  DType dtype = DType::f16;
  std::vector<uint64_t> dims, strides_bytes;  // strides: one fewer than dims
  std::vector<uint32_t> box, element_strides;
  Swizzle swizzle = Swizzle::none;
  OobFill oob = OobFill::zero;
  L2Promotion l2 = L2Promotion::none;
  std::string tensor;
  uint64_t offset_bytes = 0;
  bool by_pointer = false;
  // im2col: corners of the box of base pixels by spatial dimension (W first), channels and pixels of a copy. pixels 0:
  // tiled, else `box` is empty.
  std::vector<int32_t> lower, upper;
  uint32_t channels = 0, pixels = 0;
  bool operator==(const TensorMapArg&) const = default;
};
// A structure passed by value: plain bytes, with pointers and tensor maps at some places.
struct StructArg {
  struct Part {
    uint32_t offset = 0;
    std::variant<ScalarArg, BufferArg, TensorMapArg> value;
    bool operator==(const Part&) const = default;
  };
  std::vector<uint8_t> bytes;
  std::vector<Part> parts;
  bool operator==(const StructArg&) const = default;
};
struct Param {
  std::string name;
  std::variant<ScalarArg, BufferArg, TensorMapArg, StructArg> value;
  bool operator==(const Param&) const = default;
};

struct Manifest {
  std::string arch;  // "" = not stated
  std::string kernel;
  Dim3 grid, block, cluster;
  uint32_t smem_bytes = 0;
  std::vector<TensorSpec> tensors;
  std::vector<Param> params;
  std::vector<std::string> checks;
  const TensorSpec* tensor_named(std::string_view name) const;
  bool operator==(const Manifest&) const = default;
};

// A plain manifest: every line that is not blank and not a `#` comment must be an item.
Expected<Manifest> parse_manifest(std::string_view text);
// The `//` lines at the head of a source file, before its first line of code (`#include` and the like are none); comment
// lines that are no item are passed over.
Expected<Manifest> parse_manifest_header(std::string_view text);
// True where the leading `//` block has a `launch:` line.
bool has_manifest_header(std::string_view text);
// Adds one item ("arg: n i32 4") to a manifest, e.g. from a command line.
Done add_manifest_item(Manifest& manifest, std::string_view item);
std::string print_manifest(const Manifest& manifest);
// The same as comment lines for a source file.
std::string print_manifest_header(const Manifest& manifest);

std::string_view name_of(Swizzle s);
std::string_view name_of(Fill f);
std::string_view name_of(Role r);

}  // namespace tc::runtime
