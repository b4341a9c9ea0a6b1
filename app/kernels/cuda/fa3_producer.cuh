// One thread of `fa3_forward.cu`: which tiles its thread block works on, and the loads of q, K and V.
#pragma once
#include "fa3_layout.cuh"

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
    constexpr int K_ROWS = BLOCK_N / CLUSTER, V_ROWS = O_COLUMNS / CLUSTER;
    if (turned) {
#pragma unroll
        for (int c = 0; c < BLOCK_N / 64; ++c)
            load(place + (c * O_COLUMNS + rank * V_ROWS) * 64, rank * V_ROWS, block * (BLOCK_N / 64) + c);
    } else {
#pragma unroll
        for (int c = 0; c < CHUNKS; ++c)
            load(place + (c * BLOCK_N + rank * K_ROWS) * 128, block * BLOCK_N + rank * K_ROWS, c);
    }
}
#endif

__device__ __forceinline__ void fetch(const TensorMap& map, u32 place, u32 full, u32 empty, int count, u32 rank,
                                      int block, int head, int batch, bool of_v) {
    barrier_wait(empty, (count / STAGES & 1) ^ 1);
    const u32 bytes = of_v ? V_BYTES : K_BYTES;
    barrier_expect(full, bytes);
#if FP8
    fetch_bytes(map, place + count % STAGES * bytes, full, rank, block, head, batch, of_v);
#else
    constexpr int MY_CHUNKS = CHUNKS / CLUSTER;  // that this thread block loads for its cluster
    const u32 mine = place + count % STAGES * bytes + rank * MY_CHUNKS * BLOCK_N * 128;
#pragma unroll
    for (int i = 0; i < MY_CHUNKS; ++i) {
        if constexpr (CLUSTER == 2)
            tma_load_both(mine + i * BLOCK_N * 128, map, full, block * BLOCK_N, rank * MY_CHUNKS + i, head, batch);
        else
            tma_load(mine + i * BLOCK_N * 128, map, full, block * BLOCK_N, i, head, batch);
    }
#endif
}

// Which tiles a thread block works on: those of its list, or whichever is next when it asks.
struct Work {
    const Arguments& a;
    int index, end;
    __device__ Work(const Arguments& arguments, int list) : a(arguments) {
        index = DRAWN ? list : a.starts[list];
        end = DRAWN ? a.listed : a.starts[list + 1];
    }
    __device__ bool more() const { return index < end; }
    __device__ void advance() {
        if constexpr (!DRAWN) {
            ++index;
        } else {
            const int before = add_one(a.drawn);
            index = gridDim.x + before;
            if (before == a.listed - 1) *a.drawn = 0;  // everyone has drawn in vain once: this was the last
        }
    }
};

__device__ __forceinline__ void produce(const TensorMap& q_map, const TensorMap& k_map, const TensorMap& v_map,
                                        const Arguments& a, u32 smem, const Barriers& bars, u32 rank, Work work) {
    int count = 0;  // blocks of K asked for so far; V is one behind
    int owed_block = 0, owed_head = 0, owed_batch = 0;
    auto fetch_owed = [&] {
        const int stage = (count - 1) % STAGES;
        fetch(v_map, smem + V_PLACE, bars.v_full(stage), bars.v_empty(stage), count - 1, rank, owed_block, owed_head,
              owed_batch, true);
    };
    // The place for q and for the word which tile it belongs to.
    auto tell = [&](int turn, const Tile& tile) {
        const int slot = turn % Q_STAGES;
        barrier_wait(bars.q_empty(slot), (turn / Q_STAGES & 1) ^ 1);
        store_words(smem + TILES + slot * sizeof(Tile), tile);
    };
    int turn = 0;
    for (; work.more(); ++turn) {
        const Tile tile = a.tiles[work.index];
        const int batch = tile.head / a.heads, head = tile.head % a.heads, head_kv = head / a.group;
        auto fetch_q = [&] {
            const int slot = turn % Q_STAGES;
            tell(turn, tile);
            barrier_expect(bars.q_full(slot), Q_BYTES);
            tma_load(smem + slot * Q_BYTES, q_map, bars.q_full(slot), tile.first_row(place_in_cluster(rank, turn)), 0,
                     head, batch);
        };
        if (Q_STAGES > 1) fetch_q();
        const int last = tile.first_block + tile.n_blocks - 1;
        for (int block = last; block >= tile.first_block; --block) {
            const int stage = count % STAGES;
            if (block == tile.first_block) work.advance();  // before the wait for a place, so that the answer is there
            fetch(k_map, smem + K_PLACE, bars.k_full(stage), bars.k_empty(stage), count, rank, block, head_kv, batch,
                  false);
            if (count > 0) fetch_owed();
            // With one place for q it is free only when the last tile's last scores are done; its last V and the next K
            // have been asked for by then.
            if (Q_STAGES == 1 && block == last) fetch_q();
            // The next tile's q is read for the first time: it is asked into the L2 cache while its place is still in use.
            if (Q_STAGES == 1 && !ALL_HELD && block == tile.first_block && work.more()) {
                const Tile next = a.tiles[work.index];
                tma_prefetch(q_map, next.first_row(place_in_cluster(rank, turn + 1)), 0, next.head % a.heads,
                             next.head / a.heads);
            }
            ++count;
            owed_block = block, owed_head = head_kv, owed_batch = batch;
        }
    }
    fetch_owed();
    tell(turn, Tile{});
    barrier_arrive(bars.q_full(turn % Q_STAGES));
}
