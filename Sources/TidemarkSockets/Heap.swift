// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll

/// Configures how the C library's heap, on which arrays live, treats freed memory.
package enum Heap {
    /// Larger blocks are mapped by the kernel, and return to it at once.
    private static let mappedBytesMin: Int32 = 4 * 1_048_576
    /// More than this at the end of a heap (there are several heaps) returns to the kernel.
    private static let keptBytesMax: Int32 = 8 * 1_048_576

    /// For programs that move many messages of some hundred kilobytes. By default the memory of each message returns to
    /// the kernel just before the next one could use it. Mapping pages again costs as much as all other work on the
    /// message.
    package static func keepFreedMemory() {
        tidemark_set_heap(mappedBytesMin, keptBytesMax)
    }
}
