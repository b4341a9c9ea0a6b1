// What Hopper adds, as functions: barriers in shared memory, the copy engine (TMA), the tensor cores (WGMMA).
// Names and operands: PTX ISA 8.x, "Parallel synchronization", "Data movement", "Asynchronous warpgroup-level MMA".
#pragma once

using u32 = unsigned int;
using u64 = unsigned long long;

// A tensor map as the driver made it: how the copy engine finds boxes of a tensor.
struct alignas(64) TensorMap {
    u64 words[16];
};

__device__ __forceinline__ u32 smem_address(const void* pointer) {
    return static_cast<u32>(__cvta_generic_to_shared(pointer));
}

// ---- barriers in shared memory, named by their address

__device__ __forceinline__ void barrier_init(u32 barrier, u32 arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

// The barriers made so far are seen by the whole cluster and by the copy engine.
__device__ __forceinline__ void barriers_ready() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_arrive(u32 barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// The barrier at the same address in another thread block of the cluster.
__device__ __forceinline__ void barrier_arrive_at(u32 barrier, u32 thread_block) {
    asm volatile(
        "{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;"
        " mbarrier.arrive.shared::cluster.b64 _, [there]; }" ::"r"(barrier),
        "r"(thread_block)
        : "memory");
}

__device__ __forceinline__ void barrier_wait(u32 barrier, u32 parity) {
    asm volatile(
        "{ .reg .pred done;\n"
        "AGAIN: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra DONE;\n"
        "bra AGAIN;\n"
        "DONE: }" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

// ---- named barriers of the thread block

__device__ __forceinline__ void named_wait(u32 number, u32 threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

__device__ __forceinline__ void named_arrive(u32 number, u32 threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory");
}

// Whether `value` is so for all threads that meet.
__device__ __forceinline__ bool named_all(u32 number, u32 threads, bool value) {
    u32 all;
    asm volatile(
        "{ .reg .pred mine, all; setp.ne.u32 mine, %3, 0; barrier.cta.red.and.pred all, %1, %2, mine;"
        " selp.u32 %0, 1, 0, all; }"
        : "=r"(all)
        : "r"(number), "r"(threads), "r"(u32(value))
        : "memory");
    return all;
}

// ---- clusters

__device__ __forceinline__ u32 rank_in_cluster() {
    u32 rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_meet() {
    asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// ---- the copy engine: one box of a rank-5 tensor, hbm → smem, bytes counted by a barrier

__device__ __forceinline__ void tma_load(u32 smem, const TensorMap& map, u32 barrier, int row, int chunk, int head,
                                         int batch) {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes"
        " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(smem),
        "l"(&map), "r"(barrier), "r"(0), "r"(row), "r"(chunk), "r"(head), "r"(batch)
        : "memory");
}

// The same to the same place in both thread blocks of a cluster of two; each one's barrier counts.
__device__ __forceinline__ void tma_load_both(u32 smem, const TensorMap& map, u32 barrier, int row, int chunk, int head,
                                              int batch) {
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
        " [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(smem),
        "l"(&map), "r"(barrier), "r"(0), "r"(row), "r"(chunk), "r"(head), "r"(batch), "h"((unsigned short)3)
        : "memory");
}

// The box comes into the L2 cache only.
__device__ __forceinline__ void tma_prefetch(const TensorMap& map, int row, int chunk, int head, int batch) {
    asm volatile("cp.async.bulk.prefetch.tensor.5d.L2.global [%0, {%1, %2, %3, %4, %5}];" ::"l"(&map), "r"(0), "r"(row),
                 "r"(chunk), "r"(head), "r"(batch)
                 : "memory");
}

// `bytes` that lie one after the other, a multiple of 16.
__device__ __forceinline__ void bulk_load(u32 smem, const void* from, u32 bytes, u32 barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(smem),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}

// ---- shared memory and sums in memory

// What this thread wrote to shared memory is seen by the tensor cores and the copy engine.
__device__ __forceinline__ void writes_seen() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Four 8 × 8 matrices as a product leaves them, turned: lane 8 i + j says where column j of matrix i goes, 16 bytes.
__device__ __forceinline__ void store_turned(u32 smem, u32 a, u32 b, u32 c, u32 d) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(smem), "r"(a), "r"(b),
                 "r"(c), "r"(d)
                 : "memory");
}

// Four 8 × 8 matrices of 16-bit numbers as a product takes its left operand: lane 8 i + j says where row j of matrix i
// lies, 16 bytes.
__device__ __forceinline__ void load_rows(u32 smem, u32& a, u32& b, u32& c, u32& d) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(smem)
                 : "memory");
}

__device__ __forceinline__ float2 load_two(u32 smem) {
    float2 both;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(both.x), "=f"(both.y) : "r"(smem));
    return both;
}

// A record of words goes to shared memory, or comes from there.
template <class T>
__device__ __forceinline__ void store_words(u32 smem, const T& record) {
    static_assert(sizeof(T) % 4 == 0);
    u32 words[sizeof(T) / 4];
    memcpy(words, &record, sizeof(T));
#pragma unroll
    for (int i = 0; i < int(sizeof(T) / 4); ++i)
        asm volatile("st.shared.u32 [%0], %1;" ::"r"(smem + 4 * i), "r"(words[i]) : "memory");
}

template <class T>
__device__ __forceinline__ T load_words(u32 smem) {
    static_assert(sizeof(T) % 4 == 0);
    u32 words[sizeof(T) / 4];
#pragma unroll
    for (int i = 0; i < int(sizeof(T) / 4); ++i)
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(words[i]) : "r"(smem + 4 * i) : "memory");
    T record;
    memcpy(&record, words, sizeof(T));
    return record;
}

// Counts one up in memory, whoever else does; what it was before.
__device__ __forceinline__ int add_one(int* counter) { return atomicAdd(counter, 1); }

// Adds four numbers to a sum in memory, in any order with others.
__device__ __forceinline__ void add_four(float* sum, float a, float b, float c, float d) {
    asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(sum), "f"(a), "f"(b), "f"(c), "f"(d)
                 : "memory");
}

// ---- the tensor cores

// Where a matrix lies in shared memory, rows of 128 bytes in the swizzle the copy engine wrote them in. `step`: bytes
// from one group of eight rows to the next; `chunk`: bytes from one column of 128-byte rows to the next.
__device__ __forceinline__ u64 matrix(u32 smem, u32 chunk, u32 step) {
    return u64((smem & 0x3FFFF) >> 4) | u64(chunk >> 4) << 16 | u64(step >> 4) << 32 | 1ull << 62;
}

// The same for rows of 64 bytes, in the swizzle of 64.
__device__ __forceinline__ u64 matrix_of_halves(u32 smem, u32 step) {
    return u64((smem & 0x3FFFF) >> 4) | u64(step >> 4) << 32 | 2ull << 62;
}

__device__ __forceinline__ void wgmma_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

template <int STILL_RUNNING>
__device__ __forceinline__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(STILL_RUNNING) : "memory");
}

// Keeps the compiler from moving an accumulator while the tensor cores may be writing to it.
template <int N>
__device__ __forceinline__ void pin(float (&registers)[N]) {
#pragma unroll
    for (int i = 0; i < N; ++i) asm volatile("" : "+f"(registers[i])::"memory");
}

template <u32 COUNT>
__device__ __forceinline__ void registers_up() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

template <u32 COUNT>
__device__ __forceinline__ void registers_down() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// Writes 0 to shared memory if one of the numbers is negative.
__device__ __forceinline__ void store_if_negative(u32 smem, float x, float y) {
    asm volatile(
        "{ .reg .pred p; setp.lt.f32 p, %1, 0f00000000; setp.lt.or.f32 p, %2, 0f00000000, p;"
        " @p st.shared.u32 [%0], 0; }" ::"r"(smem),
        "f"(x), "f"(y)
        : "memory");
}

// The same if one is more than infinite, which never is, but the compiler does not know.
__device__ __forceinline__ void store_if_infinite(u32 smem, float x, float y) {
    asm volatile(
        "{ .reg .pred p; setp.gt.f32 p, %1, 0f7F800000; setp.gt.or.f32 p, %2, 0f7F800000, p;"
        " @p st.shared.u32 [%0], 0; }" ::"r"(smem),
        "f"(x), "f"(y)
        : "memory");
}

// ---- arithmetic in one instruction

__device__ __forceinline__ float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float log2_fast(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Two numbers of the output type in one register, `low` in the low half.
__device__ __forceinline__ u32 pack(float low, float high) {
    u32 both;
#if BF16
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
#endif
    return both;
}

__device__ __forceinline__ float2 unpack(u32 both) {
#if BF16
    return make_float2(__int_as_float(both << 16), __int_as_float(both & 0xffff0000));
#else
    float2 two;
    asm("{ .reg .b16 low, high; mov.b32 {low, high}, %2; cvt.f32.f16 %0, low; cvt.f32.f16 %1, high; }"
        : "=f"(two.x), "=f"(two.y)
        : "r"(both));
    return two;
#endif
}

// Four e4m3 numbers in one register, the first in the lowest byte.
__device__ __forceinline__ u32 pack_four(float a, float b, float c, float d) {
    u32 four;
    asm("{ .reg .b16 low, high; cvt.rn.satfinite.e4m3x2.f32 low, %2, %1; cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;"
        " mov.b32 %0, {low, high}; }"
        : "=r"(four)
        : "f"(a), "f"(b), "f"(c), "f"(d));
    return four;
}

// Four numbers rounded to 0 … 255 in one register, the first in the lowest byte. The compiler makes two instructions of it.
__device__ __forceinline__ u32 four_bytes(float a, float b, float c, float d) {
    u32 four;
    asm("{ .reg .s32 a, b, c, d; .reg .b32 high; cvt.rni.s32.f32 a, %1; cvt.rni.s32.f32 b, %2; cvt.rni.s32.f32 c, %3;"
        " cvt.rni.s32.f32 d, %4; cvt.pack.sat.u8.s32.b32 high, d, c, 0; cvt.pack.sat.u8.s32.b32 %0, b, a, high; }"
        : "=r"(four)
        : "f"(a), "f"(b), "f"(c), "f"(d));
    return four;
}

__device__ __forceinline__ int largest_of_three(int a, int b, int c) { return __vimax3_s32(a, b, c); }
