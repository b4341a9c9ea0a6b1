// What the producer and the consumers of `fa3_forward.cu` agree on: places in shared memory, barriers, tiles, arguments.
#pragma once
#include "hopper.cuh"

constexpr int ROWS = 64;                       // of q a consumer holds: the height of one WGMMA
constexpr int BLOCK_M = CONSUMERS * ROWS;      // of q a thread block holds
constexpr int ROW_BYTES = HEAD_DIM * (FP8 ? 1 : 2);
constexpr int CHUNKS = ROW_BYTES / 128;        // a row of q, K or V lies in shared memory as chunks of 128 bytes
constexpr u32 Q_BYTES = BLOCK_M * ROW_BYTES;
// With CODED V has more columns, of which the first makes PV add up the probabilities.
constexpr int O_COLUMNS = HEAD_DIM + (CODED ? SUM_COLUMNS : 0);
constexpr u32 K_BYTES = BLOCK_N * ROW_BYTES;
constexpr u32 V_BYTES = BLOCK_N * (ROW_BYTES + O_COLUMNS - HEAD_DIM);
constexpr u32 K_PLACE = Q_STAGES * Q_BYTES;
constexpr u32 V_PLACE = K_PLACE + STAGES * K_BYTES;
constexpr u32 BARRIERS = V_PLACE + STAGES * V_BYTES;
constexpr u32 TILES = BARRIERS + 8 * (2 * Q_STAGES + 4 * STAGES);  // the tile that goes with each place for q
constexpr int Q_STEPS = ROW_BYTES / 32;        // of a product with q, an instruction each
constexpr bool ALL_HELD = HELD == Q_STEPS;
static_assert(HELD <= Q_STEPS, "more of q than there is");
constexpr float LOWEST = -1e30f;               // a row's maximum before it has seen a key
constexpr float LN_2 = 0.6931471805599453f;

// Under a causal mask the two thread blocks of a cluster change places with every tile: the one with the later rows has
// more to visit, and each gets ahead of the other by turns.
constexpr bool CHANGE_PLACES = CAUSAL && CLUSTER == 2;
// A thread block's rows lie within one block of keys: only the first block a tile visits crosses the diagonal.
constexpr bool ONE_DIAGONAL = BLOCK_N % BLOCK_M == 0;
static_assert(FP8 || CHUNKS % CLUSTER == 0, "each thread block of a cluster loads whole chunks");
static_assert(!DRAWN || CLUSTER == 1, "a cluster would have to agree on what it draws");
static_assert(!CODED || (FP8 && CLUSTER == 1), "codes are of e4m3 numbers; the sums' column is not shared");
static_assert(!CHANGE_PLACES || BLOCK_M <= STAGES * BLOCK_N, "blocks that pass by unseen are all waited for at once");

// One entry of the work lists, see `fa3_schedule.Tile`: a part of a tile (slot >= 0) leaves its result in the scratch
// memory. Without blocks it stands for the end of the work.
struct Tile {
    int m_block, head, n_blocks, first_block, slot;
    __device__ bool exists() const { return n_blocks > 0; }
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
    int* drawn;          // how many tiles were drawn after everyone's first; 0 before and after
    long long o_batch, o_head, o_row;
    float scale;         // of the scores, times log2(e)
    int heads, group, seqlen, listed;  // tiles in all
#if FP8
    const float* q_scales;    // [batch * heads, q_blocks], one for 64 rows
    const float4* kv_scales;  // [batch * heads of K and V, kv_blocks], see `softmax_fp8.cuh`
    int q_blocks, kv_blocks;
#endif
};

// One of the `STAGES` places for blocks of K, or of V, and the phase of its barriers; they are used in turn. Kept instead
// of a count, because a remainder would stand between a consumer's turn and its first product.
struct Place {
    u32 stage = 0, phase = 0;
    __device__ void advance() {
        if (++stage < STAGES) return;
        stage = 0;
        phase ^= 1;
    }
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
