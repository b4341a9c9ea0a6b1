// The online softmax of scores of 16-bit numbers; maxima in the unit of the scores.
#pragma once
#include "rows.cuh"

using Scale = float;                       // of the scores, times log2(e)
constexpr int P_WORDS = BLOCK_N / 4;       // of the probabilities as a left operand, two numbers each

// Exponentials may be taken relative to any number near their row's largest one: what that changes cancels, as long as
// nothing leaves the numbers' range. So what stands for a maximum may be SLACK octaves below it, and o is rarely rescaled
// (as FlashAttention-4 does, modal.com/blog/reverse-engineer-flash-attention-4), or as far above it at a tile's beginning.
// bf16 has the range for that. fp16 goes from 2^-24 to 2^16: there probabilities are multiplied by 2^SHIFT, so that the
// largest ones just fit and small ones are not lost.
constexpr float SLACK = 8, SHIFT = BF16 ? 0 : 7;

__device__ __forceinline__ float log2_of_sum(float max, float sum, float scale) {
    return max * scale + log2_fast(sum) - SHIFT;
}

// V as a right operand: its rows lie across the sum.
__device__ __forceinline__ u64 v_matrix(u32 smem) { return matrix(smem, BLOCK_N * 128, 1024); }
constexpr __device__ u32 v_step(int step) { return step * (16 * 128 / 16); }

// A tile's first maxima: instead of one that is slightly negative a number that is not stands, so that none will be while
// the tile lasts. It is whole octaves above: the largest probability is then a power of two, which no rounding changes,
// and a row that sees one key gets just that key's V.
__device__ __forceinline__ void leave_negative(Rows& rows, float scale) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float max = rows.max[half], above = max - floorf(max * scale) / scale;
        if (max <= 0 && max * scale > -SLACK) rows.max[half] = above > 0 ? above : 0;
    }
}

// New maxima; `rescale` is what everything gathered before has to be multiplied with. With ORDERED the second row's
// maximum begins after the first's, whose exponentials then stand beside it: `other` depends on the first and says
// nothing, which the compiler cannot know.
template <Compared HOW, int N>
__device__ __forceinline__ void take_max(const float (&s)[N], Rows& rows, float (&rescale)[2], float scale) {
    float mine[2];
    auto look = [&](int half) {
        const bool after = ORDERED && half == 1;
        if (HOW == AS_FLOATS)
            mine[half] = largest(s, half, rows.max[half], after ? fminf(mine[0], LOWEST) : LOWEST);
        else
            mine[half] = largest_as_bits(s, half, rows.max[half], after ? __float_as_int(mine[0]) | BELOW_ALL : BELOW_ALL);
    };
    auto take = [&](int half) {
        const float before = rows.max[half], found = of_quad_max(mine[half]);
        const bool near = LAZY && fmaf(found, scale, -(before * scale)) <= SLACK;
        const float max = near ? before : found;
        rescale[half] = exp2_fast((before - max) * scale);
        rows.max[half] = max;
        rows.sum[half] *= rescale[half];
    };
    if (HOW == CHECKED) {
        look(0), look(1);
        if (__builtin_expect(__any_sync(0xffffffff, sign_in(mine)), 0)) {
            mine[0] = largest(s, 0, rows.max[0], LOWEST);
            mine[1] = largest(s, 1, rows.max[1], LOWEST);
        }
        take(0), take(1);
    } else {
        look(0), take(0), look(1), take(1);
    }
}

// Of `all` groups of columns those that are done with the first `eights` groups of both rows; with ORDERED the first
// row's go before the second's.
constexpr __device__ int done_with(int eights, int half, int all) {
    return ORDERED ? min(max(2 * eights - half * all, 0), all) : eights;
}

// Columns FIRST … LAST - 1, in groups of eight: s becomes exp2(s·scale − max·scale + SHIFT), and the sums grow by it.
template <int FIRST, int LAST, int N>
__device__ __forceinline__ void take_exp(float (&s)[N], Rows& rows, float scale) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float base = rows.max[half] * scale - SHIFT;
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
