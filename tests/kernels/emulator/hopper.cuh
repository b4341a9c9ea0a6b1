// Stands in for `app/kernels/cuda/hopper.cuh` where there is no GPU: the same functions, done by `machine.hpp`.
// Sources: PTX ISA 8.x, the same sections; layouts of WGMMA's operands: "Asynchronous warpgroup-level matrix
// instructions", "Register fragments and shared memory matrix layouts".
#pragma once
#include <algorithm>
#include <type_traits>

#include "machine.hpp"

using u32 = unsigned int;
using u64 = unsigned long long;

#define __device__
#define __global__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__
#define __align__(n)

struct Index {
    struct {
        operator u32() const { return machine::now->thread; }
    } x;
};
struct BlockIndex {
    struct {
        operator u32() const { return machine::block().index; }
    } x;
};
inline Index threadIdx;
inline BlockIndex blockIdx;
inline struct {
    u32 x;
} gridDim;
// Shared memory is known by its address alone; it begins at 0, as aligned as can be.
unsigned char room[1];
inline u32 smem_address(const void*) { return 0; }

struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct uint4 { u32 x, y, z, w; };
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint4 make_uint4(u32 x, u32 y, u32 z, u32 w) { return {x, y, z, w}; }
inline float __int_as_float(int bits) { float x; std::memcpy(&x, &bits, 4); return x; }
inline int __float_as_int(float x) { int bits; std::memcpy(&bits, &x, 4); return bits; }
using std::max;
using std::min;

template <class T>
u64 bits_of(T value) {
    u64 bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}
template <class T>
T of_bits(u64 bits) {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

template <class T>
T __shfl_xor_sync(u32, T value, int with) {
    return of_bits<T>(machine::exchange(bits_of(value))[machine::now->thread % machine::WARP ^ with]);
}
template <class T>
T __shfl_sync(u32, T value, int from) {
    return of_bits<T>(machine::exchange(bits_of(value))[from]);
}
inline bool __any_sync(u32, bool value) {
    const uint64_t* all = machine::exchange(value);
    return std::any_of(all, all + machine::WARP, [](uint64_t each) { return each != 0; });
}
inline void __syncwarp() { machine::exchange(0); }
inline void __syncthreads() {
    machine::meet(machine::block().all, 32 * machine::block().warps.size(), "its thread block");
}

// ---- barriers

inline void barrier_init(u32 barrier, u32 arrivals) {
    machine::Barrier& made = machine::block().barriers[barrier];
    if (made.arrivals) machine::fail("a barrier was made twice");
    made.arrivals = made.awaited = arrivals;
}
inline void barriers_ready() {}
inline void barrier_arrive(u32 barrier) { machine::arrive(machine::block(), barrier); }
inline void barrier_expect(u32 barrier, u32 bytes) {
    machine::barrier(machine::block(), barrier).bytes += bytes;
    barrier_arrive(barrier);
}
inline void barrier_arrive_at(u32 barrier, u32 thread_block) {
    machine::arrive(*machine::cluster.at(thread_block), barrier);
}
inline void barrier_wait(u32 barrier, u32 parity) {
    machine::Barrier& there = machine::barrier(machine::block(), barrier);
    machine::wait_until([&there, parity] { return there.parity != bool(parity); },
                        "barrier " + std::to_string(barrier) + " to end its phase " + std::to_string(parity));
}

// `bar` counts threads, a warp as 32; here each thread counts for itself.
inline void named_arrive(u32 number, u32 threads) {
    machine::Meeting& there = machine::block().named[number];
    if (++there.arrived == threads) there.arrived = 0, ++there.met;
}
inline void named_wait(u32 number, u32 threads) {
    machine::meet(machine::block().named[number], threads, "named barrier " + std::to_string(number));
}

inline bool named_all(u32 number, u32 threads, bool value) {
    machine::Meeting& there = machine::block().named[number];
    there.all = there.all && value;
    machine::meet(there, threads, "named barrier " + std::to_string(number), [&there] {
        there.agreed = there.all;
        there.all = true;
    });
    return there.agreed;
}

inline u32 rank_in_cluster() { return machine::block().rank; }
inline void cluster_meet() {
    machine::meet(machine::cluster_meeting, machine::fibers.size(), "its cluster");
}

// ---- shared memory in a swizzle of 128 or 64 bytes: bits of the row go into the place of the 16-byte piece

inline u32 swizzled(u32 address, int row_bytes) { return address ^ (address >> 7 & (row_bytes / 16 - 1)) << 4; }
inline uint8_t* smem_at(machine::ThreadBlock& block, u32 address, u32 bytes) {
    if (u64(address) + bytes > block.smem.size()) machine::fail("beyond shared memory: " + std::to_string(address));
    return block.smem.data() + address;
}

// ---- the copy engine

// Made by the test: a tensor of bytes, (chunk_bytes, rows, chunks, heads, batches), and the box of a load.
struct alignas(64) TensorMap {
    const uint8_t* base;
    long long extent[4], stride[4];  // rows, chunks, heads, batches; strides in bytes
    int box_rows, box_chunks, chunk_bytes;
};

inline void load_box(u32 smem, const TensorMap& map, u32 barrier, int row, int chunk, int head, int batch, u32 to) {
    if (smem % (8 * map.chunk_bytes) || head < 0 || head >= map.extent[2] || batch < 0 || batch >= map.extent[3])
        machine::fail("a load that is not aligned or of a head that does not exist");
    std::vector<machine::ThreadBlock*> blocks;
    for (const auto& block : machine::cluster)
        if (to >> block->rank & 1) blocks.push_back(block.get());
    const u32 bytes = map.box_rows * map.box_chunks * map.chunk_bytes;
    machine::copies.push_back(
        {[=] {
             for (machine::ThreadBlock* block : blocks)
                 for (int c = 0; c < map.box_chunks; ++c)
                     for (int r = 0; r < map.box_rows; ++r) {
                         const bool exists = row + r >= 0 && row + r < map.extent[0] && chunk + c < map.extent[1];
                         const uint8_t* from = map.base + (row + r) * map.stride[0] + (chunk + c) * map.stride[1] +
                                               head * map.stride[2] + batch * map.stride[3];
                         const u32 to = smem + (c * map.box_rows + r) * map.chunk_bytes;
                         for (int i = 0; i < map.chunk_bytes; ++i)
                             *smem_at(*block, swizzled(to + i, map.chunk_bytes), 1) = exists ? from[i] : 0;
                     }
         },
         [=] {
             for (machine::ThreadBlock* block : blocks) {
                 machine::Barrier& there = machine::barrier(*block, barrier);
                 there.bytes -= bytes;
                 there.look();
             }
         }});
}
inline void tma_load(u32 smem, const TensorMap& map, u32 barrier, int row, int chunk, int head, int batch) {
    load_box(smem, map, barrier, row, chunk, head, batch, 1u << machine::block().rank);
}
inline void tma_load_both(u32 smem, const TensorMap& map, u32 barrier, int row, int chunk, int head, int batch) {
    load_box(smem, map, barrier, row, chunk, head, batch, 3);
}

inline void tma_prefetch(const TensorMap& map, int row, int, int head, int batch) {
    if (row < 0 || head < 0 || head >= map.extent[2] || batch < 0 || batch >= map.extent[3])
        machine::fail("a prefetch of a head that does not exist");
}

inline void bulk_load(u32 smem, const void* from, u32 bytes, u32 barrier) {
    if (smem % 16 || bytes % 16 || u64(from) % 16) machine::fail("a copy that is not aligned");
    machine::ThreadBlock* block = &machine::block();
    machine::copies.push_back({[=] { std::memcpy(smem_at(*block, smem, bytes), from, bytes); },
                               [=] {
                                   machine::Barrier& there = machine::barrier(*block, barrier);
                                   there.bytes -= bytes;
                                   there.look();
                               }});
}

inline void writes_seen() {}
inline void store_turned(u32 smem, u32 a, u32 b, u32 c, u32 d) {
    const uint64_t* place = machine::exchange(smem);
    const int lane = machine::now->thread % machine::WARP;
    const u32 words[4] = {a, b, c, d};
    for (int i = 0; i < 4; ++i)
        for (int odd = 0; odd < 2; ++odd) {
            const unsigned short bits = words[i] >> 16 * odd;
            std::memcpy(smem_at(machine::block(), place[8 * i + 2 * (lane % 4) + odd] + 2 * (lane / 4), 2), &bits, 2);
        }
}
inline void load_rows(u32 smem, u32& a, u32& b, u32& c, u32& d) {
    const uint64_t* place = machine::exchange(smem);
    const int lane = machine::now->thread % machine::WARP;
    u32* words[4] = {&a, &b, &c, &d};
    for (int i = 0; i < 4; ++i)
        std::memcpy(words[i], smem_at(machine::block(), place[8 * i + lane / 4] + 4 * (lane % 4), 4), 4);
}
inline float2 load_two(u32 smem) {
    float2 both;
    std::memcpy(&both, smem_at(machine::block(), smem, 8), 8);
    return both;
}
template <class T>
void store_words(u32 smem, const T& record) {
    std::memcpy(smem_at(machine::block(), smem, sizeof(T)), &record, sizeof(T));
}
template <class T>
T load_words(u32 smem) {
    T record;
    std::memcpy(&record, smem_at(machine::block(), smem, sizeof(T)), sizeof(T));
    return record;
}
inline int add_one(int* counter) { return (*counter)++; }
inline void add_four(float* sum, float a, float b, float c, float d) {
    sum[0] += a, sum[1] += b, sum[2] += c, sum[3] += d;
}

// ---- numbers of 16 bits

#if BF16
inline float number(unsigned short bits) { return __int_as_float(int(bits) << 16); }
inline unsigned short rounded(float x) {
    const u32 bits = u32(bits_of(x));
    if (x != x) return 0x7fff;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}
#else
inline float number(unsigned short bits) { return float(of_bits<_Float16>(bits)); }
inline unsigned short rounded(float x) { return bits_of(_Float16(x)); }
#endif
// e4m3: 1 sign, 4 exponent (bias 7), 3 fraction, no infinity; 0x7f is not a number. Rounded to even, at most 448.
inline float number(uint8_t bits) {
    const int exponent = bits >> 3 & 15, fraction = bits & 7;
    if ((bits & 0x7f) == 0x7f) return NAN;
    const float size = exponent ? std::ldexp(8 + fraction, exponent - 10) : std::ldexp(fraction, -9);
    return bits & 0x80 ? -size : size;
}
inline uint8_t rounded_to_byte(float x) {
    if (x != x) return 0x7f;
    const uint8_t sign = std::signbit(x) ? 0x80 : 0;
    const float size = std::min(std::fabs(x), 448.0f);
    const int exponent = size < std::ldexp(1, -6) ? -6 : std::ilogb(size);
    const int steps = std::nearbyint(std::ldexp(size, 3 - exponent));  // 8 … 16 of them, fewer below 2^-6
    return sign | ((exponent + 6) * 8 + steps);
}
inline u32 pack_four(float a, float b, float c, float d) {
    return rounded_to_byte(a) | rounded_to_byte(b) << 8 | rounded_to_byte(c) << 16 | u32(rounded_to_byte(d)) << 24;
}
inline u32 byte_of(float x) { return x != x ? 0 : u32(std::nearbyint(std::clamp(x, 0.0f, 255.0f))); }
inline u32 four_bytes(float a, float b, float c, float d) {
    return byte_of(a) | byte_of(b) << 8 | byte_of(c) << 16 | byte_of(d) << 24;
}
inline int largest_of_three(int a, int b, int c) { return max(max(a, b), c); }
inline u32 pack(float low, float high) { return rounded(low) | u32(rounded(high)) << 16; }
inline float2 unpack(u32 both) {
    return {number((unsigned short)both), number((unsigned short)(both >> 16))};
}
inline float exp2_fast(float x) { return std::exp2(x); }
inline float log2_fast(float x) { return std::log2(x); }

// ---- the tensor cores

#ifndef FP8
#define FP8 0
#endif
constexpr int BYTES = FP8 ? 1 : 2;       // of a number
constexpr int DEPTH = 32 / BYTES;        // of one instruction
constexpr int IN_WORD = 4 / BYTES;       // numbers in a register
using Bits = std::conditional_t<FP8, uint8_t, unsigned short>;

inline u64 matrix_of_halves(u32 smem, u32 step) {
    return u64((smem & 0x3FFFF) >> 4) | u64(step >> 4) << 32 | 2ull << 62;
}
inline u64 matrix(u32 smem, u32 chunk, u32 step) {
    return u64((smem & 0x3FFFF) >> 4) | u64(chunk >> 4) << 16 | u64(step >> 4) << 32 | 1ull << 62;
}

// Number (i, k) of an operand in shared memory: rows of `i` along k (`turned` false), or rows of k along i.
inline float in_smem(machine::ThreadBlock& block, u64 matrix, bool turned, int i, int k) {
    const u32 start = (matrix & 0x3FFF) << 4, chunk = (matrix >> 16 & 0x3FFF) << 4, step = (matrix >> 32 & 0x3FFF) << 4;
    const int row_bytes = matrix >> 62 == 1 ? 128 : 64, in_row = row_bytes / BYTES;
    const int row = turned ? k : i, along = turned ? i : k;
    Bits bits;
    const u32 place = start + along / in_row * chunk + row / 8 * step + row % 8 * row_bytes + along % in_row * BYTES;
    std::memcpy(&bits, smem_at(block, swizzled(place, row_bytes), BYTES), BYTES);
    return number(bits);
}

// d[64, COLUMNS] = a[64, DEPTH] b[DEPTH, COLUMNS] (+ d), one thread's part: rows r and r + 8 of its warp's 16, of every
// eight columns two. `left(row, k)` gives a's number.
template <int COLUMNS, class Left>
void multiply(float* d, machine::ThreadBlock& block, int thread, const Left& left, u64 b, bool turned, bool keep) {
    // The right operand is the same for all threads of the instruction.
    static float right[COLUMNS / 2][2][DEPTH];
    static u64 held = ~0ull;
    if (held != machine::instructions) {
        held = machine::instructions;
        for (int i = 0; i < COLUMNS; ++i)
            for (int k = 0; k < DEPTH; ++k) right[i / 2][i % 2][k] = in_smem(block, b, turned, i, k);
    }
    for (int half = 0; half < 2; ++half) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * half;
        float a[DEPTH];
        for (int k = 0; k < DEPTH; ++k) a[k] = left(row, k);
        for (int j = 0; j < COLUMNS / 8; ++j)
            for (int c = 0; c < 2; ++c) {
                float& sum = d[4 * j + 2 * half + c];
                float of_step = -0.0f;  // nothing says which zero a sum of zeros is
                for (int k = 0; k < DEPTH; ++k) of_step += a[k] * right[4 * j + thread % 4][c][k];
                sum = keep ? sum + of_step : of_step;
            }
    }
}

// Both operands in shared memory.
template <int COLUMNS>
void product_of_smem(float* d, u64 a, bool a_turned, u64 b, bool b_turned, int keep) {
    machine::ThreadBlock& block = machine::block();
    machine::now->open.push_back({[=, &block](int thread, const machine::Group&) {
        const auto left = [&](int row, int k) { return in_smem(block, a, a_turned, row, k); };
        multiply<COLUMNS>(d, block, thread, left, b, b_turned, keep);
    }});
}

// The left operand in registers: four words a thread, each of numbers side by side.
template <int COLUMNS>
void product_of_registers(float* d, const u32& a0, const u32& a1, const u32& a2, const u32& a3, u64 b, bool b_turned,
                          int keep) {
    machine::ThreadBlock& block = machine::block();
    const int step = machine::now->open.size();
    machine::now->open.push_back({[=, &block](int thread, const machine::Group& group) {
                                      const auto left = [&](int row, int k) {
                                          const int there =
                                              thread / 32 * 32 + row % 8 * 4 + k % (DEPTH / 2) / IN_WORD;
                                          const u32 word = *group.of_thread[there][step]
                                                                .left[row % 16 / 8 + k / (DEPTH / 2) * 2];
                                          return number(Bits(word >> 8 * BYTES * (k % IN_WORD)));
                                      };
                                      multiply<COLUMNS>(d, block, thread, left, b, b_turned, keep);
                                  },
                                  {&a0, &a1, &a2, &a3}});
}

inline void wgmma_begin() {}
inline void wgmma_commit() { machine::commit(); }
template <int STILL_RUNNING>
void wgmma_wait() {
    machine::finish_but(STILL_RUNNING);
}
template <int N>
void pin(float (&)[N]) {}
template <u32 COUNT>
void registers_up() {}
template <u32 COUNT>
void registers_down() {}
// Neither may happen, and what they look at must be there.
inline void store_if_negative(u32, float x, float y) {
    if (x < 0 || y < 0) machine::fail("a sum of exponentials is negative");
}
inline void store_if_infinite(u32, float x, float y) {
    if (x > INFINITY || y > INFINITY) machine::fail("a number is more than infinite");
}
