// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkEpoll
internal import Glibc

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

    /// Returns all memory to the kernel that is free in whole pages. It takes some milliseconds for each 100 MiB, during
    /// which other threads that need memory wait.
    package static func returnFreedMemory() {
        tidemark_trim_heap()
    }

    /// Bytes that the program has taken and not given back. Counting goes through all free blocks, and holds other
    /// threads as ``returnFreedMemory()`` does, for less time.
    package static var usedBytes: Int { Int(tidemark_get_used_heap_bytes()) }

    /// Bytes of physical memory that the process has now; nil if the kernel does not say.
    package static var residentBytes: Int? {
        guard let file = fopen("/proc/self/statm", "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
}
