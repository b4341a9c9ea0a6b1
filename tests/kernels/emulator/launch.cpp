// What `tests/kernels/emulated.py` calls: one launch, thread blocks one cluster after the other.
#include KERNEL_FILE

// Empty when all went well, else what went wrong. `parameters`: addresses and sizes of the kernel's parameters.
extern "C" __attribute__((visibility("default"))) const char* emulate(int clusters, int size, int threads, unsigned smem_bytes, unsigned long long seed,
                               const void* const* parameters, const size_t* sizes) {
    static std::string problem;
    problem.clear();
    TensorMap maps[MAPS];
    Arguments arguments;
    for (int i = 0; i < MAPS; ++i) std::memcpy(static_cast<void*>(&maps[i]), parameters[i], sizes[i]);
    std::memcpy(static_cast<void*>(&arguments), parameters[MAPS], sizes[MAPS]);
    machine::draw.seed(seed);
    gridDim.x = clusters * size;
    machine::body = [&] { KERNEL_CALL; };
    try {
        for (int i = 0; i < clusters; ++i) machine::run_cluster(i * size, size, threads, smem_bytes);
    } catch (const std::exception& error) {
        problem = error.what();
    }
    return problem.c_str();
}
