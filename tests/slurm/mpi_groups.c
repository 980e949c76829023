/* SPDX-License-Identifier: MIT */
/*
 * An MPI program as a training framework is one: it numbers itself (MPI_COMM_WORLD), splits the
 * world by the plan's coordinates, and sums over each group. One line for each rank:
 *     MPI rank, RANK, node, LOCAL_RANK, tp, pp, dp, node-mates, "right" or what is wrong
 * Compiled and run by place.bats.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum coordinate { TP, PP, DP, COORDINATES };

static int number(const char *name)
{
    const char *text = getenv(name);
    int value = text && *text ? 0 : -1;
    for (; text && *text; text++)
        value = value * 10 + *text - '0';
    return value;
}

/* Over the ranks that differ in one coordinate alone: their world ranks' sum, by a communicator. */
static int sum_by_split(const int mine[COORDINATES], enum coordinate along, int rank)
{
    int colour = 0, sum = 0;
    MPI_Comm group;
    for (int i = 0; i < COORDINATES; i++)
        colour = colour * 1000 + (i == (int)along ? 0 : mine[i]);
    MPI_Comm_split(MPI_COMM_WORLD, colour, mine[along], &group);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, group);
    MPI_Comm_free(&group);
    return sum;
}

/* The same from the coordinates that the rank order tp-cp-ep-dp-pp gives each world rank. */
static int sum_by_order(const int mine[COORDINATES], enum coordinate along, int size)
{
    int sum = 0, tp = number("PARPLAN_TP_SIZE"), dp = number("PARPLAN_DP_SIZE");
    for (int rank = 0; rank < size; rank++) {
        const int other[COORDINATES] = {rank % tp, rank / tp / dp, rank / tp % dp};
        int differs = 0;
        for (int i = 0; i < COORDINATES; i++)
            differs += i != (int)along && other[i] != mine[i];
        sum += differs == 0 ? rank : 0;
    }
    return sum;
}

static int node_mates(void)
{
    MPI_Comm node;
    int mates;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &mates);
    MPI_Comm_free(&node);
    return mates;
}

int main(int argc, char **argv)
{
    int rank, size;
    const char *verdict = "right", *node = getenv("SLURMD_NODENAME");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int mine[COORDINATES] = {number("PARPLAN_TP_RANK"), number("PARPLAN_PP_RANK"),
                                   number("PARPLAN_DP_RANK")};
    if (rank != number("RANK") || rank != number("SLURM_PROCID") || size != number("WORLD_SIZE"))
        verdict = "another rank";
    for (int along = TP; along < COORDINATES; along++)
        if (sum_by_split(mine, (enum coordinate)along, rank) !=
            sum_by_order(mine, (enum coordinate)along, size))
            verdict = "another sum";
    printf("%d %d %s %d %d %d %d %d %s\n", rank, number("RANK"), node ? node : "-",
           number("LOCAL_RANK"), mine[TP], mine[PP], mine[DP], node_mates(), verdict);
    MPI_Finalize();
    return 0;
}
