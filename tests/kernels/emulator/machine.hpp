// One cluster of thread blocks on a processor: every GPU thread is a fiber that runs until it has to wait for another.
// Which one goes on next, and when asynchronous work (copies, tensor cores) happens between the moment it is asked for
// and the moment it is waited for, is drawn at random from a seed: a missing wait shows as a wrong number or as NaN, a
// barrier that nobody opens as a deadlock with the list of those who wait.
#pragma once
#include <ucontext.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace machine {

constexpr int WARP = 32, WARPGROUP = 128;
constexpr int LONG = 64;  // how many times the threads are gone through before others are held back, on average
constexpr size_t STACK = 256 << 10;

// mbarrier: a phase ends when nothing is awaited any more, neither arrivals nor bytes.
struct Barrier {
    uint32_t arrivals = 0, awaited = 0;
    int64_t bytes = 0;
    bool parity = false;
    void look() {
        if (awaited || bytes) return;
        awaited = arrivals;
        parity = !parity;
    }
};

// Threads that meet: `arrived` of them so far, and how often they have met.
struct Meeting {
    uint32_t arrived = 0;
    uint64_t met = 0;
    bool all = true, agreed = true;  // of what those said who meet now, and who met last
};

struct Warp {
    Meeting meeting;
    uint64_t given[WARP] = {}, taken[WARP] = {};
};

struct Group;

// One thread's part of a tensor-core instruction; its left operand may lie in registers, read when the product runs.
struct Product {
    std::function<void(int thread, const Group& group)> run;
    const uint32_t* left[4] = {};
};

// Products committed together run together, for all threads of their warpgroup.
struct Group {
    std::vector<std::vector<Product>> of_thread = std::vector<std::vector<Product>>(WARPGROUP);
    int committed = 0;
    bool done = false;
};

struct Warpgroup {
    std::deque<Group> groups;
    uint64_t first = 0;  // number of groups already forgotten
    Meeting waiting;
    Group& group(uint64_t number) {
        while (groups.size() <= number - first) groups.emplace_back();
        return groups[number - first];
    }
};

struct Fiber;

struct ThreadBlock {
    int rank = 0, index = 0, threads = 0;
    std::vector<uint8_t> smem;
    std::map<uint32_t, Barrier> barriers;
    Meeting named[16], all;
    std::vector<Warp> warps;
    std::vector<Warpgroup> warpgroups;
};

struct Fiber {
    ucontext_t context;
    std::unique_ptr<char[]> stack;
    ThreadBlock* block = nullptr;
    int thread = 0;
    bool ended = false;
    std::function<bool()> goes_on;
    std::string waits_for;
    std::vector<Product> open;  // products not committed yet
    uint64_t committed = 0, finished = 0;
    std::string error;
};

struct Copy {
    std::function<void()> write, tell;
    bool written = false;
};

inline std::vector<std::unique_ptr<ThreadBlock>> cluster;
inline std::vector<std::unique_ptr<Fiber>> fibers;
inline std::vector<Copy> copies;  // asked for, not told yet
inline Meeting cluster_meeting;
inline std::mt19937_64 draw;
inline Fiber* now = nullptr;
inline ucontext_t scheduler;
inline std::function<void()> body;

inline bool coin() { return draw() & 1; }
inline ThreadBlock& block() { return *now->block; }
inline Warp& warp() { return block().warps[now->thread / WARP]; }
inline Warpgroup& warpgroup() { return block().warpgroups[now->thread / WARPGROUP]; }

inline void fail(const std::string& why) { throw std::runtime_error(why); }

inline void wait_until(std::function<bool()> open, std::string what) {
    if (open()) return;
    now->goes_on = std::move(open);
    now->waits_for = std::move(what);
    swapcontext(&now->context, &scheduler);
}

// The last of `threads` to come lets all go on; it does `last` before.
inline void meet(Meeting& meeting, uint32_t threads, const std::string& what, const std::function<void()>& last = {}) {
    const uint64_t before = meeting.met;
    if (++meeting.arrived == threads) {
        meeting.arrived = 0;
        if (last) last();
        ++meeting.met;
        return;
    }
    wait_until([&meeting, before] { return meeting.met != before; }, what);
}

// A value for each thread of the warp; every thread gets all of them.
inline const uint64_t* exchange(uint64_t value) {
    Warp& mine = warp();
    mine.given[now->thread % WARP] = value;
    meet(mine.meeting, WARP, "its warp", [&mine] { std::memcpy(mine.taken, mine.given, sizeof mine.taken); });
    return mine.taken;
}

inline Barrier& barrier(ThreadBlock& of, uint32_t address) {
    if (!of.threads) fail("something reaches a thread block that has ended");
    const auto found = of.barriers.find(address);
    if (found == of.barriers.end()) fail("no barrier was made at " + std::to_string(address));
    return found->second;
}

inline void arrive(ThreadBlock& of, uint32_t address) {
    Barrier& there = barrier(of, address);
    if (!there.awaited) fail("one arrival too many at barrier " + std::to_string(address));
    --there.awaited;
    there.look();
}

// ---- tensor cores

inline uint64_t instructions = 0;  // run so far

inline void run(Group& group) {
    if (group.done) return;
    group.done = true;
    // Step by step, all threads: a product may read registers of other threads of its quad.
    for (size_t step = 0; step < group.of_thread[0].size(); ++step, ++instructions)
        for (int thread = 0; thread < WARPGROUP; ++thread) group.of_thread[thread].at(step).run(thread, group);
}

inline void commit() {
    Group& group = warpgroup().group(now->committed);
    group.of_thread[now->thread % WARPGROUP] = std::move(now->open);
    now->open.clear();
    ++now->committed;
    if (++group.committed < WARPGROUP) return;
    // At once when earlier ones are done and the coin says so, else when it is waited for.
    for (Group& each : warpgroup().groups) {
        if (each.committed < WARPGROUP || !(each.done || coin())) break;
        run(each);
    }
}

// A thread stands still for a while, as often as not.
inline void linger() {
    while (coin()) {
        now->goes_on = [] { return true; };
        swapcontext(&now->context, &scheduler);
    }
}

inline void finish_but(int still_running) {
    Warpgroup& mine = warpgroup();
    if (now->thread % WARPGROUP == 0) linger();  // products may still run for long when all threads wait for them
    const uint64_t upto = now->committed > uint64_t(still_running) ? now->committed - still_running : now->finished;
    meet(mine.waiting, WARPGROUP, "its warpgroup's products", [&mine, upto] {
        for (uint64_t number = mine.first; number < upto; ++number) run(mine.group(number));
        while (mine.first < upto) mine.groups.pop_front(), ++mine.first;
    });
    now->finished = upto;
}

// ---- running

inline void enter() {
    try {
        body();
    } catch (const std::exception& error) {
        now->error = error.what();
    }
    now->ended = true;
    --block().threads;
    swapcontext(&now->context, &scheduler);
}

// Some copies write, some tell that they have written; `all`: nothing else is left to do.
inline bool copy_some(bool all) {
    bool any = false;
    for (size_t i = 0; i < copies.size();) {
        Copy& copy = copies[i];
        if (!copy.written && (all || coin())) copy.write(), copy.written = any = true;
        if (copy.written && (all || coin())) {
            copy.tell();
            any = true;
            copies.erase(copies.begin() + i);
        } else {
            ++i;
        }
    }
    return any;
}

inline std::string who_waits() {
    std::map<std::string, int> waiting;
    for (const auto& fiber : fibers)
        if (!fiber->ended)
            ++waiting["block " + std::to_string(fiber->block->rank) + ", warp " +
                      std::to_string(fiber->thread / WARP) + ": " + fiber->waits_for];
    std::ostringstream text;
    text << "deadlock;";
    for (const auto& [where, count] : waiting) text << "\n  " << where << " (" << count << " threads)";
    return text.str();
}

inline void run_cluster(int first_block, int size, int threads, uint32_t smem_bytes) {
    cluster.clear(), fibers.clear(), copies.clear();
    cluster_meeting = {};
    for (int rank = 0; rank < size; ++rank) {
        auto block = std::make_unique<ThreadBlock>();
        block->rank = rank, block->index = first_block + rank, block->threads = threads;
        block->smem.assign(smem_bytes, 0xff);  // NaN until written
        block->warps.resize(threads / WARP);
        block->warpgroups.resize(threads / WARPGROUP);
        for (int thread = 0; thread < threads; ++thread) {
            auto fiber = std::make_unique<Fiber>();
            fiber->block = block.get(), fiber->thread = thread;
            fiber->stack.reset(new char[STACK]);
            getcontext(&fiber->context);
            fiber->context.uc_stack.ss_sp = fiber->stack.get();
            fiber->context.uc_stack.ss_size = STACK;
            makecontext(&fiber->context, enter, 0);
            fibers.push_back(std::move(fiber));
        }
        cluster.push_back(std::move(block));
    }
    uint64_t held_back = 0;  // warpgroups that stand still for a long time
    for (;;) {
        bool any = false, all_ended = true;
        const uint64_t skipped = draw();  // warps that stand still this time
        if (draw() % LONG == 0) held_back = draw() & draw();
        for (const auto& fiber : fibers) {
            if (fiber->ended) continue;
            all_ended = false;
            if (skipped >> (fiber->thread / WARP + 32 * fiber->block->rank) & 1) continue;
            if (held_back >> (fiber->thread / WARPGROUP + 8 * fiber->block->rank) & 1) continue;
            if (fiber->goes_on && !fiber->goes_on()) continue;
            fiber->goes_on = {};
            now = fiber.get();
            swapcontext(&scheduler, &fiber->context);
            any = true;
            if (!fiber->error.empty()) fail(fiber->error);
        }
        if (all_ended) break;
        if (copy_some(false) || any) continue;
        // Nobody went on: was it only those who stood still?
        held_back = 0;
        for (const auto& fiber : fibers) any = any || (!fiber->ended && (!fiber->goes_on || fiber->goes_on()));
        if (!any && !copy_some(true)) fail(who_waits());
    }
    if (!copies.empty()) fail("a copy came after the end");
}

}  // namespace machine
