// 64 rows of scores in the registers of one warpgroup. A WGMMA leaves its result so: a warp has 16 rows, a quad of
// threads two of them, eight apart; of every eight columns a thread has two, so its N numbers are 2 N columns. Needs
// CAUSAL.
#pragma once
#include "hopper.cuh"

// What a thread knows of its two rows of a tile (row and row + 8 of its warp's 16).
struct Rows {
    float max[2], sum[2];  // the sum is over this thread's own columns until the end
};

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

// The compiler would put a wait for PV before the exponentials. A store that never happens (sums of exponentials are
// not negative, which it cannot know) keeps it behind them.
__device__ __forceinline__ void when_known(const Rows& rows, u32 smem) {
    store_if_negative(smem, rows.sum[0], rows.sum[1]);
}
