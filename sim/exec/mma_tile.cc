#include "sim/exec/mma_tile.h"

#include <algorithm>
#include <cstring>

#include "sim/exec/collective.h"

namespace tc::sim {

void load_panels(Warp& w, const uint32_t* registers, Panels p, float* out) {
  const uint32_t width = 8 * kPanelBytes / p.bits, blocks = p.rows / 8;
  for (uint32_t r = 0; r < blocks * (p.columns / width); ++r) {
    const auto* bytes = w.reg<uint8_t>(registers[r]);
    float* to = out + (r % blocks) * 8 * p.columns + (r / blocks) * width;
    widen_panel(p.type, p.bits, bytes, to, p.columns);
  }
}

void load_b(Warp& w, const uint32_t* registers, MmaType type, uint32_t bits, uint32_t k, uint32_t n, float* out) {
  alignas(32) float columns[kMmaMaxB];
  load_panels(w, registers, {type, bits, n, k}, columns);
  for (uint32_t block = 0; block < n; block += 8) transpose8(columns + block * k, k, k, out + block, n);
}

void load_raw(Warp& w, const uint32_t* registers, uint32_t rows, uint32_t row_bytes, uint8_t* out) {
  const uint32_t blocks = rows / 8;
  for (uint32_t r = 0; r < blocks * (row_bytes / kPanelBytes); ++r)
    for (uint32_t g = 0; g < 8; ++g)
      std::memcpy(out + ((r % blocks) * 8 + g) * row_bytes + (r / blocks) * kPanelBytes,
                  w.reg<uint8_t>(registers[r]) + kPanelBytes * g, kPanelBytes);
}

void load_accumulators(Warp& w, const uint32_t* registers, bool half, uint32_t m, uint32_t n, float* out) {
  for (uint32_t b = 0; b < m / 8 * (n / 8); ++b) {
    float* to = out + b % (m / 8) * 8 * n + b / (m / 8) * 8;
    if (half) half_block_to_rows(w.reg<uint32_t>(registers[b]), to, n);
    else block_to_rows(w.reg<float>(registers[2 * b]), w.reg<float>(registers[2 * b + 1]), to, n);
  }
}

void store_accumulators(Warp& w, const uint32_t* registers, bool half, uint32_t m, uint32_t n, const float* rows) {
  for (uint32_t b = 0; b < m / 8 * (n / 8); ++b) {
    const float* from = rows + b % (m / 8) * 8 * n + b / (m / 8) * 8;
    if (half) rows_to_half_block(from, n, w.reg<uint32_t>(registers[b]));
    else rows_to_block(from, n, w.reg<float>(registers[2 * b]), w.reg<float>(registers[2 * b + 1]));
  }
}

void add_integers(Warp& w, const uint32_t* c, const uint32_t* d, uint32_t m, uint32_t n, const float* sums,
                  bool saturate) {
  for (uint32_t r = 0; r < m * n / 32; ++r) {
    const uint32_t b = r / 2;
    const float* from = sums + b % (m / 8) * 8 * n + b / (m / 8) * 8 + r % 2;
    const int32_t* old = w.reg<int32_t>(c[r]);
    int32_t* to = w.reg<int32_t>(d[r]);
    for (uint32_t l = 0; l < 32; ++l) {
      const int64_t sum = old[l] + static_cast<int64_t>(from[l / 4 * n + 2 * (l % 4)]);
      to[l] = static_cast<int32_t>(saturate ? std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX) : sum);
    }
  }
}

bool expand_sparse(const SparseForm& f, const uint32_t* metadata, const float* kept, float* full) {
  const uint32_t chunk = sparse_chunk(f.bits), chunks = f.k / chunk;
  std::fill(full, full + 16 * f.k, 0.0f);
  bool legal = true;
  for (uint32_t r = 0; r < 16; ++r)
    for (uint32_t x = 0; x < chunks; ++x) {
      const MetadataPlace at = sparse_metadata(chunks, f.bits <= 8, f.selector, r, x);
      const uint32_t nibble = metadata[at.lane] >> (4 * at.nibble) & 0xF, first = nibble & 3, second = nibble >> 2;
      const float* from = kept + r * f.k / 2 + x * chunk / 2;
      float* to = full + r * f.k + x * chunk;
      legal &= first < second || (first != second && !f.ordered);
      if (chunk == 2) {
        legal &= nibble == 0x4 || nibble == 0xE;
        to[first / 2] = from[0];
      } else if (chunk == 4) {
        to[first] = from[0], to[second] = from[1];
      } else {
        to[2 * first] = from[0], to[2 * first + 1] = from[1];
        to[2 * second] = from[2], to[2 * second + 1] = from[3];
      }
    }
  return legal;
}

bool whole_warp(Warp& w, const Insn& i, Step& step) {
  return require_converged(w, i, "MMA-19", step);
}

}  // namespace tc::sim
