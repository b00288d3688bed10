// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import TidemarkTestSupport

@testable import TidemarkAdmin

/// Files that an operator names, and pipes that give nothing.
@Suite struct InputFileLocalTests {
    private func with(_ body: (_ path: String) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await body("\(directory.path)/file")
    }

    private func failure(_ body: () throws -> Void) -> String {
        do {
            try body()
            return "none"
        } catch {
            return "\(error)"
        }
    }

    @Test func `a file is read in parts to its end, and its size is known`() async throws {
        try await with { (path: String) async throws in
            try "0123456789".write(toFile: path, atomically: true, encoding: .utf8)
            let file = try LocalFile(path: path, partBytesMax: 4)
            #expect(file.byteCount == 10 && file.name == path)
            var parts: [String] = []
            while true {
                let bytes = try file.read()
                guard !bytes.isEmpty else { break }
                parts.append(String(decoding: bytes, as: UTF8.self))
            }
            #expect(parts == ["0123", "4567", "89"])
        }
    }

    @Test func `R-900: a pipe without a writer is not at its end, and is let go when the command is abandoned`()
        async throws
    {
        try await with { (path: String) async throws in
            #expect(mkfifo(path, 0o600) == 0)
            let asked = Mutex(0)
            let file = try LocalFile(path: path) {
                asked.withLock { count in
                    count += 1
                    return count > 3
                }
            }
            #expect(file.byteCount == nil)
            let text = failure { _ = try file.read() }
            #expect(text.contains("was abandoned"), "\(text)")
            #expect(asked.withLock { $0 } == 4, "it was waited for")
        }
    }

    @Test func `a pipe is read as its writer writes, until the writer has closed it`() async throws {
        try await with { (path: String) async throws in
            #expect(mkfifo(path, 0o600) == 0)
            let file = try LocalFile(path: path)
            let writer = open(path, O_WRONLY)
            #expect(writer >= 0)
            #expect(write(writer, "ab", 2) == 2)
            #expect(try file.read() == Array("ab".utf8))
            #expect(write(writer, "c", 1) == 1)
            close(writer)
            #expect(try file.read() == Array("c".utf8))
            #expect(try file.read().isEmpty)
        }
    }

    @Test func `R-900: a command that was abandoned gets nothing more of a file`() async throws {
        try await with { (path: String) async throws in
            try "0123456789".write(toFile: path, atomically: true, encoding: .utf8)
            let isAbandoned = Mutex(false)
            let file = try LocalFile(path: path, partBytesMax: 4) { isAbandoned.withLock { $0 } }
            #expect(try file.read().count == 4)
            isAbandoned.withLock { $0 = true }
            let text = failure { _ = try file.read() }
            #expect(text.contains("was abandoned"), "\(text)")
        }
    }

    @Test func `a file that is not there and a folder are refused by name`() async throws {
        try await with { (path: String) async throws in
            let missing = failure { _ = try LocalFile(path: path) }
            #expect(missing.contains("\(path) cannot be read"), "\(missing)")
            let folder = failure { _ = try LocalFile(path: "/tmp") }
            #expect(folder.contains("is a folder"), "\(folder)")
        }
    }

    @Test func `a pipe that gives its first bytes one by one is gzip, or has a byte order mark, all the same`()
        async throws
    {
        final class Slow: ByteSource {
            let name = "slow"
            let byteCount: Int? = nil
            private var bytes: [UInt8]

            init(_ bytes: [UInt8]) { self.bytes = bytes }

            func read() throws(AdminFailure) -> [UInt8] { bytes.isEmpty ? [] : [bytes.removeFirst()] }
        }
        let file = try InputFile(Slow([0xEF, 0xBB, 0xBF, UInt8(ascii: "a")]))
        try file.skip([0xEF, 0xBB, 0xBF])
        #expect(try file.next() == UInt8(ascii: "a"))
        #expect(try file.next() == nil)
        let short = try InputFile(Slow([UInt8(ascii: "b")]))
        #expect(try short.text(byteCountMax: 9) == "b")
        let cut = failure { _ = try InputFile(Slow([0x1F, 0x8B])).text(byteCountMax: 9) }
        #expect(cut.contains("incomplete"), "\(cut)")
    }
}
