// SPDX-License-Identifier: MIT OR Apache-2.0
/* Rank and environment variables. Only names of the list below are ever read: an environment also
 * holds tokens, paths and addresses. */
#include "env/fingerprint_internal.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Sorted. Each changes how a program runs, and none holds a path, an address or a name. */
static const char *const allowed_names[] = {
	"CUBLAS_WORKSPACE_CONFIG",
	"CUDA_DEVICE_MAX_CONNECTIONS",
	"CUDA_DEVICE_ORDER",
	"CUDA_LAUNCH_BLOCKING",
	"CUDA_MODULE_LOADING",
	"CUDA_VISIBLE_DEVICES",
	"CUDNN_DETERMINISTIC",
	"GOMP_SPINCOUNT",
	"KMP_AFFINITY",
	"KMP_BLOCKTIME",
	"MALLOC_ARENA_MAX",
	"MKL_DYNAMIC",
	"MKL_NUM_THREADS",
	"NCCL_ALGO",
	"NCCL_BUFFSIZE",
	"NCCL_CROSS_NIC",
	"NCCL_IB_DISABLE",
	"NCCL_MAX_NCHANNELS",
	"NCCL_MIN_NCHANNELS",
	"NCCL_NTHREADS",
	"NCCL_NVLS_ENABLE",
	"NCCL_P2P_DISABLE",
	"NCCL_P2P_LEVEL",
	"NCCL_PROTO",
	"NCCL_SHM_DISABLE",
	"NUMEXPR_NUM_THREADS",
	"NVIDIA_TF32_OVERRIDE",
	"OMP_DYNAMIC",
	"OMP_NUM_THREADS",
	"OMP_PLACES",
	"OMP_PROC_BIND",
	"OMP_SCHEDULE",
	"OMP_WAIT_POLICY",
	"OPENBLAS_NUM_THREADS",
	"PYTHONHASHSEED",
	"PYTHONMALLOC",
	"PYTHONOPTIMIZE",
	"PYTORCH_CUDA_ALLOC_CONF",
	"PYTORCH_NO_CUDA_MEMORY_CACHING",
	"TF_CPP_MIN_LOG_LEVEL",
	"TF_ENABLE_ONEDNN_OPTS",
	"TF_FORCE_GPU_ALLOW_GROWTH",
	"TOKENIZERS_PARALLELISM",
	"TORCHDYNAMO_DISABLE",
	"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
	"TORCH_CUDNN_V8_API_DISABLED",
	"TORCH_NCCL_ASYNC_ERROR_HANDLING",
	"TORCH_NCCL_BLOCKING_WAIT",
	"VECLIB_MAXIMUM_THREADS",
};

/* By launcher: torchrun, Open MPI, MPICH and Intel MPI, Slurm. The first that is set counts: under
 * Slurm each of the others may have been started once per node. */
static const char *const rank_names[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
	"SLURM_PROCID" };
static const char *const local_rank_names[] = { "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
	"MPI_LOCALRANKID", "SLURM_LOCALID" };
static const char *const world_size_names[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
	"SLURM_NTASKS" };

/* The first of the variables that holds a number, or NULL. */
static const char *first_number(const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *value = getenv(names[i]);
		const char *at = value;

		while (at && *at >= '0' && *at <= '9')
			at++;
		if (at && at != value && *at == '\0')
			return value;
	}
	return NULL;
}

const char *fingerprint_rank(void)
{
	return first_number(rank_names, COUNT_OF(rank_names));
}

void fingerprint_put_environment(const struct fingerprint_out *out)
{
	const char *rank = fingerprint_rank();
	const char *local_rank = first_number(local_rank_names, COUNT_OF(local_rank_names));
	const char *world_size = first_number(world_size_names, COUNT_OF(world_size_names));
	char key[64];

	if (rank)
		fingerprint_put(out, "rank", "%s", rank);
	if (local_rank)
		fingerprint_put(out, "local_rank", "%s", local_rank);
	if (world_size)
		fingerprint_put(out, "world_size", "%s", world_size);
	for (size_t i = 0; i < COUNT_OF(allowed_names); i++) {
		const char *value = getenv(allowed_names[i]);

		if (!value)
			continue;
		snprintf(key, sizeof key, "env.%s", allowed_names[i]);
		fingerprint_put(out, key, "%s", value);
	}
}
