// FlashAttention-3's order, forward, in CUDA C++: what `fa3_gluon` does, with what Gluon has not: blocks of K and V
// that are no power of two, and one load for two thread blocks (multicast).
//
// Compile-time constants (-D): HEAD_DIM, BLOCK_N, CONSUMERS, STAGES, Q_STAGES, CLUSTER, CAUSAL, BF16,
// FP8 (q, k, v and the probabilities are e4m3 numbers; BF16 then says what o is), CONSUMER_REGISTERS,
// PRODUCER_REGISTERS, LATE (PV is waited for after so many percent of the exponentials; 0: where the compiler thinks
// fit), LAZY (o is rescaled only when a maximum of the warp's rows has grown, see `softmax.cuh`), PATIENT (a turn is
// handed on when its scores are there, else when they are asked for), DRAWN (tiles are drawn from one list by whoever is
// free, else each thread block has a list of its own), ORDERED (a thread's second row waits with its maximum for the
// first, whose exponentials then begin beside it), RELYING (only the first consumer waits for blocks of K and V), HELD
// (so many steps of a product with q find it in registers while its tile lasts), FEW (a tile's first block takes smaller
// products where no more than so many of its keys are seen; 0: never), CODED with SUM_COLUMNS (`softmax_fp8.cuh`) and
// AGREEING (maxima are compared as floats until a consumer's warps agree that none is negative, then as integers; else
// as integers, and checked).
// `wgmma.cuh`, made by `wgmma.py`, has the tensor-core instructions of these sizes:
//   product_ss(s, a, b, keep)   s[64, BLOCK_N]  (+)= a[64, DEPTH] b[DEPTH, BLOCK_N], both in shared memory
//   product_hs(s, q, b, keep)   the same, q in registers; both also for s[64, FEW]
//   product_rs(o, p, b, keep)   o[64, O_COLUMNS] (+)= p[64, DEPTH] b[DEPTH, O_COLUMNS], p in registers
// DEPTH is 32 bytes' worth of numbers.
// Source of the order of work: arXiv 2407.08608, section 3.
#include "fa3_producer.cuh"
#include "pieces.cuh"
#if FP8
#include "softmax_fp8.cuh"
#else
#include "softmax.cuh"
#endif
#include "wgmma.cuh"

// A consumer's rows of q: where they lie in shared memory, and the first HELD steps' columns themselves.
struct Left {
    u64 matrix;
    u32 held[HELD ? 4 * HELD : 1];
};

// Scores with the first 2 N keys of a block of K.
template <int N>
__device__ __forceinline__ void issue_scores(float (&s)[N], const Left& q, u64 k) {
    pin(s);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < Q_STEPS; ++step) {
        const int within = step % 4 * 32 / 16;  // in the units of a matrix's address, 16 bytes
        const u64 right = k + step / 4 * (BLOCK_N * 128 / 16) + within;
        if (step < HELD) {
            const u32* mine = q.held + 4 * step;
            product_hs(s, mine[0], mine[1], mine[2], mine[3], right, step > 0);
        } else {
            product_ss(s, q.matrix + step / 4 * (BLOCK_M * 128 / 16) + within, right, step > 0);
        }
    }
    wgmma_commit();
}

// The first KEYS keys of a block of V, weighed with their probabilities.
template <int KEYS>
__device__ __forceinline__ void issue_output(float (&o)[O_COLUMNS / 2], const u32 (&p)[P_WORDS], u64 v, int keep) {
    pin(o);
    wgmma_begin();
#pragma unroll
    for (int step = 0; step < P_WORDS / 4 * KEYS / BLOCK_N; ++step) {
        product_rs(o, p[4 * step], p[4 * step + 1], p[4 * step + 2], p[4 * step + 3], v + v_step(step),
                   step > 0 ? 1 : keep);
    }
    wgmma_commit();
}

// o / sum → hbm, and the log-sum-exp of every row; of a part → scratch, in fp32. `row` is the sequence's, `tile_row`
// the cluster's tile's.
__device__ __forceinline__ void finish(const float (&o)[O_COLUMNS / 2], const Rows& rows, const Arguments& a,
                                       const Tile& tile, int row, int tile_row) {
    const int head = tile.head;
    const int quad = threadIdx.x % 4;
    unsigned short* out = static_cast<unsigned short*>(a.o) + head / a.heads * a.o_batch + head % a.heads * a.o_head;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int mine = row + 8 * half;
        const float sum = whole_sum(o, rows, half, a, head);
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

// A number that the compiler knows.
template <int N>
struct Count {
    constexpr __device__ int operator()() const { return N; }
};

__device__ __forceinline__ void consume(const Arguments& a, u32 smem, const Barriers& bars, int consumer, u32 rank) {
    const int lane_row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4;
    const bool teller = threadIdx.x % 128 == 0;
    const int turn_barrier = 1 + consumer, next_barrier = 1 + (consumer + 1) % CONSUMERS;
    float o[O_COLUMNS / 2], rescale[2];
    u32 p[P_WORDS];
    Rows rows;
    bool few = false;  // keys are seen of the tile's first block
    Place k, v;        // of the block of K that comes next, and of the V whose probabilities are known

    Left q;
    // `turn`'s rows of q; in registers as the copy engine's swizzle of 128 bytes lets `ldmatrix` find them.
    auto take_q = [&](u32 turn) {
        const u32 there = smem + turn % Q_STAGES * Q_BYTES + consumer * ROWS * 128;
        q.matrix = matrix(there, 0, 1024);
        if constexpr (HELD) {
            const int row = threadIdx.x % 128 / 32 * 16 + threadIdx.x % 16, half = threadIdx.x % 32 / 16;
#pragma unroll
            for (int step = 0; step < HELD; ++step) {
                u32* mine = q.held + 4 * step;
                const u32 piece = (2 * (step % 4) + half) ^ (row % 8);
                load_rows(there + step / 4 * (BLOCK_M * 128) + row * 128 + piece * 16, mine[0], mine[1], mine[2],
                          mine[3]);
            }
        }
        if (ALL_HELD) barrier_arrive(bars.q_empty(turn % Q_STAGES));
    };
    const u64 first_k = matrix(smem + K_PLACE, 0, 1024), first_v = v_matrix(smem + V_PLACE);
    auto k_block = [&] { return first_k + k.stage * (K_BYTES / 16); };
    auto v_block = [&] { return first_v + v.stage * (V_BYTES / 16); };
    auto wait_k = [&](const Place& at) { barrier_wait(bars.k_full(at.stage), at.phase); };
    auto wait_v = [&](const Place& at) { barrier_wait(bars.v_full(at.stage), at.phase); };
    auto wait_q = [&](u32 turn) {
        barrier_wait(bars.q_full(turn % Q_STAGES), turn / Q_STAGES & 1);
        const Tile tile = load_words<Tile>(smem + TILES + turn % Q_STAGES * sizeof(Tile));
        take_q(turn);
        return tile;
    };
    // Whether this consumer sees at most FEW keys of a block.
    auto sees_few = [&](const Tile& tile, int place, int block) {
        if (!FEW) return false;
        const int end = CAUSAL ? min(tile.first_row(place) + (consumer + 1) * ROWS, a.seqlen) : a.seqlen;
        return bool(__shfl_sync(0xffffffff, int(end - (tile.first_block + block) * BLOCK_N <= FEW), 0));
    };
    // Whose turn comes later may rely on the first consumer: it has waited for the same block before its own.
    const bool waiting = !RELYING || consumer == 0;
    auto expect_k = [&] {
        if (waiting) wait_k(k);
    };
    auto expect_v = [&] {
        if (waiting) wait_v(v);
    };
    auto release = [&](u32 barrier) {
        if (!teller) return;
        barrier_arrive(barrier);
        if constexpr (CLUSTER == 2) barrier_arrive_at(barrier, rank ^ 1);
    };
    auto my_turn = [&] { named_wait(turn_barrier, 256); };
    auto your_turn = [&] { named_arrive(next_barrier, 256); };
    // Whether no maximum of this consumer's rows has a sign, not even that of -0; then none will while the tile lasts.
    auto none_negative = [&] {
        const bool all = named_all(1 + CONSUMERS + consumer, 128, !sign_in(rows.max));
        return bool(__shfl_sync(0xffffffff, int(all), 0));  // one for a whole warp, and the compiler knows
    };
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
    auto first_max = [&](auto& s, const Tile& tile, int place, int block) {
        rows = {{LOWEST, LOWEST}, {0, 0}};
        const int first_key = (tile.first_block + block) * BLOCK_N;
        if (CAUSAL || first_key + BLOCK_N > a.seqlen)
            mask(s, tile.first_row(place) + consumer * ROWS + lane_row, first_key, a.seqlen);
        take_max<AGREEING ? AS_FLOATS : CHECKED>(s, rows, rescale, scale);
        leave_negative(rows, scale);
    };
    // Blocks that only the other thread block of the cluster sees come all the same, K at once and V one block behind.
    // One warp waits for them: the place is given back at once, and a warp that looked later would miss the barrier's
    // phase. The others meet this one at the next turn.
    const bool telling_warp = __shfl_sync(0xffffffff, threadIdx.x % 128 / 32, 0) == 0;
    auto pass_by = [&](Place at, int blocks, bool of_v) {
        if constexpr (CHANGE_PLACES) {
#pragma unroll 1
            for (; blocks > 0; --blocks) {
                if (telling_warp) {
                    of_v ? wait_v(at) : wait_k(at);
                    __syncwarp();
                    release(of_v ? bars.v_empty(at.stage) : bars.k_empty(at.stage));
                }
                at.advance();
            }
        }
        return at;
    };
    constexpr int SOME = FEW ? FEW : BLOCK_N;
    // Either way what a tile's first block asks for, from its scores to its probabilities, is in one piece: ptxas
    // serialises products that may be running where two ways meet.
    auto either = [&](bool few, auto whole) {
        if (FEW && few)
            whole(Count<SOME>{});
        else
            whole(Count<BLOCK_N>{});
    };
    // A tile's first scores and probabilities with nothing beside them.
    auto first_probabilities = [&](const Tile& tile, int place, int block) {
        use_scale_of(tile, place, block);
        my_turn();
        either(few, [&](auto keys) {
            float s[keys() / 2];
            issue_scores(s, q, k_block());
            your_turn();
            wgmma_wait<0>();
            pin(s);
            release(bars.k_empty(k.stage));
            first_max(s, tile, place, block);
            take_exp<0, keys() / 8>(s, rows, scale);
            to_operand(s, p);
        });
    };

    if (consumer == CONSUMERS - 1) your_turn();
    Tile tile = wait_q(0);
    {
        const int place = place_in_cluster(rank, 0), unseen = tile.unseen(place), block = tile.n_blocks - 1 - unseen;
        k = pass_by({}, unseen, false);
        few = sees_few(tile, place, block);
        expect_k();
        first_probabilities(tile, place, block);
        v = pass_by({}, unseen, true);
        k.advance();
    }

    for (u32 turn = 0; tile.exists(); ++turn) {
        const int place = place_in_cluster(rank, turn), row = tile.first_row(place) + consumer * ROWS;
        const int last = tile.n_blocks - 1 - tile.unseen(place);
        const int open = CAUSAL && !ONE_DIAGONAL ? min(last, (row + 1) / BLOCK_N) : last;  // from here on without a mask
        int keep = 0;
        // A turn on the tensor cores: scores with the next block of K, PV of the last one. Only PV still runs after it.
        auto scores_and_output = [&](auto& s, auto keys_before) {
            my_turn();
            issue_scores(s, q, k_block());
            expect_v();
            issue_output<keys_before()>(o, p, v_block(), keep);
            if (!PATIENT) your_turn();
            wgmma_wait<1>();
            pin(s);
            if (PATIENT) your_turn();
        };
        // The exponentials of those scores while PV still runs; then they are the next left operand.
        auto exp_beside_output = [&](auto& s) {
            constexpr int ALL = sizeof(s) / 16, EARLY = LATE ? ALL * LATE / 100 : ALL;  // columns, in eights
            take_exp<0, EARLY>(s, rows, scale);
            if (LATE) when_known<EARLY>(s, rows, smem);
            wgmma_wait<0>();
            pin(o);
            release(bars.v_empty(v.stage));
            take_exp<EARLY, ALL>(s, rows, scale);
            to_operand(s, p);
        };
        // Every thread says so itself: each has read which tile it was, and racecheck follows no one who speaks for all.
        auto give_q_back = [&] { barrier_arrive(bars.q_empty(turn % Q_STAGES)); };
        auto visit = [&](int block, bool masked, auto keys_before, auto compared) {
            float s[BLOCK_N / 2];
            use_scale_of(tile, place, block);
            expect_k();
            scores_and_output(s, keys_before);
            release(bars.k_empty(k.stage));
            if (Q_STAGES == 1 && !ALL_HELD && block == 0) give_q_back();
            if (CAUSAL && masked) mask(s, row + lane_row, block * BLOCK_N, a.seqlen);
            take_max<Compared(compared())>(s, rows, rescale, scale);
            exp_beside_output(s);
            take_sums(o, rows, rescale);
            if (!LAZY || __any_sync(0xffffffff, rescale[0] != 1 || rescale[1] != 1)) {
#pragma unroll
                for (int i = 0; i < HEAD_DIM / 2; ++i) o[i] *= rescale[i / 2 % 2];
            }
            keep = 1;
            v = k;
            k.advance();
        };
        int block = last - 1;
        constexpr Count<AGREEING ? AS_FLOATS : CHECKED> compared;
        if (FEW && few && block >= 0) visit(block--, CAUSAL && !ONE_DIAGONAL, Count<SOME>{}, compared);
        if (CAUSAL && !ONE_DIAGONAL) {
#pragma unroll 1
            for (; block >= open; --block) visit(block, true, Count<BLOCK_N>{}, compared);
        }
        if constexpr (AGREEING) {
            bool agreed = none_negative();
#pragma unroll 1
            for (; block >= 0 && !agreed; --block) {
                visit(block, false, Count<BLOCK_N>{}, compared);
                agreed = none_negative();
            }
#pragma unroll 1
            for (; block >= 0; --block) visit(block, false, Count<BLOCK_N>{}, Count<AS_BITS>{});
        } else {
#pragma unroll 1
            for (; block >= 0; --block) visit(block, false, Count<BLOCK_N>{}, compared);
        }
        if (!ALL_HELD && (Q_STAGES > 1 || last == 0)) give_q_back();

        const Rows done = rows;
        const int next_place = place_in_cluster(rank, turn + 1);
        const int tile_row = place * BLOCK_M + consumer * ROWS + lane_row;
        Tile next;
        int unseen;
        const Place passing = k;
        auto look_at_next = [&] {
            next = wait_q(turn + 1);
            unseen = next.exists() ? next.unseen(next_place) : 0;
        };
        if constexpr (Q_STAGES > 1 || ALL_HELD) {
            // This tile's last PV together with the next tile's first scores (of stale data, unused, without a next).
            look_at_next();
            if (next.exists()) {
                k = pass_by(passing, unseen, false);
                expect_k();
            }
            const int next_block = max(next.n_blocks - 1 - unseen, 0);
            use_scale_of(next, next_place, next_block);
            few = sees_few(next, next_place, next_block);
            either(few, [&](auto keys) {
                float s[keys() / 2];
                scores_and_output(s, Count<BLOCK_N>{});
                if (next.exists()) release(bars.k_empty(k.stage));
                first_max(s, next, next_place, next_block);
                exp_beside_output(s);
            });
            pass_by(passing, unseen, true);
            finish(o, done, a, tile, row + lane_row, tile_row);
        } else {
            expect_v();
            my_turn();
            issue_output<BLOCK_N>(o, p, v_block(), keep);
            your_turn();
            wgmma_wait<0>();
            pin(o);
            release(bars.v_empty(v.stage));
            finish(o, done, a, tile, row + lane_row, tile_row);
            look_at_next();
            if (next.exists()) {
                const int next_block = next.n_blocks - 1 - unseen;
                k = pass_by(passing, unseen, false);
                expect_k();
                few = sees_few(next, next_place, next_block);
                first_probabilities(next, next_place, next_block);
                pass_by(passing, unseen, true);
            }
        }
        v = k;
        k.advance();
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
            barrier_init(bars.q_empty(slot), CONSUMERS * 128);
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

    const int group = __shfl_sync(0xffffffff, threadIdx.x / 128, 0);  // one for a whole warp, and the compiler knows
    if (group == 0) {
        registers_down<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) produce(q_map, k_map, v_map, a, smem, bars, rank, Work(a, blockIdx.x / CLUSTER));
        __syncwarp();
    } else {
        registers_up<CONSUMER_REGISTERS>();
        consume(a, smem, bars, group - 1, rank);
    }
    if constexpr (CLUSTER == 2) cluster_meet();  // the other one may still write here
}
