# tilelang.cuda.intrinsics: the matrix instructions of a warp, their fragments, and the emitters that write the loops
# around them. Evaluated like a module of the user's the first time that a name of it is asked for.
#
# Fragments (PTX ISA 9.7.14.5, specs/mma.h). A register of the 32 lanes is a panel of eight rows of 16 bytes: lane
# 4 g + t holds 32 bits of row g. With b bits an element, w = 32 / b of them are in a register and e = 128 / b in a row:
#   A, register r: rows 8 (r % 2) + g, columns e (r // 2) + w t ...   16 bits: element 3 of lane 5 is row 9, column 3
#   B, register r: n = 8 (r // 2) + g, k = e (r % 2) + w t ...
#   C: two elements of a row side by side, blocks of 8 x 8 downwards first
# Names, parameters and defaults: tilelang/cuda/intrinsics of release 0.1.15.
import tilelang.language as T
from tilelang.cuda.intrinsics import _region_parts


# ---------------------------------------------------------------- places of elements in fragments
def _lane_holds_a(bits):
    w, e = 32 // bits, 128 // bits
    return lambda thread_id, local_id: (
        thread_id // 4 + 8 * (local_id // w % 2),
        e * (local_id // (2 * w)) + (thread_id % 4) * w + local_id % w,
    )


def _lane_holds_b(bits):
    w, e = 32 // bits, 128 // bits
    return lambda thread_id, local_id: (
        thread_id // 4 + 8 * (local_id // (2 * w)),
        e * (local_id // w % 2) + (thread_id % 4) * w + local_id % w,
    )


def _a_is_held_by(bits):
    w, e = 32 // bits, 128 // bits
    return lambda i, j: (4 * (i % 8) + j % e // w, w * (2 * (j // e) + i // 8) + j % w)


def _b_is_held_by(bits):
    w, e = 32 // bits, 128 // bits
    return lambda i, j: (4 * (i % 8) + j % e // w, w * (2 * (i // 8) + j // e) + j % w)


def _swapped(place):
    return lambda i, j: place(j, i)


# The first element of the row of 16 bytes that a lane names to ldmatrix: matrices downwards, or rightwards, first.
def _rows_downwards(bits):
    return lambda thread_id, local_id=0: (thread_id % 16, 128 // bits * (thread_id // 16) + local_id % (128 // bits))


def _rows_rightwards(bits):
    return lambda thread_id, local_id=0: (
        8 * (thread_id // 16) + thread_id % 8,
        128 // bits * (thread_id % 16 // 8) + local_id % (128 // bits),
    )


mma_load_a_32x4_to_shared_16x8_layout = _lane_holds_a(32)
mma_load_a_32x8_to_shared_16x16_layout = _lane_holds_a(16)
mma_load_a_32x16_to_shared_16x32_layout = _lane_holds_a(8)
mma_load_b_32x4_to_shared_16x8_layout = _lane_holds_b(32)
mma_load_b_32x8_to_shared_16x16_layout = _lane_holds_b(16)
mma_load_b_32x16_to_shared_16x32_layout = _lane_holds_b(8)
shared_16x8_to_mma_a_32x4_layout = shared_16x8_to_mma_32x4_layout_sr_a = _a_is_held_by(32)
shared_16x16_to_mma_a_32x8_layout = shared_16x16_to_mma_32x8_layout_sr_a = _a_is_held_by(16)
shared_16x32_to_mma_a_32x16_layout = shared_16x32_to_mma_32x16_layout_sr_a = _a_is_held_by(8)
shared_16x64_to_mma_a_32x32_layout = shared_16x64_to_mma_32x32_layout_sr_a = lambda i, j: (
    4 * (i % 8) + j % 32 // 8,
    16 * (i // 8) + 8 * (j // 32) + j % 8,
)
shared_16x8_to_mma_b_32x4_layout = shared_16x8_to_mma_32x4_layout_sr_b = _b_is_held_by(32)
shared_16x16_to_mma_b_32x8_layout = shared_16x16_to_mma_32x8_layout_sr_b = _b_is_held_by(16)
shared_16x32_to_mma_b_32x16_layout = shared_16x32_to_mma_32x16_layout_sr_b = _b_is_held_by(8)
shared_8x64_to_mma_b_32x16_layout = shared_8x64_to_mma_32x16_layout_sr_b = lambda i, j: (
    4 * i + j % 32 // 8,
    8 * (j // 32) + j % 8,
)
shared_16x8_to_mma_a_32x4_layout_trans = shared_16x8_to_mma_32x4_layout_rs_a = _swapped(_a_is_held_by(32))
shared_16x16_to_mma_a_32x8_layout_trans = shared_16x16_to_mma_32x8_layout_rs_a = _swapped(_a_is_held_by(16))
shared_32x16_to_mma_a_32x16_layout_trans = shared_16x32_to_mma_32x16_layout_rs_a = _swapped(_a_is_held_by(8))
shared_16x8_to_mma_b_32x4_layout_trans = shared_16x8_to_mma_32x4_layout_rs_b = _swapped(_b_is_held_by(32))
shared_16x16_to_mma_b_32x8_layout_trans = shared_16x16_to_mma_32x8_layout_rs_b = _swapped(_b_is_held_by(16))
shared_32x16_to_mma_b_32x16_layout_trans = shared_16x32_to_mma_32x16_layout_rs_b = _swapped(_b_is_held_by(8))
shared_16x16_to_mma_32x8_layout = _a_is_held_by(16)
shared_16x32_to_mma_32x16_layout = _a_is_held_by(8)
shared_16x16_to_mma_32x8_smoothlayout = lambda i, j: (2 * i + j // 8, j % 8)
shared_16x32_to_mma_32x16_smoothlayout = lambda i, j: (2 * i + j // 16, j % 16)
shared_32x16_to_mma_32x16_smoothlayout = lambda i, j: (2 * i + j // 16, j % 16)
ldmatrix_32x4_to_shared_16x8_layout_a = _rows_downwards(32)
ldmatrix_32x4_to_shared_16x8_layout_b = _rows_rightwards(32)
ldmatrix_32x8_to_shared_16x16_layout = _rows_downwards(16)
ldmatrix_trans_32x8_to_shared_16x16_layout = _rows_rightwards(16)
ldmatrix_32x16_to_shared_16x32_layout_a = _rows_downwards(8)
ldmatrix_32x16_to_shared_16x32_layout_b = _rows_rightwards(8)


def mma_store_index_map(thread_id, local_id):
    return (
        8 * (local_id % 4 // 2) + thread_id // 4,
        8 * (local_id // 4) + (thread_id % 4) * 2 + local_id % 2,
    )


def mma_store_index_map_fp64(thread_id, local_id):
    return thread_id // 4, (thread_id % 4) * 2 + local_id


mma_32x8_to_shared_16x16_layout = mma_store_32x8_to_shared_16x16_layout = mma_store_index_map
mma_store_32x2_to_shared_8x8_layout_fp64 = mma_store_index_map_fp64


def get_ldmatrix_offset(matrix, row_idx, col_idx, stride, dtype="float16", transposed=False):
    assert matrix in ["A", "B"], f"the matrix is 'A' or 'B', not {matrix}"
    bits = T.dtype(dtype).bits
    assert bits <= 32, f"ldmatrix cannot load {dtype}"
    assert bits == 16 or transposed == (matrix == "B"), (
        "of elements that have not 16 bits, ldmatrix loads A not transposed and B transposed"
    )
    place = _rows_rightwards(bits) if transposed else _rows_downwards(bits)
    return place(row_idx, col_idx)


def get_mma_micro_size(dtype):
    return 16, 16, 32 if dtype in ["float8_e4m3", "float8_e5m2", "int8"] else 16


# Pieces of 16 bytes, exchanged inside a row by the row's number: (tile of columns, row, column in the tile).
def get_swizzle_layout(row_idx, col_idx, row_size, dtype, swizzle_bytes=None):
    bits = T.dtype(dtype).bits
    row_bytes = bits * row_size // 8
    assert row_bytes % 32 == 0, f"a row has to be a multiple of 32 bytes, not {row_bytes}"
    pieces = (min(128, row_bytes) if swizzle_bytes is None else int(swizzle_bytes)) // 16
    e = 128 // bits
    piece = col_idx // e
    return (
        piece // pieces,
        row_idx,
        ((piece % pieces) ^ (row_idx % 8 // (8 // pieces))) * e + col_idx % e,
    )


# ---------------------------------------------------------------- emitters
class TransformKind:
    NonTransform = 0
    InterWarpTransform = 1
    IntraWarpTransform = 2
    LDMatrixTransform = 3


# The instruction's name of an element type.
_SHORT_NAMES = {
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
    "int4": "int4",
    "int8": "int8",
    "uint8": "uint8",
    "int32": "int32",
    "float8_e4m3": "e4m3",
    "float8_e4m3fn": "e4m3",
    "float8_e4m3fnuz": "e4m3",
    "float8_e5m2": "e5m2",
    "float8_e5m2fnuz": "e5m2",
    "float6_e2m3fn": "e2m3",
    "float6_e3m2fn": "e3m2",
    "float4_e2m1fn": "e2m1",
    "float4_e2m1_unpacked": "e2m1",
    "tfloat32": "tf32",
}


class TensorCoreIntrinEmitter:
    M_DIM = 16
    n_dim = 16
    WARP_SIZE = 32
    is_m_first = False

    def __init__(
        self,
        a_dtype="float16",
        b_dtype="float16",
        accum_dtype="float16",
        a_transposed=False,
        b_transposed=False,
        block_row_warps=2,
        block_col_warps=2,
        warp_row_tiles=8,
        warp_col_tiles=8,
        chunk=16,
        reduce_k=1,
        num_elems_per_byte=1,
        is_m_first=False,
        thread_var=None,
    ):
        self.a_dtype = a_dtype
        self.b_dtype = b_dtype
        self.accum_dtype = accum_dtype
        self.a_transposed = a_transposed
        self.b_transposed = b_transposed
        self.block_row_warps = block_row_warps
        self.block_col_warps = block_col_warps
        self.warp_row_tiles = warp_row_tiles
        self.warp_col_tiles = warp_col_tiles
        self.chunk = chunk
        self.reduce_k = reduce_k
        self.num_elems_per_byte = num_elems_per_byte
        self.thread_var = thread_var
        self.threads = 32 * block_row_warps * block_col_warps * reduce_k
        if is_m_first is not None:
            self.is_m_first = is_m_first
        self._choose_instruction()
        self.micro_size_x = self.M_DIM
        self.micro_size_y = self.n_dim
        self.micro_size_k = self.k_dim
        self.local_size_a = self.M_DIM * self.k_dim // 32
        self.local_size_b = self.n_dim * self.k_dim // 32
        self.local_size_out = self.M_DIM * self.n_dim // 32
        self.warp_rows = warp_row_tiles // self.micro_size_x
        self.warp_cols = warp_col_tiles // self.micro_size_y
        if self.warp_rows == 0 or self.warp_cols == 0:
            raise ValueError(
                f"a warp's tile of {warp_row_tiles} x {warp_col_tiles} is smaller than an instruction's of "
                f"{self.micro_size_x} x {self.micro_size_y}"
            )
        self.accum_dtype_abbrv = self._short_name(accum_dtype)
        self.a_dtype_abbrv = self._operand_name(a_dtype)
        self.b_dtype_abbrv = self._operand_name(b_dtype)

    def _choose_instruction(self):
        bits = T.dtype(self.a_dtype).bits
        self.k_dim = min(256 // bits, self.chunk)
        assert self.k_dim in [4, 8, 16, 32, 64, 128, 256], f"no instruction has k = {self.k_dim}"
        self.mma_prefix = f"m16n8k{self.k_dim}"
        if self.k_dim == 4:
            assert bits == 64, "only float64 has instructions of k = 4"
            self.M_DIM = 8
            self.n_dim = 8
            self.mma_prefix = "m8n8k4"
            return
        m, n = self.warp_row_tiles, self.warp_col_tiles
        assert m >= 16 and m % 16 == 0, f"warp_row_tiles is a multiple of 16, not {m}"
        assert n >= 8 and n % 8 == 0, f"warp_col_tiles is a multiple of 8, not {n}"
        self.n_dim = 16 if self.warp_col_tiles % 16 == 0 else 8

    def _short_name(self, dtype):
        name = str(T.dtype(dtype))
        if name not in _SHORT_NAMES:
            raise ValueError(f"no matrix instruction takes {name}")
        return _SHORT_NAMES[name]

    # float32 summed in float32 is multiplied as tf32.
    def _operand_name(self, dtype):
        name = self._short_name(dtype)
        return "tf32" if name == "fp32" and self.accum_dtype_abbrv == "fp32" else name

    @property
    def mma_num_inst_m(self):
        return self.warp_rows

    @property
    def mma_num_inst_n(self):
        return self.warp_cols

    def get_thread_binding(self):
        return T.get_thread_binding() if self.thread_var is None else self.thread_var

    # Lane, and the warp's place along n and m.
    def extract_thread_binding(self, thread_id, is_m_first=None):
        m_first = self.is_m_first if is_m_first is None else is_m_first
        lane, along_m, along_n = thread_id % 32, self.block_row_warps, self.block_col_warps
        if m_first:
            return lane, thread_id // 32 % along_n, thread_id // (32 * along_n) % along_m
        return lane, thread_id // (32 * along_m) % along_n, thread_id // 32 % along_m

    # ---- operands from shared memory
    @T.macro
    def ldmatrix_a(self, A_local_buf, A_shared_buf, ki, rk=0):
        lane, _, warp_m = self.extract_thread_binding(self.get_thread_binding())
        row = warp_m * self.warp_row_tiles
        size = self.local_size_a
        k = rk * self.chunk + ki * self.micro_size_k
        count, rows = self.warp_rows, self.micro_size_x
        self._load("A", self.a_dtype, A_local_buf, A_shared_buf, lane, row, k, count, rows, size)

    @T.macro
    def ldmatrix_b(self, B_local_buf, B_shared_buf, ki, rk=0):
        lane, warp_n, _ = self.extract_thread_binding(self.get_thread_binding())
        row = warp_n * self.warp_col_tiles
        size = self.local_size_b
        k = rk * self.chunk + ki * self.micro_size_k
        count, rows = self.warp_cols, self.micro_size_y
        self._load("B", self.b_dtype, B_local_buf, B_shared_buf, lane, row, k, count, rows, size)

    # `count` fragments of one operand, whose first row (of m or n) and first k are given.
    @T.macro
    def _load(self, matrix, dtype, local, shared, lane, first, k, count, rows, size):
        bits = T.dtype(dtype).bits
        transposed = self.a_transposed if matrix == "A" else self.b_transposed
        k_is_last = transposed == (matrix == "B")
        buffer, base = _region_parts(shared)
        outer = base[:-2]
        stride = buffer.shape[-1]
        registers = 4 if rows == 16 else 2
        if bits == 64:
            for i in T.serial(count):
                r = first + i * rows + lane // 4
                c = k + lane % 4
                if k_is_last:
                    local[i * size] = buffer[outer + (base[-2] + r, base[-1] + c)]
                else:
                    local[i * size] = buffer[outer + (base[-2] + c, base[-1] + r)]
        elif bits == 16 or k_is_last:
            for i in T.unroll(count):
                row_off, col_off = get_ldmatrix_offset(matrix, lane, 0, stride, dtype, transposed)
                at = (base[-2] + first + i * rows + row_off, base[-1] + k + col_off)
                if not k_is_last:
                    at = (base[-2] + k + row_off, base[-1] + first + i * rows + col_off)
                T.ptx_ldmatrix(
                    not k_is_last,
                    registers,
                    T.access_ptr(buffer[outer + at], "r", extent=2 * registers),
                    T.access_ptr(local[i * size], "w", extent=2 * registers),
                )
        else:
            place = _lane_holds_a(bits) if matrix == "A" else _lane_holds_b(bits)
            for i in T.unroll(count):
                for j in T.serial(size):
                    r, c = place(lane, j)
                    local[i * size + j] = buffer[outer + (base[-2] + k + c, base[-1] + first + i * rows + r)]

    # ---- products
    @T.macro
    def mma(self, A_local_buf, B_local_buf, C_local_buf, k_inner=0):
        for i, j in T.grid(self.warp_rows, self.warp_cols):
            self.mma_atom(A_local_buf, B_local_buf, C_local_buf, i, j, k_inner)

    @T.macro
    def mma_atom(self, A_local_buf, B_local_buf, C_local_buf, inst_m_idx, inst_n_idx, k_inner=0):
        a = inst_m_idx * self.local_size_a
        b = inst_n_idx * self.local_size_b
        if A_local_buf.scope() == "local.fragment":
            a = k_inner * self.warp_rows * self.local_size_a + a
        if B_local_buf.scope() == "local.fragment":
            b = k_inner * self.warp_cols * self.local_size_b + b
        c = inst_m_idx * self.warp_cols * self.local_size_out + inst_n_idx * self.local_size_out
        self._product(A_local_buf, B_local_buf, C_local_buf, a, b, c)
        if self.n_dim == 16:
            b, c = b + self.local_size_b // 2, c + self.local_size_out // 2
            self._product(A_local_buf, B_local_buf, C_local_buf, a, b, c)

    @T.macro
    def _product(self, A_local_buf, B_local_buf, C_local_buf, a, b, c):
        T.ptx_mma(
            self.accum_dtype,
            self.mma_prefix,
            "row",
            "col",
            self.a_dtype_abbrv,
            self.b_dtype_abbrv,
            self.accum_dtype_abbrv,
            A_local_buf.data,
            a,
            B_local_buf.data,
            b,
            C_local_buf.data,
            c,
            False,
        )

    # ---- results
    def _store_place(self):
        small = T.dtype(self.accum_dtype).bits == 64 or self.local_size_out == 2
        return mma_store_index_map_fp64 if small else mma_store_index_map

    @T.macro
    def stmatrix(self, C_local_buf, C_buf, pid_m=None, pid_n=None):
        rank = len(C_buf.shape)
        assert rank in [2, 4], f"the matrix that the warps store to has 2 or 4 dimensions, not {rank}"
        lane, warp_n, warp_m = self.extract_thread_binding(self.get_thread_binding())
        for i, j in T.grid(self.warp_rows, self.warp_cols):
            for pair in T.serial(self.local_size_out // 2):
                for k in T.vectorized(2):
                    row, col = self._store_place()(lane, pair * 2 + k)
                    block_m = warp_m * self.warp_rows + i
                    block_n = warp_n * self.warp_cols + j
                    at = i * (self.warp_cols * self.local_size_out) + j * self.local_size_out + (pair * 2 + k)
                    if pid_m is not None and pid_n is not None:
                        rows = (pid_m * (self.block_row_warps * self.warp_rows) + block_m) * self.M_DIM + row
                        cols = (pid_n * (self.block_col_warps * self.warp_cols) + block_n) * self.n_dim + col
                        C_buf[rows, cols] = C_local_buf[at]
                    elif rank == 2:
                        C_buf[block_m * self.M_DIM + row, block_n * self.n_dim + col] = C_local_buf[at]
                    else:
                        C_buf[block_m, block_n, row, col] = C_local_buf[at]

    # ---- layouts of fragments
    # The operand's tile over all warps: a warp's instructions first, warps of the other direction hold copies.
    def make_mma_load_layout(self, local_buf, matrix="A"):
        assert matrix in ["A", "B"], f"the matrix is 'A' or 'B', not {matrix}"
        assert local_buf.scope() == "local.fragment", f"{local_buf.name} is no fragment"
        is_a = matrix == "A"
        transposed = self.a_transposed if is_a else self.b_transposed
        bits = T.dtype(self.a_dtype if is_a else self.b_dtype).bits
        held_by = _a_is_held_by(bits) if is_a else _b_is_held_by(bits)
        rows = self.micro_size_x if is_a else self.micro_size_y
        depth = self.micro_size_k
        warp = self.warp_rows if is_a else self.warp_cols
        warps = self.block_row_warps if is_a else self.block_col_warps
        copies = self.block_col_warps if is_a else self.block_row_warps
        steps = self.chunk // depth
        size = rows * depth // 32
        k_is_last = transposed == (not is_a)
        # Of A the warps along m are neighbours, then come the copies; of B the copies are neighbours.
        warp_step, copy_step = (32, 32 * warps) if is_a else (32 * copies, 32)

        def thread(i, j, rep=0):
            s, r = (i, j) if k_is_last else (j, i)
            lane, _ = held_by(s % rows, r % depth)
            return lane + warp_step * (s // (rows * warp)) + copy_step * rep

        def index(i, j):
            s, r = (i, j) if k_is_last else (j, i)
            _, local = held_by(s % rows, r % depth)
            fragment = (r // depth) * warp + s // rows % warp
            return fragment * size + local

        shape = [rows * warp * warps, depth * steps]
        if not k_is_last:
            shape = [shape[1], shape[0]]
        return T.Fragment(shape, forward_thread_fn=thread, forward_index_fn=index, replicate=copies)

    def make_mma_store_layout(self, local_buf):
        assert local_buf.scope() == "local.fragment", f"{local_buf.name} is no fragment"

        def thread(i, j):
            row, col = i % self.micro_size_x, j % self.micro_size_y
            lane = 4 * (row % 8) + col % 8 // 2
            block_i, block_j = i // self.micro_size_x // self.warp_rows, j // self.micro_size_y // self.warp_cols
            if self.is_m_first:
                return block_i * (self.block_col_warps * self.warp_cols) + block_j * 32 + lane
            return block_j * (self.block_row_warps * 32) + block_i * 32 + lane

        def index(i, j):
            row, col = i % self.micro_size_x, j % self.micro_size_y
            local = 4 * (col // 8) + 2 * (row // 8) + col % 2
            warp_i, warp_j = i // self.micro_size_x % self.warp_rows, j // self.micro_size_y % self.warp_cols
            return warp_i * (self.warp_cols * self.local_size_out) + warp_j * self.local_size_out + local

        return T.Fragment(local_buf.shape, forward_thread_fn=thread, forward_index_fn=index)


# Operands that lie in shared memory as the instruction wants them (bitblas, Ladder).
class TensorCoreIntrinEmitterWithLadderTransform(TensorCoreIntrinEmitter):
    def __init__(
        self,
        a_dtype="float16",
        b_dtype="float16",
        accum_dtype="float16",
        a_transposed=False,
        b_transposed=False,
        block_row_warps=2,
        block_col_warps=2,
        warp_row_tiles=8,
        warp_col_tiles=8,
        chunk=16,
        reduce_k=1,
        num_elems_per_byte=1,
        is_m_first=False,
        transform_kind_a=0,
        transform_kind_b=0,
    ):
        super().__init__(
            a_dtype=a_dtype,
            b_dtype=b_dtype,
            accum_dtype=accum_dtype,
            a_transposed=a_transposed,
            b_transposed=b_transposed,
            block_row_warps=block_row_warps,
            block_col_warps=block_col_warps,
            warp_row_tiles=warp_row_tiles,
            warp_col_tiles=warp_col_tiles,
            chunk=chunk,
            reduce_k=reduce_k,
            num_elems_per_byte=num_elems_per_byte,
            is_m_first=is_m_first,
        )
        for kind in (transform_kind_a, transform_kind_b):
            assert kind in [0, 1, 2, 3], f"a kind of transform is 0, 1, 2 or 3, not {kind}"
        self.transform_kind_a = transform_kind_a
        self.transform_kind_b = transform_kind_b

    # Always the largest instruction, of 16 columns of B.
    def _choose_instruction(self):
        self.k_dim = 256 // T.dtype(self.a_dtype).bits
        assert self.k_dim in [16, 32], f"no transformed operands of {self.a_dtype}"
        self.mma_prefix = f"m16n8k{self.k_dim}"

    @T.macro
    def ldmatrix_a(self, A_local_buf, A_shared_buf, ki, rk=0):
        lane, _, warp_m = self.extract_thread_binding(self.get_thread_binding())
        sizes = (self.warp_rows, self.warp_row_tiles, self.micro_size_x, self.local_size_a, 1)
        self._transformed("A", self.transform_kind_a, A_local_buf, A_shared_buf, lane, warp_m, ki, rk, *sizes)

    @T.macro
    def ldmatrix_b(self, B_local_buf, B_shared_buf, ki, rk=0):
        lane, warp_n, _ = self.extract_thread_binding(self.get_thread_binding())
        sizes = (self.warp_cols, self.warp_col_tiles, self.micro_size_y, self.local_size_b, self.num_elems_per_byte)
        self._transformed("B", self.transform_kind_b, B_local_buf, B_shared_buf, lane, warp_n, ki, rk, *sizes)

    @T.macro
    def _transformed(self, matrix, kind, local, shared, lane, warp, ki, rk, count, tiles, rows, size, packed):
        dtype = self.a_dtype if matrix == "A" else self.b_dtype
        transposed = self.a_transposed if matrix == "A" else self.b_transposed
        depth = self.micro_size_k
        stride = shared.shape[-1]
        if kind == TransformKind.LDMatrixTransform:
            held = size // packed
            width = depth // packed
            for j in T.serial(count):
                for v in T.vectorized(held):
                    at = lane * held + v
                    tile = (warp * count + j, rk * (self.chunk // depth) + ki)
                    local[j * held + v] = shared[tile + (at // width, at % width)]
        else:
            for j in T.serial(count):
                ri = warp * tiles + j * rows
                rj = rk * self.chunk + ki * depth
                row_off, col_off = get_ldmatrix_offset(matrix, lane, 0, stride, dtype, transposed)
                if kind == TransformKind.IntraWarpTransform:
                    row_off = lane * size // stride
                    col_off = lane * size % stride
                at = (ri + row_off, rj + col_off)
                if kind != TransformKind.NonTransform:
                    at = (ri // rows, rj // depth, ri % rows + row_off, rj % depth + col_off)
                T.ptx_ldmatrix(
                    False,
                    4,
                    T.access_ptr(shared[at], "r", extent=8),
                    T.access_ptr(local[j * size], "w", extent=8),
                )
