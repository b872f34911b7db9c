// Accelerations of 512 bodies under softened gravity, a tile of bodies at a time in shared memory.
// launch: kernel=nbody grid=4 block=128 smem=0
// tensor: in f32 shape=512,4 role=in fill=normal
// tensor: out f32 shape=512,4 role=out
// arg: in buffer of=in
// arg: out buffer of=out
// arg: n i32 512
extern "C" __global__ void nbody(const float4* in, float4* out, int n) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 me = in[i];
  float3 a = {0, 0, 0};
  for (int first = 0; first < n; first += blockDim.x) {
    tile[threadIdx.x] = in[first + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < blockDim.x; ++k) {
      const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
      const float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), s = tile[k].w * r * r * r;
      a.x += dx * s, a.y += dy * s, a.z += dz * s;
    }
    __syncthreads();
  }
  out[i] = make_float4(a.x, a.y, a.z, 0);
}
