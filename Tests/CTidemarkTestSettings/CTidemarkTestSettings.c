// SPDX-License-Identifier: Apache-2.0
// Swift Testing starts all tests at once, on as many threads as there are cores. Then a test that waits for a socket stands
// behind hundreds that compute, and its deadlines pass. A few at a time are as fast, and nobody starves. This runs before
// the test library reads its environment; what the caller has set stays.
#include "CTidemarkTestSettings.h"
#include <stdlib.h>

__attribute__((constructor)) static void limit_parallel_tests(void) {
    setenv("SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH", "4", 0);
}
