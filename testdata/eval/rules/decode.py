# The order in which one CTA takes the tiles, as numbers: A[m, n] is the step at which tile (m, n) comes.
# T.Persistent(domain, wave, index, group): with g = clamp(group, 1, last extent) the digits of the tile's number are
# [ceil(last / g), first extents …, g], the last fastest; the last coordinate is digit 0 * g + the last digit.
# 3 x 4, g = 4: row by row. 2 x 4, g = 2: columns 0 1 of row 0, then of row 1, then columns 2 3.
# test: interp
# CHECK: wide = 0 1 2 3 4 5 6 7 8 9 10 11
# CHECK: pairs = 0 1 4 5 2 3 6 7
# The last group is thinner: 2 x 3, g = 2 has 8 numbers, of which 5 and 7 are outside.
# CHECK: thin = 0 1 4 2 3 6
import tilelang.language as T


@T.prim_func
def persistent(wide: T.Tensor((3, 4), "int32"), pairs: T.Tensor((2, 4), "int32"), thin: T.Tensor((2, 3), "int32")):
    with T.Kernel(1, threads=1) as bx:
        step = T.alloc_var("int32", 0)
        for m, n in T.Persistent([3, 4], 1, 0):
            wide[m, n] = step
            step += 1
        step = 0
        for m, n in T.Persistent([2, 4], 1, 0, group_size=2):
            pairs[m, n] = step
            step += 1
        for w in T.serial(8):
            # Two CTAs would take every other tile; here both shares, one after the other.
            for m, n in T.Persistent([2, 3], 8, w, 2):
                thin[m, n] = w


# PersistentTileScheduler: with column_major the rows go first: group = id // (rows * s), width = min(s, columns left),
# row = in group // width, column = group * s + in group % width. Without it rows and columns change places.
# 2 x 3 tiles, s = 2: columns 0 1 of row 0, of row 1, then column 2.
# CHECK: by_columns = 0 1 4 2 3 5
# 2 x 3, s = 2, by rows: all three columns of rows 0 1, row fastest.
# CHECK: by_rows = 0 2 4 1 3 5
# CHECK: plain = 0 2 4 1 3 5
@T.prim_func
def schedulers(by_columns: T.Tensor((2, 3), "int32"), by_rows: T.Tensor((2, 3), "int32"), plain: T.Tensor((2, 3), "int32")):
    with T.Kernel(1, threads=1) as bx:
        a = T.PersistentTileScheduler(2, 3, num_workers=1, swizzle_size=2)
        a.init(bx)
        while a.valid():
            by_columns[a.m_idx, a.n_idx] = a.current_iter
            a.next_tile()
        b = T.PersistentTileScheduler(2, 3, num_workers=1, swizzle_size=2, column_major=False)
        b.init(bx)
        while b.valid():
            by_rows[b.m_idx, b.n_idx] = b.linear_idx
            b.next_tile()
        c = T.PersistentTileScheduler(2, 3, num_workers=1, stateful=False)
        for i in T.serial(6):
            m, n = c.coord(i)
            plain[m, n] = i


# A scheduler of the program's own: diagonals. Row = number % 2, column = (number // 2 + row) % 3.
# CHECK: own = 0 2 4 5 1 3
@T.meta_class
class Diagonal(T.BaseTileScheduler):
    def __init__(self, rows, columns, name=None):
        super().__init__(name=name)
        self.rows = rows
        self.columns = columns
        self._total_tiles = rows * columns

    def update_current_idx(self, linear_idx):
        self._m_idx[0] = linear_idx % self.rows
        self._n_idx[0] = (linear_idx // self.rows + linear_idx % self.rows) % self.columns


@T.prim_func
def own_scheduler(own: T.Tensor((2, 3), "int32")):
    with T.Kernel(1, threads=1) as bx:
        tiles = Diagonal(2, 3, name="tiles")
        tiles.init(0)
        while tiles.valid():
            own[tiles.m_idx, tiles.n_idx] = tiles.current_iter
            tiles.next_tile(1)
