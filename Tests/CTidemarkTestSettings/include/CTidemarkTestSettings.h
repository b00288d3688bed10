// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Not 0: this program was built with the thread sanitizer.
int tidemark_is_thread_sanitized(void);
