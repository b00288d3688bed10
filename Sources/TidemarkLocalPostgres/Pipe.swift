// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// A pipe: for the output of a program, and for signals between threads.
final class Pipe: Sendable {
    private let readingEnd: Int32
    private let writing: Mutex<Int32>

    init?() {
        var ends: [Int32] = [-1, -1]
        // Glibc's module lacks pipe2. A program that is started meanwhile inherits nothing, see tidemark_spawn.
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        readingEnd = ends[0]
        writing = Mutex(ends[1])
    }

    deinit {
        closeWritingEnd()
        close(readingEnd)
    }

    /// The writing end; -1 if it is closed.
    var writingEnd: Int32 { writing.withLock { $0 } }

    func writeByte() {
        writing.withLock { _ = Glibc.write($0, [1], 1) }
    }

    func closeWritingEnd() {
        writing.withLock { end in
            if end >= 0 { close(end) }
            end = -1
        }
    }

    /// Reads to the end, but at most `count` bytes.
    func read(count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[filled...])
                let got = Glibc.read(readingEnd, rest.baseAddress, rest.count)
                if got > 0 { filled += got } else if got == 0 || errno != EINTR { return }
            }
        }
    }

    func waitForByte(milliseconds: Int32) {
        var entry = pollfd(fd: readingEnd, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, milliseconds)
    }

    /// Whether the writing end was closed within that time.
    func waitForEnd(milliseconds: Int32) -> Bool {
        let deadline = MonotonicTime.seconds + Double(milliseconds) / 1000
        while true {
            let left = Int32((deadline - MonotonicTime.seconds) * 1000)
            var entry = pollfd(fd: readingEnd, events: 0, revents: 0)
            if poll(&entry, 1, max(0, left)) > 0 { return true }
            if left <= 0 { return false }
        }
    }
}
