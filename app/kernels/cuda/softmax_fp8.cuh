// The online softmax of scores of e4m3 numbers; maxima in units of the exponent. Rules of `fa3_fp8_quantize.py`: each
// block of K and V has its scales, V is turned and its rows lie in the order that makes the scores' registers an
// operand.
#pragma once
#include "rows.cuh"

static_assert(!ORDERED, "tried with 8 bits, no gain");

// Of one block: scale of its scores (q's · k's · softmax_scale · log2 e), log2 of V's scale, 1 / V's scale.
struct Scale {
    float scores, lift, back;
};
constexpr int P_WORDS = BLOCK_N / 8;  // of the probabilities as a left operand, four numbers each
constexpr float SHIFT = 8;            // probabilities are rounded after multiplication by 2^SHIFT: e4m3 ends at 448

__device__ __forceinline__ float log2_of_sum(float max, float sum, float) { return max + log2_fast(sum) - SHIFT; }

// V as a right operand: rows of keys along the sum, in chunks of 64 bytes.
__device__ __forceinline__ u64 v_matrix(u32 smem) { return matrix_of_halves(smem, 512); }
constexpr __device__ u32 v_step(int step) { return step / 2 * (HEAD_DIM * 64 / 16) + step % 2 * 32 / 16; }

// New maxima, of scores and V's scale together, so that the largest probability of a row becomes 2^SHIFT.
template <int N>
__device__ __forceinline__ void take_max(const float (&s)[N], Rows& rows, float (&rescale)[2], const Scale& scale) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float even = s[2 * half], odd = s[2 * half + 1];
#pragma unroll
        for (int j = 1; j < N / 4; ++j) {
            even = fmaxf(even, s[4 * j + 2 * half]);
            odd = fmaxf(odd, s[4 * j + 2 * half + 1]);
        }
        const float max = fmaxf(rows.max[half], fmaf(of_quad_max(fmaxf(even, odd)), scale.scores, scale.lift));
        rescale[half] = exp2_fast(rows.max[half] - max);
        rows.max[half] = max;
        rows.sum[half] *= rescale[half];
    }
}

// Columns FIRST … LAST - 1, in groups of eight: s becomes the probabilities times V's scale and 2^SHIFT; the sums grow
// by them without V's scale, before they are rounded.
template <int FIRST, int LAST, int N>
__device__ __forceinline__ void take_exp(float (&s)[N], Rows& rows, const Scale& scale) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float base = rows.max[half] - (scale.lift + SHIFT);
        float even = 0, odd = 0;
#pragma unroll
        for (int j = FIRST; j < LAST; ++j) {
            float& x = s[4 * j + 2 * half];
            float& y = s[4 * j + 2 * half + 1];
            x = exp2_fast(fmaf(x, scale.scores, -base));
            y = exp2_fast(fmaf(y, scale.scores, -base));
            even += x;
            odd += y;
        }
        rows.sum[half] = fmaf(even + odd, scale.back, rows.sum[half]);
    }
}

// Of 16 neighbouring columns a thread has four, a word; V's rows stand in the order that makes up for it.
template <int N>
__device__ __forceinline__ void to_operand(const float (&s)[N], u32 (&p)[P_WORDS]) {
#pragma unroll
    for (int i = 0; i < P_WORDS; ++i) {
        const int first = i / 2 * 8 + i % 2 * 2;
        p[i] = i >= N / 4 ? 0 : pack_four(s[first], s[first + 1], s[first + 4], s[first + 5]);
    }
}
