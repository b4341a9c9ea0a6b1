// From an accumulator in registers to pieces of 16 bytes, as memory likes to be written.
#pragma once
#include "hopper.cuh"

// Four threads hold four numbers each of four 16-byte pieces; afterwards each holds one piece.
__device__ __forceinline__ void gather_pieces(u32 (&w)[4]) {
    const bool high = threadIdx.x & 2, odd = threadIdx.x & 1;
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const u32 got = __shfl_xor_sync(0xffffffff, high ? w[i] : w[i + 2], 2);
        if (high)
            w[i] = got;
        else
            w[i + 2] = got;
    }
#pragma unroll
    for (int i = 0; i < 4; i += 2) {
        const u32 got = __shfl_xor_sync(0xffffffff, odd ? w[i] : w[i + 1], 1);
        if (odd)
            w[i] = got;
        else
            w[i + 1] = got;
    }
}
