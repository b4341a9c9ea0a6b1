// The online softmax of scores of 16-bit numbers; maxima in the unit of the scores.
#pragma once
#include "rows.cuh"

using Scale = float;                       // of the scores, times log2(e)
constexpr int P_WORDS = BLOCK_N / 4;       // of the probabilities as a left operand, two numbers each

__device__ __forceinline__ float log2_of_sum(float max, float sum, float scale) { return max * scale + log2_fast(sum); }

// V as a right operand: its rows lie across the sum.
__device__ __forceinline__ u64 v_matrix(u32 smem) { return matrix(smem, BLOCK_N * 128, 1024); }
constexpr __device__ u32 v_step(int step) { return step * (16 * 128 / 16); }

// New maxima; `rescale` is what everything gathered before has to be multiplied with.
template <int N>
__device__ __forceinline__ void take_max(const float (&s)[N], Rows& rows, float (&rescale)[2], float scale) {
    float first = 0;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float even = rows.max[half], odd = s[2 * half + 1];
        if (ORDERED && half == 1) {
            // No maximum is below LOWEST, which the compiler cannot know: so the second row's begins after the first's.
            even = fmaxf(even, fminf(first, LOWEST));
            odd = fmaxf(odd, fminf(first, LOWEST));
        }
#pragma unroll
        for (int j = 0; j < N / 4; ++j) {
            even = fmaxf(even, s[4 * j + 2 * half]);
            if (j > 0) odd = fmaxf(odd, s[4 * j + 2 * half + 1]);
        }
        if (half == 0) first = fmaxf(even, odd);
        const float max = of_quad_max(fmaxf(even, odd));
        rescale[half] = exp2_fast((rows.max[half] - max) * scale);
        rows.max[half] = max;
        rows.sum[half] *= rescale[half];
    }
}

// Of `all` groups of columns those that are done with the first `eights` groups of both rows; with ORDERED the first
// row's go before the second's.
constexpr __device__ int done_with(int eights, int half, int all) {
    return ORDERED ? min(max(2 * eights - half * all, 0), all) : eights;
}

// Columns FIRST … LAST - 1, in groups of eight: s becomes exp2(s·scale − max·scale), and the sums grow by it.
template <int FIRST, int LAST, int N>
__device__ __forceinline__ void take_exp(float (&s)[N], Rows& rows, float scale) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float base = rows.max[half] * scale;
        float even = rows.sum[half], odd = 0;
#pragma unroll
        for (int j = done_with(FIRST, half, N / 4); j < done_with(LAST, half, N / 4); ++j) {
            float& x = s[4 * j + 2 * half];
            float& y = s[4 * j + 2 * half + 1];
            x = exp2_fast(fmaf(x, scale, -base));
            y = exp2_fast(fmaf(y, scale, -base));
            even += x;
            odd += y;
        }
        rows.sum[half] = even + odd;
    }
}

// The scores' registers, two by two, are the left operand of PV: no data moves. Keys that are not there weigh nothing.
template <int N>
__device__ __forceinline__ void to_operand(const float (&s)[N], u32 (&p)[P_WORDS]) {
#pragma unroll
    for (int i = 0; i < P_WORDS; ++i) p[i] = i < N / 2 ? pack(s[2 * i], s[2 * i + 1]) : 0;
}
