// FlashAttention-3's order, forward, in CUDA C++: what `fa3_gluon` does, with what Gluon has not: blocks of K and V
// that are no power of two, and one load for two thread blocks (multicast).
//
// Compile-time constants (-D): HEAD_DIM, BLOCK_N, CONSUMERS, STAGES, Q_STAGES, CLUSTER, CAUSAL, BF16,
// FP8 (q, k, v and the probabilities are e4m3 numbers; BF16 then says what o is), CONSUMER_REGISTERS,
// PRODUCER_REGISTERS, LATE (PV is waited for after a quarter of the exponentials, else where the
// compiler thinks fit) and LAZY (o is rescaled only when a maximum of the warp's rows has grown).
// `wgmma.cuh`, made by `wgmma.py`, has the two tensor-core instructions of these sizes:
//   product_ss(s, a, b, keep)   s[64, BLOCK_N]  (+)= a[64, DEPTH] b[DEPTH, BLOCK_N], both in shared memory
//   product_rs(o, p, b, keep)   o[64, HEAD_DIM] (+)= p[64, DEPTH] b[DEPTH, HEAD_DIM], p in registers
// DEPTH is 32 bytes' worth of numbers.
// Source of the order of work: arXiv 2407.08608, section 3.
#include "hopper.cuh"
#include "pieces.cuh"
#if FP8
#include "softmax_fp8.cuh"
#else
#include "softmax.cuh"
#endif
#include "wgmma.cuh"

constexpr int ROWS = 64;                       // of q a consumer holds: the height of one WGMMA
constexpr int BLOCK_M = CONSUMERS * ROWS;      // of q a thread block holds
constexpr int ROW_BYTES = HEAD_DIM * (FP8 ? 1 : 2);
constexpr int CHUNKS = ROW_BYTES / 128;        // a row of q, K or V lies in shared memory as chunks of 128 bytes
constexpr u32 Q_BYTES = BLOCK_M * ROW_BYTES;
constexpr u32 KV_BYTES = BLOCK_N * ROW_BYTES;
constexpr u32 K_PLACE = Q_STAGES * Q_BYTES;
constexpr u32 V_PLACE = K_PLACE + STAGES * KV_BYTES;
constexpr u32 BARRIERS = V_PLACE + STAGES * KV_BYTES;
constexpr float LOWEST = -1e30f;               // a row's maximum before it has seen a key
constexpr float LN_2 = 0.6931471805599453f;

// Under a causal mask the two thread blocks of a cluster change places with every tile: the one with the later rows has
// more to visit, and each gets ahead of the other by turns.
constexpr bool CHANGE_PLACES = CAUSAL && CLUSTER == 2;
// A thread block's rows lie within one block of keys: only the first block a tile visits crosses the diagonal.
constexpr bool ONE_DIAGONAL = BLOCK_N % BLOCK_M == 0;
static_assert(!CHANGE_PLACES || BLOCK_M <= STAGES * BLOCK_N, "blocks that pass by unseen are all waited for at once");

// One entry of the work lists, see `fa3_schedule.Tile`: a part of a tile (slot >= 0) leaves its result in the scratch
// memory.
struct Tile {
    int m_block, head, n_blocks, first_block, slot;
    // First row of a thread block whose place in the cluster is `place`.
    __device__ int first_row(int place) const { return (m_block * CLUSTER + place) * BLOCK_M; }
    // The last blocks of the tile that only the other thread block of the cluster sees.
    __device__ int unseen(int place) const {
        return CHANGE_PLACES ? max(n_blocks - 1 - (first_row(place) + BLOCK_M - 1) / BLOCK_N, 0) : 0;
    }
};

__device__ __forceinline__ int place_in_cluster(int rank, int turn) { return CHANGE_PLACES ? rank ^ (turn & 1) : rank; }

struct Arguments {
    void* o;             // [batch, heads, seqlen, HEAD_DIM], strides below in elements, rows contiguous
    float* lse;          // [batch, heads, seqlen]
    float* part_o;       // [parts, CLUSTER * BLOCK_M, HEAD_DIM]
    float* part_lse;     // [parts, CLUSTER * BLOCK_M]
    const int* starts;   // tiles of cluster i are tiles[starts[i]] … tiles[starts[i + 1] - 1]
    const Tile* tiles;
    long long o_batch, o_head, o_row;
    float scale;         // of the scores, times log2(e)
    int heads, group, seqlen;
#if FP8
    const float* q_scales;    // [batch * heads, q_blocks], one for 64 rows
    const float4* kv_scales;  // [batch * heads of K and V, kv_blocks], see `softmax_fp8.cuh`
    int q_blocks, kv_blocks;
#endif
};

// Addresses of the barriers: a stage is full when its bytes have come, empty when all consumers have done with it.
struct Barriers {
    u32 base;
    __device__ u32 q_full(int slot) const { return base + 8 * slot; }
    __device__ u32 q_empty(int slot) const { return base + 8 * (Q_STAGES + slot); }
    __device__ u32 k_full(int stage) const { return base + 8 * (2 * Q_STAGES + stage); }
    __device__ u32 k_empty(int stage) const { return base + 8 * (2 * Q_STAGES + STAGES + stage); }
    __device__ u32 v_full(int stage) const { return base + 8 * (2 * Q_STAGES + 2 * STAGES + stage); }
    __device__ u32 v_empty(int stage) const { return base + 8 * (2 * Q_STAGES + 3 * STAGES + stage); }
};

// ---------------------------------------------------------------------------------------------------- the producer

#if FP8
// A block of K (rows along the sum) or of V (turned: rows of keys, in chunks of 64); a thread block of a cluster loads
// half of the rows.
__device__ __forceinline__ void fetch_bytes(const TensorMap& map, u32 place, u32 full, u32 rank, int block, int head,
                                            int batch, bool turned) {
    auto load = [&](u32 to, int row, int chunk) {
        if constexpr (CLUSTER == 2)
            tma_load_both(to, map, full, row, chunk, head, batch);
        else
            tma_load(to, map, full, row, chunk, head, batch);
    };
    constexpr int K_ROWS = BLOCK_N / CLUSTER, V_ROWS = HEAD_DIM / CLUSTER;
    if (turned) {
#pragma unroll
        for (int c = 0; c < BLOCK_N / 64; ++c)
            load(place + (c * HEAD_DIM + rank * V_ROWS) * 64, rank * V_ROWS, block * (BLOCK_N / 64) + c);
    } else {
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c)
            load(place + (c * BLOCK_N + rank * K_ROWS) * 128, block * BLOCK_N + rank * K_ROWS, c);
    }
}
#endif

__device__ __forceinline__ void fetch(const TensorMap& map, u32 place, u32 full, u32 empty, int count, u32 rank,
                                      int block, int head, int batch, bool turned) {
    barrier_wait(empty, (count / STAGES & 1) ^ 1);
    barrier_expect(full, KV_BYTES);
#if FP8
    fetch_bytes(map, place + count % STAGES * KV_BYTES, full, rank, block, head, batch, turned);
#else
    constexpr int MY_CHUNKS = CHUNKS / CLUSTER;  // that this thread block loads for its cluster
    const u32 mine = place + count % STAGES * KV_BYTES + rank * MY_CHUNKS * BLOCK_N * 128;
#pragma unroll
    for (int i = 0; i < MY_CHUNKS; ++i) {
        if constexpr (CLUSTER == 2)
            tma_load_both(mine + i * BLOCK_N * 128, map, full, block * BLOCK_N, rank * MY_CHUNKS + i, head, batch);
        else
            tma_load(mine + i * BLOCK_N * 128, map, full, block * BLOCK_N, i, head, batch);
    }
#endif
}

__device__ __forceinline__ void produce(const TensorMap& q_map, const TensorMap& k_map, const TensorMap& v_map,
                                        const Arguments& a, u32 smem, const Barriers& bars, u32 rank, int first,
                                        int tiles) {
    int count = 0;  // blocks of K asked for so far; V is one behind
    int owed_block = 0, owed_head = 0, owed_batch = 0;
    auto fetch_owed = [&] {
        const int stage = (count - 1) % STAGES;
        fetch(v_map, smem + V_PLACE, bars.v_full(stage), bars.v_empty(stage), count - 1, rank, owed_block, owed_head,
              owed_batch, true);
    };
    for (int turn = 0; turn < tiles; ++turn) {
        const Tile tile = a.tiles[first + turn];
        const int batch = tile.head / a.heads, head = tile.head % a.heads, head_kv = head / a.group;
        auto fetch_q = [&] {
            const int slot = turn % Q_STAGES;
            barrier_wait(bars.q_empty(slot), (turn / Q_STAGES & 1) ^ 1);
            barrier_expect(bars.q_full(slot), Q_BYTES);
            tma_load(smem + slot * Q_BYTES, q_map, bars.q_full(slot), tile.first_row(place_in_cluster(rank, turn)), 0,
                     head, batch);
        };
        if (Q_STAGES > 1) fetch_q();
        const int last = tile.first_block + tile.n_blocks - 1;
        for (int block = last; block >= tile.first_block; --block) {
            const int stage = count % STAGES;
            fetch(k_map, smem + K_PLACE, bars.k_full(stage), bars.k_empty(stage), count, rank, block, head_kv, batch,
                  false);
            if (count > 0) fetch_owed();
            // With one place for q it is free only when the last tile's last scores are done; its last V and the next K
            // have been asked for by then.
            if (Q_STAGES == 1 && block == last) fetch_q();
            ++count;
            owed_block = block, owed_head = head_kv, owed_batch = batch;
        }
    }
    fetch_owed();
}

// --------------------------------------------------------------------------------------------------- the consumers

__device__ __forceinline__ void issue_scores(float (&s)[BLOCK_N / 2], u64 q, u64 k) {
    pin(s);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < ROW_BYTES / 32; ++step) {
        const int within = step % 4 * 32 / 16;  // in the units of a matrix's address, 16 bytes
        product_ss(s, q + step / 4 * (BLOCK_M * 128 / 16) + within, k + step / 4 * (BLOCK_N * 128 / 16) + within,
                   step > 0);
    }
    wgmma_commit();
}

__device__ __forceinline__ void issue_output(float (&o)[HEAD_DIM / 2], const u32 (&p)[P_WORDS], u64 v, int keep) {
    pin(o);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < P_WORDS / 4; ++step) {
        product_rs(o, p[4 * step], p[4 * step + 1], p[4 * step + 2], p[4 * step + 3], v + v_step(step),
                   step > 0 ? 1 : keep);
    }
    wgmma_commit();
}

// o / sum → hbm, and the log-sum-exp of every row; of a part → scratch, in fp32. `row` is the sequence's, `tile_row`
// the cluster's tile's.
__device__ __forceinline__ void finish(const float (&o)[HEAD_DIM / 2], const Rows& rows, const Arguments& a,
                                       const Tile& tile, int row, int tile_row) {
    const int head = tile.head;
    const int quad = threadIdx.x % 4;
    unsigned short* out = static_cast<unsigned short*>(a.o) + head / a.heads * a.o_batch + head % a.heads * a.o_head;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int mine = row + 8 * half;
        const float sum = of_quad_sum(rows.sum[half]);
        const float inverse = 1.0f / sum;
        const float lse = log2_of_sum(rows.max[half], sum, a.scale) * LN_2;
        if (tile.slot >= 0) {
            const long long place = (long long)tile.slot * CLUSTER * BLOCK_M + tile_row + 8 * half;
            if (quad == 0) a.part_lse[place] = lse;
            float2* part = reinterpret_cast<float2*>(a.part_o + place * HEAD_DIM) + quad;
#pragma unroll
            for (int j = 0; j < HEAD_DIM / 8; ++j)
                part[4 * j] = make_float2(o[4 * j + 2 * half] * inverse, o[4 * j + 2 * half + 1] * inverse);
            continue;
        }
        if (quad == 0 && mine < a.seqlen) a.lse[(long long)head * a.seqlen + mine] = lse;
#pragma unroll
        for (int part = 0; part < HEAD_DIM / 32; ++part) {
            u32 w[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const int i = 4 * (4 * part + j) + 2 * half;
                w[j] = pack(o[i] * inverse, o[i + 1] * inverse);
            }
            gather_pieces(w);
            if (mine < a.seqlen)
                *reinterpret_cast<uint4*>(out + mine * a.o_row + 32 * part + 8 * quad) =
                    make_uint4(w[0], w[1], w[2], w[3]);
        }
    }
}

__device__ __forceinline__ void consume(const Arguments& a, u32 smem, const Barriers& bars, int consumer, u32 rank,
                                        int first, int tiles) {
    const int lane_row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    const bool teller = threadIdx.x % 128 == 0;
    const int turn_barrier = 1 + consumer, next_barrier = 1 + (consumer + 1) % CONSUMERS;
    float s[BLOCK_N / 2], o[HEAD_DIM / 2], rescale[2];
    u32 p[P_WORDS];
    Rows rows;
    int count = 0;  // blocks of K used so far

    auto q_tile = [&](int turn) {
        return matrix(smem + turn % Q_STAGES * Q_BYTES + consumer * ROWS * 128, 0, 1024);
    };
    auto k_block = [&](int n) { return matrix(smem + K_PLACE + n % STAGES * KV_BYTES, 0, 1024); };
    auto v_block = [&](int n) { return v_matrix(smem + V_PLACE + n % STAGES * KV_BYTES); };
    auto wait_k = [&](int n) { barrier_wait(bars.k_full(n % STAGES), n / STAGES & 1); };
    auto wait_v = [&](int n) { barrier_wait(bars.v_full(n % STAGES), n / STAGES & 1); };
    auto wait_q = [&](int turn) { barrier_wait(bars.q_full(turn % Q_STAGES), turn / Q_STAGES & 1); };
    auto release = [&](u32 barrier) {
        if (!teller) return;
        barrier_arrive(barrier);
        if constexpr (CLUSTER == 2) barrier_arrive_at(barrier, rank ^ 1);
    };
    auto my_turn = [&] { named_wait(turn_barrier, 256); };
    auto your_turn = [&] { named_arrive(next_barrier, 256); };
#if FP8
    Scale scale;
    auto use_scale_of = [&](const Tile& tile, int place, int block) {
        const int q_block = (tile.m_block * CLUSTER + place) * CONSUMERS + consumer;
        const float4 kv = a.kv_scales[tile.head / a.group * a.kv_blocks + max(tile.first_block + block, 0)];
        scale = {a.q_scales[tile.head * a.q_blocks + q_block] * kv.x, kv.y, kv.z};
    };
#else
    const Scale& scale = a.scale;
    auto use_scale_of = [](const Tile&, int, int) {};
#endif
    // The first block a tile visits is the last it sees: the one that may end early or cross the diagonal.
    auto first_softmax = [&](const Tile& tile, int place, int block) {
        rows = {{LOWEST, LOWEST}, {0, 0}};
        const int first_key = (tile.first_block + block) * BLOCK_N;
        if (CAUSAL || first_key + BLOCK_N > a.seqlen)
            mask(s, tile.first_row(place) + consumer * ROWS + lane_row, first_key, a.seqlen);
        take_max(s, rows, rescale, scale);
    };
    // Blocks that only the other thread block of the cluster sees come all the same, K at once and V one block behind.
    // One warp waits for them: the place is given back at once, and a warp that looked later would miss the barrier's
    // phase. The others meet this one at the next turn.
    const bool telling_warp = __shfl_sync(0xffffffff, threadIdx.x % 128 / 32, 0) == 0;
    auto pass_by = [&](int n, int blocks, bool of_v) {
        if constexpr (CHANGE_PLACES) {
            if (!telling_warp) return;
#pragma unroll 1
            for (int i = n; i < n + blocks; ++i) {
                of_v ? wait_v(i) : wait_k(i);
                __syncwarp();
                release(of_v ? bars.v_empty(i % STAGES) : bars.k_empty(i % STAGES));
            }
        }
    };
    constexpr int ALL = BLOCK_N / 8, EARLY = LATE ? ALL / 4 : ALL;  // columns, in eights, before the wait for PV

    if (consumer == CONSUMERS - 1) your_turn();
    Tile tile = a.tiles[first];
    {
        const int place = place_in_cluster(rank, 0), unseen = tile.unseen(place), block = tile.n_blocks - 1 - unseen;
        wait_q(0);
        pass_by(0, unseen, false);
        wait_k(unseen);
        my_turn();
        issue_scores(s, q_tile(0), k_block(unseen));
        your_turn();
        wgmma_wait<0>();
        pin(s);
        release(bars.k_empty(unseen % STAGES));
        use_scale_of(tile, place, block);
        first_softmax(tile, place, block);
        take_exp<0, ALL>(s, rows, scale);
        to_operand(s, p);
        pass_by(0, unseen, true);
        count = unseen + 1;
    }

    for (int turn = 0; turn < tiles; ++turn) {
        const Tile next = a.tiles[first + turn + 1];  // one more entry than tiles can be read
        const int place = place_in_cluster(rank, turn), row = tile.first_row(place) + consumer * ROWS;
        const int last = tile.n_blocks - 1 - tile.unseen(place);
        const int open = CAUSAL && !ONE_DIAGONAL ? min(last, (row + 1) / BLOCK_N) : last;  // from here on without a mask
        int keep = 0;
        // A turn on the tensor cores: scores with the next block of K, PV of the last one. Only PV still runs after it.
        auto scores_and_output = [&](int of, int k) {
            my_turn();
            issue_scores(s, q_tile(of), k_block(k));
            wait_v(count - 1);
            issue_output(o, p, v_block(count - 1), keep);
            your_turn();
            wgmma_wait<1>();
            pin(s);
        };
        // The exponentials of those scores while PV still runs; then they are the next left operand.
        auto exp_beside_output = [&] {
            take_exp<0, EARLY>(s, rows, scale);
            if (LATE) when_known(rows, smem);
            wgmma_wait<0>();
            pin(o);
            release(bars.v_empty((count - 1) % STAGES));
            take_exp<EARLY, ALL>(s, rows, scale);
            to_operand(s, p);
        };
        auto visit = [&](int block, bool masked) {
            use_scale_of(tile, place, block);
            wait_k(count);
            scores_and_output(turn, count);
            release(bars.k_empty(count % STAGES));
            if (CAUSAL && masked) mask(s, row + lane_row, block * BLOCK_N, a.seqlen);
            take_max(s, rows, rescale, scale);
            exp_beside_output();
            if (!LAZY || __any_sync(0xffffffff, rescale[0] != 1 || rescale[1] != 1)) {
#pragma unroll
                for (int i = 0; i < HEAD_DIM / 2; ++i) o[i] *= rescale[i / 2 % 2];
            }
            keep = 1;
            ++count;
        };
        int block = last - 1;
        if (CAUSAL && !ONE_DIAGONAL) {
#pragma unroll 1
            for (; block >= open; --block) visit(block, true);
        }
#pragma unroll 1
        for (; block >= 0; --block) visit(block, false);
        if (teller) barrier_arrive(bars.q_empty(turn % Q_STAGES));

        const Rows done = rows;
        const bool more = turn + 1 < tiles;
        const int next_place = place_in_cluster(rank, turn + 1), unseen = more ? next.unseen(next_place) : 0;
        const int k = count + unseen, next_block = next.n_blocks - 1 - unseen;
        const int tile_row = place * BLOCK_M + consumer * ROWS + lane_row;
        if constexpr (Q_STAGES > 1) {
            // This tile's last PV together with the next tile's first scores (of stale data, unused, without a next).
            if (more) {
                wait_q(turn + 1);
                pass_by(count, unseen, false);
                wait_k(k);
            }
            use_scale_of(next, next_place, next_block);
            scores_and_output(turn + 1, k);
            if (more) release(bars.k_empty(k % STAGES));
            first_softmax(next, next_place, next_block);
            exp_beside_output();
            pass_by(count, unseen, true);
            finish(o, done, a, tile, row + lane_row, tile_row);
        } else {
            wait_v(count - 1);
            my_turn();
            issue_output(o, p, v_block(count - 1), keep);
            your_turn();
            wgmma_wait<0>();
            pin(o);
            release(bars.v_empty((count - 1) % STAGES));
            finish(o, done, a, tile, row + lane_row, tile_row);
            if (more) {
                wait_q(turn + 1);
                pass_by(count, unseen, false);
                wait_k(k);
                use_scale_of(next, next_place, next_block);
                my_turn();
                issue_scores(s, q_tile(turn + 1), k_block(k));
                your_turn();
                wgmma_wait<0>();
                pin(s);
                release(bars.k_empty(k % STAGES));
                first_softmax(next, next_place, next_block);
                take_exp<0, ALL>(s, rows, scale);
                to_operand(s, p);
                pass_by(count, unseen, true);
            }
        }
        count = k + 1;
        tile = next;
    }
    if (consumer == 0) my_turn();  // the last turn given
}

extern "C" __global__ void __launch_bounds__((CONSUMERS + 1) * 128, 1)
    fa3_forward(const __grid_constant__ TensorMap q_map, const __grid_constant__ TensorMap k_map,
                const __grid_constant__ TensorMap v_map, const __grid_constant__ Arguments a) {
    extern __shared__ __align__(1024) unsigned char room[];
    const u32 smem = smem_address(room);
    const Barriers bars{smem + BARRIERS};
    const u32 rank = CLUSTER == 2 ? rank_in_cluster() : 0;
    if (threadIdx.x == 0) {
        for (int slot = 0; slot < Q_STAGES; ++slot) {
            barrier_init(bars.q_full(slot), 1);
            barrier_init(bars.q_empty(slot), CONSUMERS);
        }
        for (int stage = 0; stage < STAGES; ++stage) {
            barrier_init(bars.k_full(stage), 1);
            barrier_init(bars.k_empty(stage), CONSUMERS * CLUSTER);
            barrier_init(bars.v_full(stage), 1);
            barrier_init(bars.v_empty(stage), CONSUMERS * CLUSTER);
        }
        barriers_ready();
    }
    if constexpr (CLUSTER == 2)
        cluster_meet();
    else
        __syncthreads();

    const int list = blockIdx.x / CLUSTER;
    const int first = a.starts[list], tiles = a.starts[list + 1] - first;
    const int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);  // one for a whole warp, and the compiler knows
    if (group == 0) {
        registers_down<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) produce(q_map, k_map, v_map, a, smem, bars, rank, first, tiles);
        __syncwarp();
    } else {
        registers_up<CONSUMER_REGISTERS>();
        consume(a, smem, bars, group - 1, rank, first, tiles);
    }
    if constexpr (CLUSTER == 2) cluster_meet();  // the other one may still write here
}
