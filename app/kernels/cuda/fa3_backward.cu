// FlashAttention-3's backward pass in CUDA C++: a thread block keeps one block of K and V, and all blocks of q and do
// that see it pass by. dk and dv stay in registers; each visit adds its share of dq to a sum in memory.
//
// Compile-time constants (-D): HEAD_DIM (64 or 128), BLOCK_M (rows of a visit), STAGES (of q and do), CAUSAL, BF16,
// CONSUMER_REGISTERS, PRODUCER_REGISTERS. `wgmma.cuh`, made by `wgmma.py`, has three tensor-core instructions:
//   product_scores(s, a, b, keep)    s[64, BLOCK_M]     (+)= a[64, 16] b[16, BLOCK_M], both in shared memory
//   product_rows(g, p, b, keep)      g[64, HEAD_DIM]    (+)= p[64, 16] b[16, HEAD_DIM], p in registers
//   product_dq(dq, a, b, keep)       dq[64, DQ_COLUMNS] (+)= a[64, 16] b[16, DQ_COLUMNS], so too, but a turned
// Scores stand turned, (keys, rows of q): p and ds are then left operands of dv and dk as they lie in registers, and
// only ds goes through shared memory, for dq. Source of the order of work: arXiv 2407.08608, appendix B.1.
#include "hopper.cuh"
#include "pieces.cuh"
#include "wgmma.cuh"

constexpr int CONSUMERS = 2;
constexpr int KEYS = 64;  // of K and V a consumer holds: the height of one WGMMA
constexpr int BLOCK_N = CONSUMERS * KEYS;
constexpr int CHUNKS = HEAD_DIM / 64;  // a row of HEAD_DIM numbers lies in shared memory as chunks of 128 bytes
// Each consumer makes half of a visit's dq, turned: at head_dim 128 half of its columns, at 64 half of its rows.
constexpr int DQ_COLUMNS = BLOCK_M * HEAD_DIM / 128;
constexpr u32 KV_BYTES = BLOCK_N * HEAD_DIM * 2;
constexpr u32 Q_BYTES = BLOCK_M * HEAD_DIM * 2;
constexpr u32 DS_BYTES = BLOCK_M * BLOCK_N * 2;
constexpr u32 ROWS_BYTES = BLOCK_M * 4;  // a number for each row of a visit
constexpr u32 K_PLACE = 0;
constexpr u32 V_PLACE = K_PLACE + KV_BYTES;
constexpr u32 Q_PLACE = V_PLACE + KV_BYTES;
constexpr u32 DO_PLACE = Q_PLACE + STAGES * Q_BYTES;
constexpr u32 DS_PLACE = DO_PLACE + STAGES * Q_BYTES;
constexpr u32 LSE_PLACE = DS_PLACE + 2 * DS_BYTES;
constexpr u32 DELTA_PLACE = LSE_PLACE + STAGES * ROWS_BYTES;
constexpr u32 BARRIERS = DELTA_PLACE + STAGES * ROWS_BYTES;
constexpr u32 BOTH = CONSUMERS * 128;  // threads of the consumers
constexpr int MEETING = 1;             // the consumers' named barrier
constexpr int AT_ONCE = 128 * 4;       // numbers of dq a consumer adds with one instruction

struct Arguments {
    void *dk, *dv;       // (batch, heads of k and v, seqlen, HEAD_DIM), strides below in elements, rows contiguous
    float* dq_sum;       // [batch * heads, blocks of rows, BLOCK_M * HEAD_DIM], in the order of consumers' registers
    const float* lse;    // [batch * heads, rows_padded], in base 2; inf for rows that do not exist
    const float* delta;  // [batch * heads, rows_padded], row sums of do · o
    long long dk_batch, dk_head, dk_row, dv_batch, dv_head, dv_row, rows_padded;
    float scale;         // of the scores, times log2(e)
    float softmax_scale;
    int heads_kv, group, seqlen;
};

struct Barriers {
    u32 base;
    __device__ u32 kv_full() const { return base; }
    __device__ u32 q_full(int stage) const { return base + 8 * (1 + stage); }
    __device__ u32 q_empty(int stage) const { return base + 8 * (1 + STAGES + stage); }
    __device__ u32 do_full(int stage) const { return base + 8 * (1 + 2 * STAGES + stage); }
    __device__ u32 do_empty(int stage) const { return base + 8 * (1 + 3 * STAGES + stage); }
};

// What a thread block works on: a block of keys of one head of K and V; every head of q that shares it passes by.
struct Work {
    int batch, head_kv, first_key, first_m, m_blocks, visits;
    __device__ explicit Work(const Arguments& a) {
        const int n_blocks = (a.seqlen + BLOCK_N - 1) / BLOCK_N, head_of_all = blockIdx.x / n_blocks;
        batch = head_of_all / a.heads_kv, head_kv = head_of_all % a.heads_kv;
        first_key = blockIdx.x % n_blocks * BLOCK_N;  // under a causal mask the first keys have the most visits
        first_m = CAUSAL ? first_key / BLOCK_M : 0;
        m_blocks = (a.seqlen + BLOCK_M - 1) / BLOCK_M;
        visits = a.group * (m_blocks - first_m);
    }
};

// One visit: which head of q (over the whole batch) and which block of its rows.
struct Visit {
    int head, m_block;
    __device__ Visit(const Work& work, const Arguments& a)
        : head((work.batch * a.heads_kv + work.head_kv) * a.group), m_block(work.first_m) {}
    __device__ void next(const Work& work) {
        if (++m_block < work.m_blocks) return;
        m_block = work.first_m;
        ++head;
    }
};

// ---------------------------------------------------------------------------------------------------- the producer

__device__ __forceinline__ void produce(const TensorMap& q_map, const TensorMap& do_map, const TensorMap& k_map,
                                        const TensorMap& v_map, const Arguments& a, const Work& work, u32 smem,
                                        const Barriers& bars) {
    barrier_expect(bars.kv_full(), 2 * KV_BYTES);
    tma_load(smem + K_PLACE, k_map, bars.kv_full(), work.first_key, 0, work.head_kv, work.batch);
    tma_load(smem + V_PLACE, v_map, bars.kv_full(), work.first_key, 0, work.head_kv, work.batch);
    Visit visit(work, a);
#pragma unroll 1
    for (int count = 0; count < work.visits; ++count, visit.next(work)) {
        const int stage = count % STAGES, before = (count / STAGES & 1) ^ 1;
        const int head = visit.head - work.batch * a.heads_kv * a.group, row = visit.m_block * BLOCK_M;
        const long long rows = visit.head * a.rows_padded + row;
        barrier_wait(bars.q_empty(stage), before);
        barrier_expect(bars.q_full(stage), Q_BYTES + ROWS_BYTES);
        tma_load(smem + Q_PLACE + stage * Q_BYTES, q_map, bars.q_full(stage), row, 0, head, work.batch);
        bulk_load(smem + LSE_PLACE + stage * ROWS_BYTES, a.lse + rows, ROWS_BYTES, bars.q_full(stage));
        barrier_wait(bars.do_empty(stage), before);
        barrier_expect(bars.do_full(stage), Q_BYTES + ROWS_BYTES);
        tma_load(smem + DO_PLACE + stage * Q_BYTES, do_map, bars.do_full(stage), row, 0, head, work.batch);
        bulk_load(smem + DELTA_PLACE + stage * ROWS_BYTES, a.delta + rows, ROWS_BYTES, bars.do_full(stage));
    }
}

// --------------------------------------------------------------------------------------------------- the consumers

// s = keys · rowsᵀ: K and q give scores, V and do give the gradient of the probabilities.
__device__ __forceinline__ void issue_scores(float (&s)[BLOCK_M / 2], u64 keys, u64 rows) {
    pin(s);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < HEAD_DIM / 16; ++step) {
        const int within = step % 4 * 32 / 16;  // in the units of a matrix's address, 16 bytes
        product_scores(s, keys + step / 4 * (BLOCK_N * 128 / 16) + within,
                       rows + step / 4 * (BLOCK_M * 128 / 16) + within, step > 0);
    }
    wgmma_commit();
}

// sum += left · rows: p and do give dv, ds and q give dk.
__device__ __forceinline__ void issue_rows(float (&sum)[HEAD_DIM / 2], const u32 (&left)[BLOCK_M / 4], u64 rows,
                                           int keep) {
    pin(sum);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < BLOCK_M / 16; ++step)
        product_rows(sum, left[4 * step], left[4 * step + 1], left[4 * step + 2], left[4 * step + 3],
                     rows + step * (16 * 128 / 16), step > 0 ? 1 : keep);
    wgmma_commit();
}

// dqᵀ = Kᵀ · ds: the sum over all keys of the thread block.
__device__ __forceinline__ void issue_dq(float (&dq)[DQ_COLUMNS / 2], u64 k, u64 ds) {
    pin(dq);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < BLOCK_N / 16; ++step)
        product_dq(dq, k + step * (16 * 128 / 16), ds + step / 4 * (BLOCK_M * 128 / 16) + step % 4 * 32 / 16, step > 0);
    wgmma_commit();
}

// -inf where the key does not exist or comes after the row; a thread has the keys `key` and key + 8.
__device__ __forceinline__ void mask(float (&s)[BLOCK_M / 2], int key, int first_row, int seqlen) {
    const int row = first_row + 2 * (threadIdx.x % 4);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int mine = key + 8 * half;
        const int first = mine >= seqlen ? BLOCK_M : CAUSAL ? mine - row : 0;
#pragma unroll
        for (int j = 0; j < BLOCK_M / 8; ++j) {
            if (8 * j < first) s[4 * j + 2 * half] = -__int_as_float(0x7f800000);
            if (8 * j + 1 < first) s[4 * j + 2 * half + 1] = -__int_as_float(0x7f800000);
        }
    }
}

// The registers of a product, two by two, are the left operand of the next: no data moves.
__device__ __forceinline__ void to_operand(const float (&s)[BLOCK_M / 2], u32 (&p)[BLOCK_M / 4]) {
#pragma unroll
    for (int i = 0; i < BLOCK_M / 4; ++i) p[i] = pack(s[2 * i], s[2 * i + 1]);
}

// One of a thread's two rows (`half`) of dk or dv, times `factor`, rounded → hbm. The forward kernel's `finish` does the
// same to o, and keeps its own loop: shared, it becomes other machine code there.
__device__ __forceinline__ void store_row(const float (&sums)[HEAD_DIM / 2], int half, float factor,
                                          unsigned short* row, bool exists) {
#pragma unroll
    for (int part = 0; part < HEAD_DIM / 32; ++part) {
        u32 w[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int i = 4 * (4 * part + j) + 2 * half;
            w[j] = pack(sums[i] * factor, sums[i + 1] * factor);
        }
        gather_pieces(w);
        if (exists)
            *reinterpret_cast<uint4*>(row + 32 * part + 8 * (threadIdx.x % 4)) = make_uint4(w[0], w[1], w[2], w[3]);
    }
}

__device__ __forceinline__ void consume(const Arguments& a, const Work& work, u32 smem, const Barriers& bars,
                                        int consumer) {
    const int warp = threadIdx.x % 128 / 32, lane = threadIdx.x % 32;
    const int key = work.first_key + consumer * KEYS + warp * 16 + lane / 4;
    const bool short_of_keys = work.first_key + BLOCK_N > a.seqlen;
    const u64 k = matrix(smem + K_PLACE + consumer * KEYS * 128, 0, 1024);
    const u64 v = matrix(smem + V_PLACE + consumer * KEYS * 128, 0, 1024);
    // K turned, for dq: its columns of this consumer, or all 64 there are.
    const u64 k_turned = matrix(smem + K_PLACE + (CHUNKS > 1 ? consumer * BLOCK_N * 128 : 0), BLOCK_N * 128, 1024);
    // Where ds goes: rows of q, 128 bytes of keys for each consumer. Lane 8 i + j has row j of the i-th 8 × 8 matrix.
    const u32 ds_lane = consumer * BLOCK_M * 128 + (lane / 16 * 8 + lane % 8) * 128 +
                        ((2 * warp + lane / 8 % 2) ^ lane % 8) * 16;
    float s[BLOCK_M / 2], dp[BLOCK_M / 2], dk[HEAD_DIM / 2], dv[HEAD_DIM / 2], dq[DQ_COLUMNS / 2];
    u32 p[BLOCK_M / 4], ds[BLOCK_M / 4];

    auto rows_of = [&](u32 place, int count, u32 chunk) {
        return matrix(smem + place + count % STAGES * Q_BYTES, chunk, 1024);
    };
    auto wait_q = [&](int count) { barrier_wait(bars.q_full(count % STAGES), count / STAGES & 1); };
    auto wait_do = [&](int count) { barrier_wait(bars.do_full(count % STAGES), count / STAGES & 1); };
    // Each thread for itself, because each has read numbers of rows: racecheck of compute-sanitizer does not see that they
    // have met before one speaks for all.
    auto release = [&](u32 barrier) { barrier_arrive(barrier); };

    barrier_wait(bars.kv_full(), 0);
    Visit visit(work, a);
#pragma unroll 1
    for (int count = 0; count < work.visits; ++count, visit.next(work)) {
        const int stage = count % STAGES, first_row = visit.m_block * BLOCK_M;
        const u32 ds_place = smem + DS_PLACE + (count & 1) * DS_BYTES;

        wait_q(count);
        issue_scores(s, k, rows_of(Q_PLACE, count, 0));
        wait_do(count);
        issue_scores(dp, v, rows_of(DO_PLACE, count, 0));
        wgmma_wait<1>();
        pin(s);
        if (short_of_keys || (CAUSAL && first_row < work.first_key + BLOCK_N)) mask(s, key, first_row, a.seqlen);
#pragma unroll
        for (int j = 0; j < BLOCK_M / 8; ++j) {
            const float2 lse = load_two(smem + LSE_PLACE + stage * ROWS_BYTES + 32 * j + threadIdx.x % 4 * 8);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                s[4 * j + 2 * half] = exp2_fast(fmaf(s[4 * j + 2 * half], a.scale, -lse.x));
                s[4 * j + 2 * half + 1] = exp2_fast(fmaf(s[4 * j + 2 * half + 1], a.scale, -lse.y));
            }
        }
        to_operand(s, p);
        issue_rows(dv, p, rows_of(DO_PLACE, count, BLOCK_M * 128), count > 0);

        wgmma_wait<1>();
        pin(dp);
#pragma unroll
        for (int j = 0; j < BLOCK_M / 8; ++j) {
            const float2 delta = load_two(smem + DELTA_PLACE + stage * ROWS_BYTES + 32 * j + threadIdx.x % 4 * 8);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float2 probs = unpack(p[2 * j + half]);  // the rounded ones: they are half as many registers
                dp[4 * j + 2 * half] = probs.x * (dp[4 * j + 2 * half] - delta.x);
                dp[4 * j + 2 * half + 1] = probs.y * (dp[4 * j + 2 * half + 1] - delta.y);
            }
        }
        to_operand(dp, ds);
#pragma unroll
        for (int step = 0; step < BLOCK_M / 16; ++step)
            store_turned(ds_place + ds_lane + step * 16 * 128, ds[4 * step], ds[4 * step + 1], ds[4 * step + 2],
                         ds[4 * step + 3]);
        writes_seen();
        // Both halves of the keys are there. The other ds is free: who comes here has done with the last visit's dq.
        named_wait(MEETING, BOTH);

        issue_dq(dq, k_turned, matrix(ds_place + (CHUNKS > 1 ? 0 : consumer * DQ_COLUMNS * 128), 0, 1024));
        issue_rows(dk, ds, rows_of(Q_PLACE, count, BLOCK_M * 128), count > 0);
        wgmma_wait<1>();
        pin(dv);
        pin(dq);
        release(bars.do_empty(stage));
        const long long block_of_all = (long long)visit.head * work.m_blocks + visit.m_block;
        float* sum = a.dq_sum + (block_of_all * CONSUMERS + consumer) * (64 * DQ_COLUMNS) + threadIdx.x % 128 * 4;
#pragma unroll
        for (int i = 0; i < DQ_COLUMNS / 8; ++i)
            add_four(sum + i * AT_ONCE, dq[4 * i], dq[4 * i + 1], dq[4 * i + 2], dq[4 * i + 3]);

        wgmma_wait<0>();
        pin(dk);
        release(bars.q_empty(stage));
    }

    unsigned short* dk_out = static_cast<unsigned short*>(a.dk) + work.batch * a.dk_batch + work.head_kv * a.dk_head;
    unsigned short* dv_out = static_cast<unsigned short*>(a.dv) + work.batch * a.dv_batch + work.head_kv * a.dv_head;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const long long mine = key + 8 * half;
        store_row(dk, half, a.softmax_scale, dk_out + mine * a.dk_row, mine < a.seqlen);
        store_row(dv, half, 1.0f, dv_out + mine * a.dv_row, mine < a.seqlen);
    }
}

extern "C" __global__ void __launch_bounds__((CONSUMERS + 1) * 128, 1)
    fa3_backward(const __grid_constant__ TensorMap q_map, const __grid_constant__ TensorMap do_map,
                 const __grid_constant__ TensorMap k_map, const __grid_constant__ TensorMap v_map,
                 const __grid_constant__ Arguments a) {
    extern __shared__ __align__(1024) unsigned char room[];
    const u32 smem = smem_address(room);
    const Barriers bars{smem + BARRIERS};
    const Work work(a);
    if (threadIdx.x == 0) {
        barrier_init(bars.kv_full(), 1);
        for (int stage = 0; stage < STAGES; ++stage) {
            barrier_init(bars.q_full(stage), 1);
            barrier_init(bars.q_empty(stage), BOTH);
            barrier_init(bars.do_full(stage), 1);
            barrier_init(bars.do_empty(stage), BOTH);
        }
        barriers_ready();
    }
    __syncthreads();

    const int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);  // one for a whole warp, and the compiler knows
    if (group == 0) {
        registers_down<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) produce(q_map, do_map, k_map, v_map, a, work, smem, bars);
        __syncwarp();
    } else {
        registers_up<CONSUMER_REGISTERS>();
        consume(a, work, smem, bars, group - 1);
    }
}
