// SPDX-License-Identifier: Apache-2.0
#include "CTidemarkSHA256.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#define AVX512 __attribute__((target("avx512f,avx512bw")))
#define SHA __attribute__((target("sha,sse4.1")))
#define INLINE __attribute__((always_inline)) static inline

enum { BLOCK_BYTES = 64, DIGEST_BYTES = 32, ROUNDS = 64 };

// FIPS 180-4 §5.3.3 and §4.2.2: fractions of the roots of the first primes.
static const uint32_t initial[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};
static const uint32_t constants[ROUNDS] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

INLINE void put(uint32_t word, uint8_t *place) {
    word = __builtin_bswap32(word);
    memcpy(place, &word, sizeof word);
}

// MARK: Sixteen

enum { LANES = 16 };

/// The same word of each of the messages.
typedef uint32_t words __attribute__((vector_size(4 * LANES)));

/// Takes the next block of each message apart into sixteen times the same word of each.
AVX512 INLINE void load(words block[16], const uint8_t *messages, size_t count) {
    const __m512i big_endian =
        _mm512_broadcast_i32x4(_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
    __m512i row[LANES], part[LANES];
    for (int lane = 0; lane < LANES; lane++)
        row[lane] = _mm512_shuffle_epi8(_mm512_loadu_si512(messages + lane * count), big_endian);
    // Sixteen squares of 4 × 4 words are transposed each in itself, then change places.
    for (int i = 0; i < LANES; i += 4) {
        const __m512i low01 = _mm512_unpacklo_epi32(row[i], row[i + 1]);
        const __m512i high01 = _mm512_unpackhi_epi32(row[i], row[i + 1]);
        const __m512i low23 = _mm512_unpacklo_epi32(row[i + 2], row[i + 3]);
        const __m512i high23 = _mm512_unpackhi_epi32(row[i + 2], row[i + 3]);
        part[i] = _mm512_unpacklo_epi64(low01, low23);
        part[i + 1] = _mm512_unpackhi_epi64(low01, low23);
        part[i + 2] = _mm512_unpacklo_epi64(high01, high23);
        part[i + 3] = _mm512_unpackhi_epi64(high01, high23);
    }
    for (int i = 0; i < 4; i++) {
        const __m512i even_low = _mm512_shuffle_i32x4(part[i], part[4 + i], 0x88);
        const __m512i odd_low = _mm512_shuffle_i32x4(part[i], part[4 + i], 0xdd);
        const __m512i even_high = _mm512_shuffle_i32x4(part[8 + i], part[12 + i], 0x88);
        const __m512i odd_high = _mm512_shuffle_i32x4(part[8 + i], part[12 + i], 0xdd);
        block[i] = (words)_mm512_shuffle_i32x4(even_low, even_high, 0x88);
        block[4 + i] = (words)_mm512_shuffle_i32x4(odd_low, odd_high, 0x88);
        block[8 + i] = (words)_mm512_shuffle_i32x4(even_low, even_high, 0xdd);
        block[12 + i] = (words)_mm512_shuffle_i32x4(odd_low, odd_high, 0xdd);
    }
}

#define ROTATE(x, bits) ((x) >> (bits) | (x) << (32 - (bits)))

/// FIPS 180-4 §6.2.2, with the notation of that section: `w` holds the last sixteen words of the message schedule.
AVX512 INLINE void compress(words state[8], words w[16]) {
    words a = state[0], b = state[1], c = state[2], d = state[3];
    words e = state[4], f = state[5], g = state[6], h = state[7];
#pragma clang loop unroll(full)
    for (int t = 0; t < ROUNDS; t++) {
        if (t >= 16) {
            const words x = w[(t + 1) % 16], y = w[(t + 14) % 16];
            w[t % 16] += w[(t + 9) % 16] + (ROTATE(x, 7) ^ ROTATE(x, 18) ^ x >> 3) +
                         (ROTATE(y, 17) ^ ROTATE(y, 19) ^ y >> 10);
        }
        const words t1 = h + (ROTATE(e, 6) ^ ROTATE(e, 11) ^ ROTATE(e, 25)) + ((e & f) | (~e & g)) +
                         w[t % 16] + constants[t];
        const words t2 = (ROTATE(a, 2) ^ ROTATE(a, 13) ^ ROTATE(a, 22)) + ((a & b) | (c & (a | b)));
        h = g, g = f, f = e, e = d + t1;
        d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

AVX512 void tidemark_sha256_sixteen(const uint8_t *messages, size_t count, uint8_t *digests) {
    words state[8], block[16];
    for (int i = 0; i < 8; i++) state[i] = (words){} + initial[i];
    for (size_t offset = 0; offset < count; offset += BLOCK_BYTES) {
        load(block, messages + offset, count);
        compress(state, block);
    }
    // What ends a message of whole blocks: one bit, then its length in bits (§5.1.1).
    for (int i = 0; i < 16; i++) block[i] = (words){};
    block[0] += 0x80000000;
    block[14] += (uint32_t)((uint64_t)count >> 29);
    block[15] += (uint32_t)(count << 3);
    compress(state, block);
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 8; i++) put(state[i][lane], digests + DIGEST_BYTES * lane + 4 * i);
}

bool tidemark_sha256_has_sixteen(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

// MARK: Two

/// The eight words of a state as the processor's instructions for SHA-256 want them.
struct state {
    __m128i abef, cdgh;
};

/// `w` holds the last sixteen words of each message's schedule.
SHA INLINE void compress_two(struct state state[2], __m128i w[2][4]) {
    const struct state before[2] = {state[0], state[1]};
#pragma clang loop unroll(full)
    for (int t = 0; t < ROUNDS / 4; t++) {
        const __m128i k = _mm_load_si128((const __m128i *)(constants + 4 * t));
        const __m128i kw[2] = {_mm_add_epi32(w[0][t % 4], k), _mm_add_epi32(w[1][t % 4], k)};
        for (int i = 0; i < 2; i++)
            state[i].cdgh = _mm_sha256rnds2_epu32(state[i].cdgh, state[i].abef, kw[i]);
        for (int i = 0; i < 2; i++)
            state[i].abef = _mm_sha256rnds2_epu32(state[i].abef, state[i].cdgh, _mm_shuffle_epi32(kw[i], 0x0e));
        if (t >= 12) continue;
        for (int i = 0; i < 2; i++) {
            const __m128i seven_back = _mm_alignr_epi8(w[i][(t + 3) % 4], w[i][(t + 2) % 4], 4);
            const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[i][t % 4], w[i][(t + 1) % 4]), seven_back);
            w[i][t % 4] = _mm_sha256msg2_epu32(sum, w[i][(t + 3) % 4]);
        }
    }
    for (int i = 0; i < 2; i++) {
        state[i].abef = _mm_add_epi32(state[i].abef, before[i].abef);
        state[i].cdgh = _mm_add_epi32(state[i].cdgh, before[i].cdgh);
    }
}

SHA void tidemark_sha256_two(const uint8_t *messages, size_t count, uint8_t *digests) {
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    struct state state[2];
    for (int i = 0; i < 2; i++) {
        state[i].abef = _mm_set_epi32(initial[0], initial[1], initial[4], initial[5]);
        state[i].cdgh = _mm_set_epi32(initial[2], initial[3], initial[6], initial[7]);
    }
    __m128i block[2][4];
    for (size_t offset = 0; offset < count; offset += BLOCK_BYTES) {
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 4; j++) {
                const uint8_t *place = messages + i * count + offset + 16 * j;
                block[i][j] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)place), big_endian);
            }
        compress_two(state, block);
    }
    for (int i = 0; i < 2; i++) {
        block[i][0] = _mm_set_epi32(0, 0, 0, 0x80000000);
        block[i][1] = block[i][2] = _mm_setzero_si128();
        block[i][3] = _mm_set_epi32((uint32_t)(count << 3), (uint32_t)((uint64_t)count >> 29), 0, 0);
    }
    compress_two(state, block);
    for (int i = 0; i < 2; i++) {
        uint8_t *digest = digests + DIGEST_BYTES * i;
        // A state's words stand in its vectors from the last to the first.
        put(_mm_extract_epi32(state[i].abef, 3), digest);
        put(_mm_extract_epi32(state[i].abef, 2), digest + 4);
        put(_mm_extract_epi32(state[i].cdgh, 3), digest + 8);
        put(_mm_extract_epi32(state[i].cdgh, 2), digest + 12);
        put(_mm_extract_epi32(state[i].abef, 1), digest + 16);
        put(_mm_extract_epi32(state[i].abef, 0), digest + 20);
        put(_mm_extract_epi32(state[i].cdgh, 1), digest + 24);
        put(_mm_extract_epi32(state[i].cdgh, 0), digest + 28);
    }
}

bool tidemark_sha256_has_two(void) {
    unsigned a, b, c, d;
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.1") && __get_cpuid_count(7, 0, &a, &b, &c, &d) && b & bit_SHA;
}

#else

bool tidemark_sha256_has_sixteen(void) { return false; }

void tidemark_sha256_sixteen(const uint8_t *messages, size_t count, uint8_t *digests) { __builtin_trap(); }

bool tidemark_sha256_has_two(void) { return false; }

void tidemark_sha256_two(const uint8_t *messages, size_t count, uint8_t *digests) { __builtin_trap(); }

#endif
