// SPDX-License-Identifier: Apache-2.0

/// The offset of memory in its page. It decides how fast a few KiB are copied.
///
/// The kernel and many versions of glibc copy larger blocks with `rep movsb`. AMD's processors since Zen 3 are slow at
/// it if the target's offset in its page is up to 31 bytes larger than the source's. An EPYC then copies 2.5 instead of
/// 50 GB/s. Buffers do not move while they are in use. So a bad pair of buffers is slow for every piece.
package enum PagePlace {
    private static let pageBytes = 4_096

    package static func isSlow(from source: UnsafeRawPointer, to target: UnsafeRawPointer) -> Bool {
        (1..<32).contains((Int(bitPattern: target) - Int(bitPattern: source)) & (pageBytes - 1))
    }

    /// A good offset for something that is copied to `target`, or to at most 15 bytes after it.
    package static func good(to target: UnsafeRawPointer) -> Int { place(target, -64) }

    /// A good offset for something that is copied from `source`, or from at most 15 bytes after it.
    package static func good(from source: UnsafeRawPointer) -> Int { place(source, 64) }

    private static func place(_ pointer: UnsafeRawPointer, _ distance: Int) -> Int {
        (Int(bitPattern: pointer) + distance) & (pageBytes - 1) & ~15
    }

    /// Lends memory that begins at this offset of a page.
    package static func withMemory<Result>(
        _ byteCount: Int, at place: Int, _ body: (UnsafeMutableRawBufferPointer) -> Result
    ) -> Result {
        // NB: the same size for every offset. Otherwise the next allocation would have another place for each of them.
        withUnsafeTemporaryAllocation(byteCount: byteCount + pageBytes, alignment: pageBytes) {
            body(UnsafeMutableRawBufferPointer(rebasing: $0[place..<place + byteCount]))
        }
    }
}
