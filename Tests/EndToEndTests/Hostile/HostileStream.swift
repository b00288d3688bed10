// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import TidemarkBytes
import TidemarkScheduling
import TidemarkSockets
import TidemarkTestSupport
import TidemarkWebSocket
import TidemarkWire

@testable import TidemarkTLS

/// What a ``HostileStream`` does on each connection.
struct StreamCourse: Sendable {
    enum Opening: Sendable {
        /// It sends these bytes, and needs no answer.
        case bytes([UInt8])
        /// It says who it is, and goes on when that is answered.
        case session
        /// It says who it is where operators come in, as a user of `cktool`, and needs no answer.
        case channel
    }

    enum Flood: Sendable {
        case nothing
        case bytes([UInt8])
        /// Updates of the keys of TLS.
        case keyUpdates
    }

    /// What must happen to an attacker.
    enum Must: Sendable {
        case enter
        /// Each of its connections hears more than the answer to Hello.
        case beTold
        case beEnded
    }

    let opening: Opening
    /// Sent once, after the opening.
    var first: @Sendable (WireDatabaseScope) -> [UInt8] = { _ in [] }
    /// Sent without end, after that.
    var flood = Flood.nothing
    /// How much it reads of what comes after the opening.
    var readBytesMax = Int.max
    /// About what its kernel holds of what it does not read. Nil: as much as the kernel likes.
    var receiveBufferBytes: Int32?
    /// The last number of its address, 127.0.0.…: attackers have other addresses than the neighbour.
    let host: UInt8
    /// Between the first connections of an attacker.
    var stagger = Duration.milliseconds(1)
    /// Before it comes back.
    var pause = Duration.milliseconds(20)
    var must = Must.beEnded
}

/// A client below the level of requests: it sends bytes as it likes, and comes back when the server ends the connection.
final class HostileStream: AttackingClient, EventHandler, @unchecked Sendable {
    private static let loop: Result<EventLoop, any Error> = AttackersLoop.make("hostile streams")
    /// What it sends before others have their turn.
    private static let sendsPerTurnMax = 8
    private static let keyUpdatesAtOnce = 64

    private let state = Mutex(HostileClient.Told())
    private let loop: EventLoop
    private let course: StreamCourse
    private let port: UInt16
    private let context: TLSContext?
    private let hello: @Sendable () -> [UInt8]
    private let first: [UInt8]
    // Touched on the loop alone.
    private var stream: Socket?
    private var registration: Registration?
    private var tls: TLSSession?
    private var isConnected = false
    /// Whether the handshake of TLS is over.
    private var isOpened = false
    /// Whether the opening is over.
    private var hasBegun = false
    /// Of the opening, to find the answer in it.
    private var received: [UInt8] = []
    private var readByteCount = 0
    /// What is sent next, encrypted if need be, from ``sentCount`` on.
    private var pending: [UInt8] = []
    private var sentCount = 0
    private var hasStopped = false

    /// - Parameters:
    ///   - context: nil for no TLS.
    ///   - delay: before it connects for the first time.
    ///   - hello: what it says first, each time.
    init(
        _ course: StreamCourse, _ site: Site, _ context: TLSContext?, scope: WireDatabaseScope, delay: Duration,
        hello: @escaping @Sendable () -> [UInt8]
    ) throws {
        loop = try Self.loop.get()
        self.course = course
        self.context = context
        self.hello = hello
        port = UInt16(site.port)
        first = course.first(scope)
        _ = loop.schedule(after: delay) { self.connect() }
    }

    var told: HostileClient.Told { state.withLock { $0 } }

    func takeAnswer() {}

    func stop() async {
        await loop.run { [self] in
            hasStopped = true
            end()
        }.value
    }

    // MARK: Connecting

    private func connect() {
        guard !hasStopped else { return }
        (isConnected, isOpened, hasBegun) = (false, false, false)
        (received, readByteCount, pending, sentCount) = ([], 0, [], 0)
        stream = Self.makeStream(from: course.host, to: port, receiveBufferBytes: course.receiveBufferBytes)
        registration = stream.flatMap {
            try? loop.register($0.descriptor, interest: .writable, handler: self)
        }
        if registration == nil { end() }
    }

    /// Nil: there is no descriptor or no port for it.
    private static func makeStream(from host: UInt8, to port: UInt16, receiveBufferBytes: Int32?) -> Socket? {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let number = Glibc.socket(AF_INET, kind, 0)
        guard number >= 0 else { return nil }
        let socket = Socket(FileDescriptor(owning: number))
        if var byteCount = receiveBufferBytes {
            setsockopt(number, SOL_SOCKET, SO_RCVBUF, &byteCount, socklen_t(MemoryLayout<Int32>.size))
        }
        guard withAddress(host, port: 0, { Glibc.bind(number, $0, $1) }) == 0 else { return nil }
        // It is in progress, or its end is reported as an event.
        _ = withAddress(1, port: port) { Glibc.connect(number, $0, $1) }
        return socket
    }

    private static func withAddress(
        _ host: UInt8, port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = (0x7F00_0000 + UInt32(host)).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    func ready(_ readiness: Readiness) {
        guard isConnected || finishConnecting() else { return end() }
        if readiness.isToReceive, mayRead { receive() }
        guard stream != nil else { return }
        // Who does not read hears of the end by it.
        if readiness.contains(.hangup) { return end() }
        send()
    }

    private func finishConnecting() -> Bool {
        guard let stream, (try? stream.finishConnecting()) != nil else { return false }
        isConnected = true
        guard let context else {
            open()
            return true
        }
        guard let session = try? TLSSession(context: context, side: .client(hostName: "127.0.0.1")),
            (try? session.start()) != nil
        else { return false }
        tls = session
        takeOutput(of: session)
        return true
    }

    /// It is connected, and the handshake of TLS is over.
    private func open() {
        isOpened = true
        switch course.opening {
        case .bytes(let bytes):
            queue(bytes)
            begin()
        case .session:
            queue(RawPeer.upgrade("/", subprotocol: "tidemark.v1") + RawPeer.frame(.binary, hello()))
        case .channel:
            queue(RawPeer.upgrade("/admin", subprotocol: "tidemark.user.v1") + RawPeer.frame(.binary, hello()))
            begin()
        }
    }

    private func begin() {
        state.withLock { $0.entrances += 1 }
        hasBegun = true
        received = []
        queue(first)
    }

    private func end() {
        registration?.cancel()
        registration = nil
        stream?.close()
        stream = nil
        tls = nil
        guard !hasStopped else { return }
        let wasBegun = hasBegun
        hasBegun = false
        state.withLock { told in
            if wasBegun { told.ends += 1 } else { told.unmade += 1 }
        }
        _ = loop.schedule(after: course.pause) { self.connect() }
    }

    // MARK: Receiving

    private var mayRead: Bool { !hasBegun || readByteCount < course.readBytesMax }

    private func receive() {
        guard let stream else { return }
        let scratch = loop.receiveScratch
        let room = hasBegun ? min(scratch.count, course.readBytesMax - readByteCount) : scratch.count
        switch stream.receive(into: UnsafeMutableRawBufferPointer(rebasing: scratch[..<room])) {
        case .bytes(let count): heard(UnsafeRawBufferPointer(rebasing: scratch[..<count]))
        case .wouldBlock: break
        case .closed, .failed: end()
        }
    }

    private func heard(_ bytes: UnsafeRawBufferPointer) {
        guard let tls, !isUpdatingKeys else { return take(bytes) }
        do {
            try tls.receive(bytes) { take($0) }
        } catch {
            return end()
        }
        takeOutput(of: tls)
        if tls.isEstablished, !isOpened { open() }
    }

    /// NB: then nothing is decrypted any more: a session of ours ends as well when there are too many updates.
    private var isUpdatingKeys: Bool {
        if case .keyUpdates = course.flood { hasBegun } else { false }
    }

    private func take(_ plaintext: UnsafeRawBufferPointer) {
        guard !hasBegun else {
            readByteCount += plaintext.count
            return state.withLock { $0.answers += 1 }
        }
        received.append(contentsOf: plaintext)
        guard let answer = RawPeer.messages(in: received).first else { return }
        if case .failure(let failure)? = (try? WireServerEnvelope(reading: answer))?.answer {
            state.withLock { $0.refusalsAtHello["\(failure.code)", default: 0] += 1 }
        } else {
            begin()
        }
    }

    // MARK: Sending

    private func queue(_ plaintext: [UInt8]) {
        guard !plaintext.isEmpty else { return }
        guard let tls else {
            pending += plaintext
            return
        }
        _ = try? plaintext.withUnsafeBytes { try tls.send($0) }
        takeOutput(of: tls)
    }

    private func takeOutput(of tls: TLSSession) {
        tls.withOutput {
            pending.append(contentsOf: $0)
            return $0.count
        }
    }

    private func send() {
        guard let stream else { return }
        for _ in 0..<Self.sendsPerTurnMax {
            if pending.isEmpty { fillUp() }
            guard !pending.isEmpty else { break }
            let rest = sentCount
            switch pending.withUnsafeBytes({ stream.send(UnsafeRawBufferPointer(rebasing: $0[rest...])) }) {
            case .bytes(let count):
                sentCount += count
                if sentCount == pending.count { (pending, sentCount) = ([], 0) }
            case .wouldBlock: return updateInterest()
            case .closed, .failed: return end()
            }
        }
        updateInterest()
    }

    /// All was sent.
    private func fillUp() {
        guard hasBegun else { return }
        switch course.flood {
        case .nothing: break
        case .bytes(let bytes): pending = bytes
        case .keyUpdates:
            guard let tls else { return }
            BadTLS.updateKeys(tls.ssl, count: Self.keyUpdatesAtOnce)
            takeOutput(of: tls)
        }
    }

    private func updateInterest() {
        var interest: Interest = mayRead ? .readable : []
        if !pending.isEmpty || isFlooding { interest.insert(.writable) }
        registration?.update(interest)
    }

    private var isFlooding: Bool {
        if case .nothing = course.flood { false } else { hasBegun }
    }
}
