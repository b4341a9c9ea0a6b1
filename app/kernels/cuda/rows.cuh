// 64 rows of scores in the registers of one warpgroup. A WGMMA leaves its result so: a warp has 16 rows, a quad of
// threads two of them, eight apart; of every eight columns a thread has two, so its N numbers are 2 N columns. Needs
// CAUSAL, ORDERED and CODED.
#pragma once
#include "hopper.cuh"

// What a thread knows of its two rows of a tile (row and row + 8 of its warp's 16).
struct Rows {
    float max[2], sum[2];  // what stands for the largest score; the sum is over this thread's own columns until the end
};

// How the largest score is found. Numbers that are not negative are in the order of their bits read as integers, and all
// others below them; of integers one instruction compares three, of floats two. AS_BITS: the result is not negative;
// CHECKED: taken as if it were, and once more as floats where some thread of the warp finds it was not.
enum Compared { AS_FLOATS, AS_BITS, CHECKED };

// Of a thread's scores of a row and of `start`. `other` is none of them and lies below all; for a row that is to begin
// after another one it depends on that.
template <int N>
__device__ __forceinline__ float largest(const float (&s)[N], int half, float start, float other) {
    float even = fmaxf(start, other), odd = fmaxf(s[2 * half + 1], other);
#pragma unroll
    for (int j = 0; j < N / 4; ++j) {
        even = fmaxf(even, s[4 * j + 2 * half]);
        if (j > 0) odd = fmaxf(odd, s[4 * j + 2 * half + 1]);
    }
    return fmaxf(even, odd);
}

constexpr int BELOW_ALL = 1 << 31;
template <int N>
__device__ __forceinline__ float largest_as_bits(const float (&s)[N], int half, float start, int other) {
    int even = __float_as_int(start), odd = other;
#pragma unroll
    for (int j = 0; j < N / 4; ++j) {
        int& chain = j % 2 ? odd : even;
        const int x = __float_as_int(s[4 * j + 2 * half]), y = __float_as_int(s[4 * j + 2 * half + 1]);
        chain = largest_of_three(chain, x, y);
    }
    return __int_as_float(max(even, odd));
}

__device__ __forceinline__ bool sign_in(const float (&two)[2]) {
    return (__float_as_int(two[0]) | __float_as_int(two[1])) < 0;
}

__device__ __forceinline__ float of_quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xffffffff, x, 2));
}

__device__ __forceinline__ float of_quad_sum(float x) {
    x += __shfl_xor_sync(0xffffffff, x, 1);
    return x + __shfl_xor_sync(0xffffffff, x, 2);
}

// -inf where the key does not exist or comes after the row.
template <int N>
__device__ __forceinline__ void mask(float (&s)[N], int row, int first_key, int seqlen) {
    const int column = first_key + 2 * (threadIdx.x % 4);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int last = (CAUSAL ? min(row + 8 * half, seqlen - 1) : seqlen - 1) - column;
#pragma unroll
        for (int j = 0; j < N / 4; ++j) {
            if (8 * j > last) s[4 * j + 2 * half] = -__int_as_float(0x7f800000);
            if (8 * j + 1 > last) s[4 * j + 2 * half + 1] = -__int_as_float(0x7f800000);
        }
    }
}

#if !CODED
// The compiler would put a wait for PV before the exponentials. A store that never happens (sums of exponentials are
// not negative, which it cannot know) keeps it behind them.
template <int EARLY, int N>
__device__ __forceinline__ void when_known(const float (&)[N], const Rows& rows, u32 smem) {
    store_if_negative(smem, rows.sum[0], rows.sum[1]);
}

// PV does not add up the probabilities: each thread has the sums of its own columns.
template <int N>
__device__ __forceinline__ void take_sums(float (&)[N], Rows&, const float (&)[2]) {}
template <int N>
__device__ __forceinline__ float whole_sum(const float (&)[N], const Rows& rows, int half, const Arguments&, int) {
    return of_quad_sum(rows.sum[half]);
}
#endif
