# tilelang.language.tile_schedule: which tile a persistent CTA works on. Evaluated like a module of the user's the first
# time that one of its names is asked for; classes of the program may derive from both.
#
# A scheduler counts tiles by one number and decodes it to a row m and a column n. PersistentTileScheduler takes a panel
# of `swizzle_size` columns (rows, unless column_major) after the other; inside of a panel the slow axis has the panel's
# width and changes first:
#   2 x 3 tiles, swizzle_size 2:  0 1 4
#                                 2 3 5
# Clusters of CTAs are counted, not CTAs: with cluster_size 2 a row of the schedule is two rows of tiles.
# Names, parameters and defaults: release 0.1.15.
import tilelang.language as T
from tilelang.language import _named, _sm_count


@T.meta_class
class BaseTileScheduler:
    # With state: where this CTA is. Derived classes decode in update_current_idx and set _total_tiles.
    def __init__(self, stateful=True, name=None):
        self._stateful = stateful
        self._total_tiles = 0
        if stateful:
            self._m_idx = _variable(name, "m_idx")
            self._n_idx = _variable(name, "n_idx")
            self._linear_idx = _variable(name, "linear_idx")
            self._current_iter = _variable(name, "current_iter")

    @property
    def m_idx(self):
        return self._m_idx[0]

    @property
    def n_idx(self):
        return self._n_idx[0]

    @property
    def linear_idx(self):
        return self._linear_idx[0]

    @property
    def current_iter(self):
        return self._current_iter[0]

    def update_current_idx(self, linear_idx):
        raise NotImplementedError("a tile scheduler defines update_current_idx")

    def init(self, linear_init):
        self._current_iter[0] = 0
        self._linear_idx[0] = linear_init
        self.update_current_idx(self._linear_idx[0])

    def next_tile(self, step):
        self._current_iter[0] += 1
        self._linear_idx[0] += step
        self.update_current_idx(self._linear_idx[0])

    def valid(self):
        return self._linear_idx[0] < self._total_tiles


def _variable(prefix, name):
    v = T.alloc_local((1,), "int32", scope="local.var")
    return _named(v, name if prefix is None else prefix + "_" + name)


@T.meta_class
class PersistentTileScheduler(BaseTileScheduler):
    def __init__(
        self,
        num_m_tiles,
        num_n_tiles,
        num_workers=None,
        swizzle_size=1,
        column_major=True,
        cluster_size=1,
        stateful=True,
        name=None,
    ):
        super().__init__(stateful=stateful, name=name)
        rows = T.ceildiv(num_m_tiles, cluster_size)
        self.cluster_size = cluster_size
        self.swizzle_size = swizzle_size
        self.num_workers = _sm_count() // cluster_size if num_workers is None else num_workers
        self._column_major = column_major
        self._fast_extent, self._slow_extent = (rows, num_n_tiles) if column_major else (num_n_tiles, rows)
        self._total_tiles = rows * num_n_tiles

    def coord(self, tile_id):
        panel = self._fast_extent * self.swizzle_size
        first = tile_id // panel * self.swizzle_size
        # The last panel may be thinner; a number behind all tiles still divides by 1.
        width = T.max(1, T.min(self.swizzle_size, self._slow_extent - first))
        inside = tile_id - tile_id // panel * panel
        fast, slow = inside // width, first + inside % width
        return (fast, slow) if self._column_major else (slow, fast)

    def update_current_idx(self, linear_idx):
        m, n = self.coord(linear_idx)
        self._m_idx[0] = m
        self._n_idx[0] = n

    def init(self, worker_id):
        super().init(worker_id)

    def next_tile(self):
        super().next_tile(self.num_workers)
