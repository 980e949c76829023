/* SPDX-License-Identifier: MIT */
#include "tests/support/unit_test.h"

#include "planner/measured/kernel_profile.h"
#include <string.h>

static void assert_near(double value, double expected, double margin)
{
    if (!(value >= expected - margin && value <= expected + margin))
        fail_msg("%.9g, expected %.9g", value, expected);
}

static const struct {
    const char *name;
    enum kernel_class class;
} names[] = {
    {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
     KERNEL_ALL_REDUCE},
    {"ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclDevComm *, unsigned long, ncclWork *)",
     KERNEL_ALL_GATHER},
    {"ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", KERNEL_REDUCE_SCATTER},
    {"ncclDevKernel_Reduce_Sum_f32_RING_LL", KERNEL_BROADCAST},
    {"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<(unsigned long)4096>)", KERNEL_SEND_RECV},
    {"ncclKernel_Broadcast_RING_LL_Sum_int8_t", KERNEL_BROADCAST},
    {"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", KERNEL_COLLECTIVE},
    {"void deep_ep::intranode::dispatch<8, 768>", KERNEL_ALL_TO_ALL},
    {"userbuffers_fp16_sum_inplace_gpu_rr_rs", KERNEL_COLLECTIVE},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64", KERNEL_GEMM},
    {"nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT", KERNEL_GEMM},
    {"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn", KERNEL_GEMM},
    {"Cijk_Alik_Bljk_BBS_BH_MT256x256x64", KERNEL_GEMM},
    {"void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90>>", KERNEL_ATTENTION},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob", KERNEL_ATTENTION},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>",
     KERNEL_ELEMENTWISE},
    {"void transformer_engine::normalization::rmsnorm_fwd_tuned_kernel", KERNEL_ELEMENTWISE},
    {"triton_poi_fused_add_mul_3", KERNEL_ELEMENTWISE},
    {"my_kernel", KERNEL_OTHER},
    {"", KERNEL_OTHER},
};

static void kernels_are_told_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (kernel_class_of(names[i].name) != names[i].class)
            fail_msg("%s: %s, expected %s", names[i].name,
                     kernel_class_name(kernel_class_of(names[i].name)),
                     kernel_class_name(names[i].class));
    assert_true(kernel_class_is_collective(KERNEL_COLLECTIVE));
    assert_false(kernel_class_is_collective(KERNEL_GEMM));
}

#define NSYS_HEAD                                                                                  \
    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"

static const char nsys[] =
    "NOTICE: Existing SQLite export found, \"rank0.sqlite\n"
    "Processing [rank0.sqlite] with [cuda_gpu_kern_sum.py]... \n\n" NSYS_HEAD
    "60.0,6000000000,10,1,1,1,1,1.5,\"void gemm<int, 4>(\"\"x\"\")\"\n"
    "40.0,4000000000,20,1,1,1,1,1.5,ncclDevKernel_AllReduce_Sum_bf16_RING_LL(args)\n\n"
    "Processing [rank0.sqlite] with [cuda_gpu_mem_time_sum.py]...\nTime (%),Total Time (ns)\n";
static const char microseconds[] = "Time(%),Total Time (us),Instances,Average,Name\r\n"
                                   "75.0,3000,3,1,sgemm\r\n25.0,1000,1,1,ncclKernel_AllReduce\r\n";
static const char pytorch[] =
    "key,device_type,self_device_time_total,count,is_user_annotation\n"
    "aten::mm,DeviceType.CPU,3000,3,False\n"
    "nccl:all_reduce,DeviceType.CUDA,1000,1,True\n"
    "sm90_xmma_gemm_bf16,DeviceType.CUDA,3000,3,False\n"
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL,DeviceType.CUDA,1000,1,False\n";
static const char old_pytorch[] = "key,device_type,self_cuda_time_total,count\n"
                                  "sgemm,DeviceType.CUDA,3000,3\nncclKernel_AllReduce,"
                                  "DeviceType.CUDA,1000,1\n";

static const struct {
    const char *text, *kind;
    double total, share;
    uint64_t calls; /* of matrix products */
} profiles[] = {
    {nsys, "nsys", 10, 0.4, 10},
    {microseconds, "nsys", 0.004, 0.25, 3},
    {pytorch, "pytorch", 0.004, 0.25, 3},
    {old_pytorch, "pytorch", 0.004, 0.25, 3},
};

static void profiles_are_summed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(profiles); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct kernel_profile profile;
        if (kernel_profile_parse(profiles[i].text, strlen(profiles[i].text), "p.csv", &profile,
                                 &err) < 0) {
            if (err.kind != ERROR_MEMORY)
                fail_msg("%zu: %s", i, err.text);
            return;
        }
        assert_string_equal(profile.kind, profiles[i].kind);
        assert_near(profile.total_seconds, profiles[i].total, 1e-9);
        assert_near(kernel_profile_nccl_share(&profile), profiles[i].share, 1e-9);
        assert_int_equal(profile.instances[KERNEL_GEMM], profiles[i].calls);
        assert_int_equal(profile.kernels, 2);
    }
}

static const struct {
    const char *text, *message;
} broken[] = {
    {"", "nothing in it"},
    {"Name,Time\nx,1\n", "cuda_gpu_kern_sum"},
    {"key,self_device_time_total,count\nx,1,1\n", "device_type"},
    {NSYS_HEAD, "took any time"},
    {NSYS_HEAD "0,0,0,0,0,0,0,0,x\n", "took any time"},
    {NSYS_HEAD "1,many,1,1,1,1,1,1,x\n", "p.csv:2"},
    {NSYS_HEAD "1,-5,1,1,1,1,1,1,x\n", "p.csv:2"},
    {NSYS_HEAD "1,5,1,1,1,1,1,1,x\n1,5\n", "p.csv:3"},
    {"NOTICE: a\n\n" NSYS_HEAD "1,5,1,1,1,1,1,1,\"x\n", "p.csv:4"},
};

static void broken_profiles_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(broken); i++) {
        struct error_info err = {.kind = ERROR_NONE};
        struct kernel_profile profile = {.kind = "untouched"};
        assert_int_equal(
            kernel_profile_parse(broken[i].text, strlen(broken[i].text), "p.csv", &profile, &err),
            -1);
        assert_string_equal(profile.kind, "untouched");
        if (err.kind != ERROR_MEMORY && !strstr(err.text, broken[i].message))
            fail_msg("%zu: \"%s\" does not say %s", i, err.text, broken[i].message);
    }
}

static void files_are_read(void **state)
{
    (void)state;
    struct error_info err = {.kind = ERROR_NONE};
    struct kernel_profile profile;
    assert_int_equal(kernel_profile_load("no/such/profile.csv", &profile, &err), -1);
    assert_true(err.kind == ERROR_MEMORY || strstr(err.text, "no/such/profile.csv"));
}

static int scenario(void *context, struct error_info *err)
{
    struct kernel_profile profile;
    return kernel_profile_parse(context, strlen(context), "p.csv", &profile, err);
}

static void failing_memory_is_clean(void **state)
{
    (void)state;
    unit_test_expect_clean_failures(scenario, (void *)nsys);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_told_by_name),    cmocka_unit_test(profiles_are_summed),
        cmocka_unit_test(broken_profiles_are_refused), cmocka_unit_test(files_are_read),
        cmocka_unit_test(failing_memory_is_clean),
    };
    return unit_test_main("planner/kernel_profile", tests, COUNT_OF(tests));
}
