// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll

/// How the C library's heap, from which arrays come, deals with memory that was freed.
package enum Heap {
    /// Larger blocks are the kernel's own, and go back to it at once.
    private static let mappedBytesMin: Int32 = 4 * 1_048_576
    /// More at the end of a heap (there are a few) goes back.
    private static let keptBytesMax: Int32 = 8 * 1_048_576

    /// For programs that move many messages of some hundred kilobytes: as it is, the memory of each is given back when the
    /// next one could use it, and pages that are made anew cost as much as all that is done with the message.
    package static func keepFreedMemory() {
        tidemark_set_heap(mappedBytesMin, keptBytesMax)
    }
}
