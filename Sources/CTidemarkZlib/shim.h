// SPDX-License-Identifier: Apache-2.0
// zlib as Swift can see it: deflateInit2 and inflateInit2 are macros.
#pragma once
#include <zlib.h>

static inline int tidemark_deflate_init(z_stream *stream, int level, int window_bits, int memory_level) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

static inline int tidemark_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
