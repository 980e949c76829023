/* SPDX-License-Identifier: MIT */
/*
 * matrix_text: the table of `nvidia-smi topo -m` as columns and cells, before any conclusion
 * (topo_matrix.h says what is taken and how rows are aligned). Internal to topo_matrix.
 */
#ifndef TOPOLOGY_MATRIX_TEXT_H
#define TOPOLOGY_MATRIX_TEXT_H

#include "topology/node_readers/evidence_draft.h"

#define MATRIX_MAXIMUM_COLUMNS (NODE_MAXIMUM_GPUS + NODE_MAXIMUM_NICS)
#define MATRIX_MAXIMUM_LINKS 255u /* of a cell */

enum matrix_device { MATRIX_UNKNOWN, MATRIX_GPU, MATRIX_NIC };

struct matrix_column {
    const char *name; /* "GPU0", "NIC0", "mlx5_0"; NULL: no header, and no row names it */
    enum matrix_device device;
    const char *nic_name;               /* of a NIC, or NULL */
    unsigned line;                      /* of its row; 0: has none */
    const char *cpus, *numa, *gpu_numa; /* the words of its row, or NULL */
};

struct matrix_cell {
    uint8_t link;  /* enum link_kind; LINK_UNKNOWN: not known */
    uint8_t links; /* of LINK_NVLINK */
};

struct matrix_text {
    struct matrix_column columns[MATRIX_MAXIMUM_COLUMNS];
    unsigned count;
    struct matrix_cell cells[MATRIX_MAXIMUM_COLUMNS][MATRIX_MAXIMUM_COLUMNS]; /* row, column */
};

/* text: is cut up in place, and must outlive *ret, which starts zeroed. Notes go to the draft.
 * -1: no table, or one too large. */
int matrix_text_read(char *text, const char *source, struct evidence_draft *draft,
                     struct matrix_text *ret, struct error_info *err);

#endif
