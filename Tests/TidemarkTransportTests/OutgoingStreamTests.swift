// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing
import TidemarkSockets

@testable import TidemarkTransport

/// The way into the socket, without TLS. The tests of connections go through TLS too.
@Suite struct OutgoingStreamTests {
    private let near: Socket
    private let far: Socket

    init() throws {
        var descriptors: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &descriptors) == 0)
        near = Socket(FileDescriptor(owning: descriptors[0]))
        far = Socket(FileDescriptor(owning: descriptors[1]))
    }

    /// How a turn ended, in a word.
    private func write(_ stream: inout OutgoingStream) -> String {
        switch stream.write(to: near, through: nil) {
        case .sentAll: "all"
        case .sentShare: "share"
        case .blocked(let hasProgress): hasProgress ? "blocked" : "still blocked"
        case .refused: "refused"
        case .failed: "failed"
        }
    }

    /// All that waits in the peer's kernel.
    private func receive() -> [UInt8] {
        var received: [UInt8] = []
        var scratch = [UInt8](repeating: 0, count: 65_536)
        while case .bytes(let count) = scratch.withUnsafeMutableBytes({ far.receive(into: $0) }) {
            received += scratch[..<count]
        }
        return received
    }

    @Test func `I-7: what the kernel does not take waits, and follows when the peer has read`() {
        var stream = OutgoingStream()
        let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 >> 3) }
        #expect(write(&stream) == "all", "nothing waits")
        stream.queue.append(shared: bytes)
        #expect(write(&stream) == "blocked")
        #expect(write(&stream) == "still blocked")
        #expect(stream.queue.count > 0 && stream.queue.count < bytes.count)
        var received: [UInt8] = []
        for _ in 0..<1_000 {
            received += receive()
            if write(&stream) == "all" { break }
        }
        received += receive()
        #expect(received == bytes && stream.queue.isEmpty)
    }

    @Test func `I-7: a peer that takes nothing for long is stuck, and one that takes something is not`() {
        var stream = OutgoingStream()
        let deadline = Duration.seconds(30)
        #expect(!stream.isStuck(.seconds(1_000), deadline: deadline))
        let isNew = stream.block(hasProgress: false, at: .seconds(100))
        let isNewAgain = stream.block(hasProgress: false, at: .seconds(120))
        #expect(isNew && !isNewAgain && stream.isBlocked)
        #expect(!stream.isStuck(.seconds(130), deadline: deadline) && stream.isStuck(.seconds(131), deadline: deadline))
        _ = stream.block(hasProgress: true, at: .seconds(140))
        #expect(!stream.isStuck(.seconds(170), deadline: deadline) && stream.isStuck(.seconds(171), deadline: deadline))
        let (wasBlocked, wasBlockedStill) = (stream.unblock(), stream.unblock())
        #expect(wasBlocked && !wasBlockedStill && !stream.isBlocked)
        #expect(!stream.isStuck(.seconds(1_000), deadline: deadline))
    }

    @Test func `a peer that is gone is an error`() {
        var stream = OutgoingStream()
        stream.queue.append(shared: [1, 2, 3])
        far.close()
        #expect(write(&stream) == "failed")
    }
}
