// The online softmax of scores of e4m3 numbers; maxima in units of the exponent. Rules of `fa3_fp8_quantize.py`: each
// block of K and V has its scales, V is turned and its rows lie in the order that makes the scores' registers an
// operand.
#pragma once
#include "rows.cuh"

static_assert(!ORDERED && !AGREEING, "with 8 bits each block is checked on its own");

// Of one block: scale of its scores (q's · k's · softmax_scale · log2 e), log2 of V's scale, 1 / V's scale.
struct Scale {
    float scores, lift, back;
};
constexpr int P_WORDS = BLOCK_N / 8;  // of the probabilities as a left operand, four numbers each
// Probabilities are rounded after multiplication by 2^SHIFT: e4m3 ends at 448. With CODED that is the largest one.
constexpr float TOP_CODE = 126, LOG2_OF_448 = 8.807354922057604f;
constexpr float SHIFT = CODED ? LOG2_OF_448 : 8;

__device__ __forceinline__ float log2_of_sum(float max, float sum, float) { return max + log2_fast(sum) - SHIFT; }

// V as a right operand: rows of keys along the sum, in chunks of 64 bytes.
__device__ __forceinline__ u64 v_matrix(u32 smem) { return matrix_of_halves(smem, 512); }
constexpr __device__ u32 v_step(int step) { return step / 2 * (O_COLUMNS * 64 / 16) + step % 2 * 32 / 16; }

// New maxima, of scores and V's scale together, so that the largest probability of a row becomes 2^SHIFT. A block's
// scales are its own, so the maxima before say nothing about its signs.
template <Compared, int N>
__device__ __forceinline__ void take_max(const float (&s)[N], Rows& rows, float (&rescale)[2], const Scale& scale) {
    float mine[2] = {largest_as_bits(s, 0, s[0], BELOW_ALL), largest_as_bits(s, 1, s[2], BELOW_ALL)};
    if (__builtin_expect(__any_sync(0xffffffff, sign_in(mine)), 0)) {
        mine[0] = largest(s, 0, s[0], s[0]);
        mine[1] = largest(s, 1, s[2], s[2]);
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float max = fmaxf(rows.max[half], fmaf(of_quad_max(mine[half]), scale.scores, scale.lift));
        rescale[half] = exp2_fast(rows.max[half] - max);
        rows.max[half] = max;
        rows.sum[half] *= rescale[half];
    }
}

__device__ __forceinline__ void leave_negative(Rows&, const Scale&) {}

#if CODED
// An e4m3 number read as an integer is, but for 7 · 8, eight times its binary logarithm with a straight line between
// powers of two (Schraudolph 1999, doi.org/10.1162/089976699300016467, for 64-bit numbers): so a probability is a
// product, a sum and a rounding to an integer. The line lies above the curve by up to 6 %; what all probabilities have in
// common cancels, the rest is -3.9 … 2.0 %. The largest one, 448, is as far above its curve as the line on the average.
constexpr float PER_OCTAVE = 8;
// Above it is no number. The two products of which a logarithm is the difference are rounded to 2^-24 of themselves.
constexpr float AWAY_FROM_TOP = PER_OCTAVE * 0x1p-22f;

__device__ __forceinline__ u32 in_one_word(float a, float b, float c, float d) { return four_bytes(a, b, c, d); }

// s becomes the code of the probability times V's scale, not rounded yet; below 0 is 0.
template <int FIRST, int LAST, int N>
__device__ __forceinline__ void take_exp(float (&s)[N], const Rows& rows, const Scale& scale) {
    const float slope = scale.scores * PER_OCTAVE;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float max = rows.max[half] - scale.lift;
        const float base = fmaf(max, -PER_OCTAVE, fmaf(fabsf(max), -AWAY_FROM_TOP, TOP_CODE));
#pragma unroll
        for (int j = FIRST; j < LAST; ++j) {
            s[4 * j + 2 * half] = fmaf(s[4 * j + 2 * half], slope, base);
            s[4 * j + 2 * half + 1] = fmaf(s[4 * j + 2 * half + 1], slope, base);
        }
    }
}

// The compiler would put a wait for PV into the maxima. A store that never happens keeps it behind the first EARLY groups
// of columns; few keys may leave none.
template <int EARLY, int N>
__device__ __forceinline__ void when_known(const float (&s)[N], const Rows&, u32 smem) {
    constexpr int LAST = EARLY > 0 ? 4 * (EARLY - 1) : 0;
    store_if_infinite(smem, s[LAST], s[LAST + 2]);
}

// PV's last columns are the probabilities' sums, of which each visit takes its own: tensor cores keep about 14 bits of
// what they add 8-bit products to, too few for sums of a whole row.
__device__ __forceinline__ void take_sums(float (&o)[O_COLUMNS / 2], Rows& rows, const float (&rescale)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        rows.sum[half] = fmaf(o[HEAD_DIM / 2 + 2 * half], rescale[half], rows.sum[half]);
        o[HEAD_DIM / 2 + 2 * half] = o[HEAD_DIM / 2 + 2 * half + 1] = 0;
    }
}

// Only the first thread of a quad has the sums' column; the others' are zeros.
__device__ __forceinline__ float whole_sum(const float (&o)[O_COLUMNS / 2], const Rows& rows, int half,
                                           const Arguments& a, int head) {
    const float unit = a.kv_scales[head / a.group * a.kv_blocks].w;
    return of_quad_sum(rows.sum[half] + o[HEAD_DIM / 2 + 2 * half]) * unit;
}
#else
__device__ __forceinline__ u32 in_one_word(float a, float b, float c, float d) { return pack_four(a, b, c, d); }

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

#endif

// Of 16 neighbouring columns a thread has four, a word; V's rows stand in the order that makes up for it.
template <int N>
__device__ __forceinline__ void to_operand(const float (&s)[N], u32 (&p)[P_WORDS]) {
#pragma unroll
    for (int i = 0; i < P_WORDS; ++i) {
        const int first = i / 2 * 8 + i % 2 * 2;
        p[i] = i >= N / 4 ? 0 : in_one_word(s[first], s[first + 1], s[first + 4], s[first + 5]);
    }
}
