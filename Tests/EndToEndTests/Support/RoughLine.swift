// SPDX-License-Identifier: Apache-2.0

import TidemarkScheduling
import TidemarkSockets
import TidemarkTestSupport

/// A line that is slow and breaks, between devices and what listens at a port of this machine.
///
/// Of each direction a few bytes pass in a millisecond. A connection is cut after some of them, wherever that is: in the TLS
/// handshake, in the upgrade, in a request or an answer. Half of the cuts are resets.
final class RoughLine: @unchecked Sendable {
    // NB: unchecked: what changes is touched on the loop alone.
    private let loop: EventLoop
    private let far: SocketAddress
    private var listener: Listener?
    private var links: [RoughLink] = []
    private var silent: [Socket] = []
    private var random = SeededRandom()
    private var leftCount = 0
    /// Where devices connect to.
    private(set) var port = 0

    /// How often the bytes of a link pass.
    private static let tick = Duration.milliseconds(1)
    /// A TLS handshake takes some 3,000 bytes.
    private static let bytesBeforeCut = 200...8_000

    /// Runs `body` with a line to the port.
    static func with(to port: Int, _ body: (RoughLine) async throws -> Void) async throws {
        let line = try RoughLine(to: .loopback(port: UInt16(port)))
        try await running {
            try await line.loop.runThrowing { try line.listen() }.value
            try await body(line)
        } finally: {
            await line.loop.run { line.end() }.value
            line.loop.stop()
        }
    }

    private init(to far: SocketAddress) throws {
        self.far = far
        loop = try EventLoop(name: "rough line")
    }

    private func listen() throws {
        let listener = try Listener(loop: loop, address: .loopback(port: 0)) { [unowned self] descriptor, _ in
            guard let socket = try? Socket.connecting(to: far) else { return descriptor.close() }
            let budget = Int.random(in: Self.bytesBeforeCut, using: &random)
            links.append(RoughLink(Socket(descriptor), socket, cutAfter: budget))
        }
        (self.listener, port) = (listener, Int(listener.localAddress.port))
        pass()
    }

    private func end() {
        listener?.close()
        listener = nil
        for link in links { link.end() }
        for socket in silent { socket.close() }
        (links, silent) = ([], [])
    }

    /// From now on connections are cut, so often, and then no more.
    func cut(times count: Int) async {
        await loop.run { [self] in leftCount = count }.value
    }

    /// How many cuts there will be.
    var cutsLeft: Int {
        get async { await loop.run { [self] in leftCount }.value }
    }

    // MARK: Clients that say nothing more

    /// Opens connections that say this, and then nothing. They do not come through the line.
    func openSilent(_ count: Int, saying bytes: [UInt8]) async throws {
        try await loop.runThrowing { [self] in
            for _ in 0..<count {
                let socket = try Socket.connecting(to: far)
                // On loopback a connection is there at once.
                _ = bytes.withUnsafeBytes { socket.send($0) }
                silent.append(socket)
            }
        }.value
    }

    /// Of these, how many nobody has ended.
    var silentCount: Int {
        get async { await loop.run { [self] in silent.count }.value }
    }

    // MARK: Passing

    private func pass() {
        guard listener != nil else { return }
        links.removeAll { link in
            let (toFar, toNear) = (Int.random(in: 1...200, using: &random), Int.random(in: 1...200, using: &random))
            guard link.pass(toFar: toFar, toNear: toNear) else {
                link.end()
                return true
            }
            guard leftCount > 0, link.passedCount >= link.cutAfter else { return false }
            leftCount -= 1
            link.end(resetting: leftCount.isMultiple(of: 2))
            return true
        }
        silent.removeAll { socket in
            let outcome = withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { socket.receive(into: $0) }
            switch outcome {
            case .bytes, .wouldBlock: return false
            case .closed, .failed:
                socket.close()
                return true
            }
        }
        _ = loop.schedule(after: Self.tick) { [weak self] in self?.pass() }
    }
}

/// A connection of a device, and one for it. On the line's loop alone.
private final class RoughLink {
    private let near: Socket
    private let far: Socket
    /// What was received and not sent on.
    private var toFar: [UInt8] = []
    private var toNear: [UInt8] = []
    private(set) var passedCount = 0
    let cutAfter: Int

    init(_ near: Socket, _ far: Socket, cutAfter: Int) {
        (self.near, self.far, self.cutAfter) = (near, far, cutAfter)
        // Otherwise the kernel would make few packets of them.
        for socket in [near, far] { try? socket.setNoDelay() }
    }

    /// Passes at most so many bytes.
    ///
    /// - Returns: false: one side has ended.
    func pass(toFar farMax: Int, toNear nearMax: Int) -> Bool {
        let isNearOpen = move(from: near, to: far, &toFar, atMost: farMax)
        let isFarOpen = move(from: far, to: near, &toNear, atMost: nearMax)
        return isNearOpen && isFarOpen
    }

    private func move(from source: Socket, to sink: Socket, _ held: inout [UInt8], atMost count: Int) -> Bool {
        if held.isEmpty {
            var outcome = TransferOutcome.wouldBlock
            held = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
                outcome = source.receive(into: UnsafeMutableRawBufferPointer(buffer))
                if case .bytes(let received) = outcome { filled = received }
            }
            switch outcome {
            case .bytes, .wouldBlock: break
            case .closed, .failed: return false
            }
        }
        guard !held.isEmpty else { return true }
        switch held.withUnsafeBytes({ sink.send($0) }) {
        case .bytes(let sent):
            held.removeFirst(sent)
            passedCount += sent
            return true
        case .wouldBlock: return true
        case .closed, .failed: return false
        }
    }

    func end(resetting: Bool = false) {
        for socket in [near, far] {
            if resetting { socket.discardOnClose() }
            socket.close()
        }
    }
}
