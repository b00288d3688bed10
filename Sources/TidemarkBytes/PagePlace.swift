// SPDX-License-Identifier: Apache-2.0

/// Where memory lies in its page, which decides how fast a few KiB are copied.
///
/// `rep movsb`, by which the kernel and many a glibc copy what is not small, is slow on AMD's processors since Zen 3 when the
/// target lies up to 31 bytes further in its page than the source in its own: 2.5 instead of 50 GB/s, as measured on an EPYC.
/// Where buffers lie does not change while they are in use, so that whoever meets it, meets it with every piece.
package enum PagePlace {
    private static let pageBytes = 4_096

    package static func isSlow(from source: UnsafeRawPointer, to target: UnsafeRawPointer) -> Bool {
        (1..<32).contains((Int(bitPattern: target) - Int(bitPattern: source)) & (pageBytes - 1))
    }

    /// Where in its page something may begin that is copied to `target`, or to up to 15 bytes behind it.
    package static func good(to target: UnsafeRawPointer) -> Int { place(target, -64) }

    /// Where in its page something may begin that is copied from `source`, or from up to 15 bytes behind it.
    package static func good(from source: UnsafeRawPointer) -> Int { place(source, 64) }

    private static func place(_ pointer: UnsafeRawPointer, _ distance: Int) -> Int {
        (Int(bitPattern: pointer) + distance) & (pageBytes - 1) & ~15
    }

    /// Lends memory that begins at this place of a page.
    package static func withMemory<Result>(
        _ byteCount: Int, at place: Int, _ body: (UnsafeMutableRawBufferPointer) -> Result
    ) -> Result {
        // NB: as much for every place, or what is allocated next would lie elsewhere for each.
        withUnsafeTemporaryAllocation(byteCount: byteCount + pageBytes, alignment: pageBytes) {
            body(UnsafeMutableRawBufferPointer(rebasing: $0[place..<place + byteCount]))
        }
    }
}
