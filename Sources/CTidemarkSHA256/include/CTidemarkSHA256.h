// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// SHA-256 (FIPS 180-4) of several messages of the same length at once.
//
// A round of SHA-256 waits for the round before, which leaves most of a core idle. Other messages need not wait.
//
// messages: one behind the other.
// count: bytes of each, a multiple of 64.
// digests: 32 bytes for each.

/// Whether this processor has what tidemark_sha256_sixteen needs (AVX-512).
bool tidemark_sha256_has_sixteen(void);

/// Of sixteen messages, one in each lane of a vector.
void tidemark_sha256_sixteen(const uint8_t *messages, size_t count, uint8_t *digests);

/// Whether this processor has what tidemark_sha256_two needs (the SHA extensions).
bool tidemark_sha256_has_two(void);

/// Of two messages, in turn.
void tidemark_sha256_two(const uint8_t *messages, size_t count, uint8_t *digests);
