// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkLocalPostgres
import TidemarkScheduling
import TidemarkSockets
import TidemarkTestSupport

/// Stands between a server and PostgreSQL, and can stop all that passes at any statement.
///
/// It counts what PostgreSQL is told to do: to run a statement, whatever kind it is, and to end a batch. The end of a
/// batch commits what ran outside a transaction. At the place that is to be cut, PostgreSQL still does what it is told.
/// But the server does not hear of it, and nothing more passes.
final class CutLine: @unchecked Sendable {
    // NB: unchecked: what changes is touched on the loop alone.
    private let loop: EventLoop
    private let postgres: SocketAddress
    /// The connection string of the server's side.
    let url: String
    private let ownAddress: SocketAddress
    private var listener: Listener?
    private var links: [CutLink] = []
    /// Nil: nothing is counted.
    private var cutNumber: Int?
    private var counted: [String] = []
    /// The connection that came to the place.
    private var cutLink: CutLink?

    /// As PostgreSQL calls its socket at port 5432.
    private static let socketName = ".s.PGSQL.5432"

    /// - Parameters:
    ///   - url: of the database, by way of a Unix socket.
    ///   - directory: for the server's side.
    static func start(to url: String, in directory: TestDirectory) async throws -> CutLine {
        let line = try CutLine(to: url, in: directory)
        try await line.loop.runThrowing { try line.listen() }.value
        return line
    }

    private init(to url: String, in directory: TestDirectory) throws {
        let components = URLComponents(string: url)
        guard let components, let host = components.queryItems?.first(where: { $0.name == "host" })?.value else {
            throw NeverHappened(description: "no socket in \(url)")
        }
        postgres = try .unix("\(host)/\(Self.socketName)")
        ownAddress = try .unix("\(directory.path)/\(Self.socketName)")
        let user = LocalPostgres.superuser
        self.url = "postgresql://\(components.path)?host=\(directory.path)&port=5432&user=\(user)"
        loop = try EventLoop(name: "cut line")
    }

    private func listen() throws {
        listener = try Listener(loop: loop, address: ownAddress) { [unowned self] descriptor, _ in
            // While PostgreSQL is away, the server's connection ends.
            guard let socket = try? Socket.connecting(to: postgres),
                let link = try? CutLink(self, loop, server: Socket(descriptor), postgres: socket)
            else { return descriptor.close() }
            links.append(link)
        }
    }

    func stop() { loop.stop() }

    // MARK: What tests say and ask

    /// From now on what passes is counted, up to the place that is cut.
    func count(cuttingAt number: Int) async {
        await loop.run { [self] in (cutNumber, counted) = (number, []) }.value
    }

    /// What was counted, the place that was cut last.
    var places: [String] {
        get async { await loop.run { [self] in counted }.value }
    }

    /// Whether it is cut, and PostgreSQL has done all that it was told on that connection.
    var isStill: Bool {
        get async { await loop.run { [self] in cutLink?.isSettled == true }.value }
    }

    var linkCount: Int {
        get async { await loop.run { [self] in links.count }.value }
    }

    /// Ends the connection that is cut, if one is. Everything passes on the others again.
    func resume(endingAll: Bool = false) async {
        await loop.run { [self] in
            for link in links where endingAll || link === cutLink { link.end() }
            (cutNumber, cutLink) = (nil, nil)
            for link in links { link.pass() }
        }.value
    }

    // MARK: What links say and ask

    fileprivate var isCut: Bool { cutLink != nil }

    fileprivate func count(_ place: String, on link: CutLink) {
        guard let cutNumber, !isCut else { return }
        counted.append(place)
        if counted.count == cutNumber { cutLink = link }
    }

    fileprivate func remove(_ link: CutLink) {
        links.removeAll { $0 === link }
    }
}

/// A connection of the server, and one to PostgreSQL for it. On the line's loop alone.
private final class CutLink {
    private unowned let line: CutLine
    private let server: CutLinkEnd
    private let postgres: CutLinkEnd
    private var requests: [UInt8] = []
    private var answers: [UInt8] = []
    /// Whole answers that have not passed yet.
    private var held: [UInt8] = []
    private var hasBegun = false
    /// The statement to run next.
    private var statement = ""
    /// What PostgreSQL has not answered yet.
    private var due: [UInt8] = []

    init(_ line: CutLine, _ loop: EventLoop, server: Socket, postgres: Socket) throws {
        self.line = line
        self.server = try CutLinkEnd(server, on: loop)
        self.postgres = try CutLinkEnd(postgres, on: loop)
        self.server.onBytes = { [weak self] bytes in
            self?.requests += bytes
            self?.pass()
        }
        self.postgres.onBytes = { [weak self] bytes in
            self?.answers += bytes
            self?.pass()
        }
        // PostgreSQL does what has come to it, and then ends the connection.
        self.server.onEnd = { [weak self] in
            self?.requests = []
            self?.server.close()
            self?.postgres.shutDown()
        }
        self.postgres.onEnd = { [weak self] in self?.end() }
    }

    var isSettled: Bool { due.isEmpty }

    func end() {
        server.close()
        postgres.close()
        line.remove(self)
    }

    /// Lets all pass that may.
    func pass() {
        while !line.isCut, let request = requests.takeMessage(hasType: hasBegun) {
            postgres.send(request)
            if hasBegun { follow(request) }
            hasBegun = true
        }
        while let answer = answers.takeMessage() {
            settle(answer[0])
            held += answer
        }
        guard !line.isCut, !held.isEmpty else { return }
        server.send(held)
        held = []
    }

    /// Follows what the server says: PostgreSQL's *Message Formats*.
    private func follow(_ request: [UInt8]) {
        switch request[0] {
        case .bind:
            // The portal's name and the statement's, each with a zero at its end.
            let names = request[5...].split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
            let name = names.count > 1 ? String(decoding: names[1], as: UTF8.self) : ""
            // A number follows the name that the store has given.
            statement = name.lastIndex(of: "_").map { String(name[..<$0]) } ?? "unnamed"
        case .execute:
            due.append(.execute)
            line.count(statement, on: self)
            // Otherwise PostgreSQL would keep the answer until the end of the batch.
            if line.isCut { postgres.send(Self.flush) }
        case .query:
            due.append(.query)
            line.count("script", on: self)
        case .sync:
            due.append(.sync)
            // After these two there is nothing left to commit, and after a preparation there is nothing at all.
            if !["", "commit", "rollback"].contains(statement) { line.count("end after \(statement)", on: self) }
            statement = ""
        default: break
        }
    }

    private func settle(_ answer: UInt8) {
        switch answer {
        case .commandComplete, .emptyQuery, .portalSuspended:
            if due.first == .execute { due.removeFirst() }
        // The rest of the batch is not run.
        case .error: due = Array(due.drop { $0 == .execute })
        case .readyForQuery: due = Array(due.dropFirst())
        default: break
        }
    }

    private static let flush: [UInt8] = [UInt8(ascii: "H"), 0, 0, 0, 4]
}

/// One end of a link.
private final class CutLinkEnd: EventHandler {
    private let loop: EventLoop
    private let socket: Socket
    private var registration: Registration?
    private var outgoing: [UInt8] = []
    var onBytes: ([UInt8]) -> Void = { _ in }
    var onEnd: () -> Void = {}

    init(_ socket: Socket, on loop: EventLoop) throws {
        (self.socket, self.loop) = (socket, loop)
        registration = try loop.register(socket.descriptor, interest: .readable, handler: self)
    }

    func send(_ bytes: [UInt8]) {
        outgoing += bytes
        flush()
    }

    func shutDown() { socket.shutdownSending() }

    func close() {
        registration?.cancel()
        socket.close()
    }

    func ready(_ readiness: Readiness) {
        if readiness.contains(.writable) { flush() }
        guard readiness.isToReceive else { return }
        let scratch = loop.receiveScratch
        switch socket.receive(into: scratch) {
        case .bytes(let count): onBytes([UInt8](scratch[..<count]))
        case .wouldBlock: break
        case .closed, .failed: onEnd()
        }
    }

    private func flush() {
        while !outgoing.isEmpty, case .bytes(let count) = outgoing.withUnsafeBytes({ socket.send($0) }) {
            outgoing.removeFirst(count)
        }
        registration?.update(outgoing.isEmpty ? .readable : [.readable, .writable])
    }
}

/// The types of messages, those of the server first.
extension UInt8 {
    fileprivate static let bind = UInt8(ascii: "B")
    fileprivate static let execute = UInt8(ascii: "E")
    fileprivate static let query = UInt8(ascii: "Q")
    fileprivate static let sync = UInt8(ascii: "S")

    fileprivate static let commandComplete = UInt8(ascii: "C")
    fileprivate static let emptyQuery = UInt8(ascii: "I")
    fileprivate static let portalSuspended = UInt8(ascii: "s")
    fileprivate static let error = UInt8(ascii: "E")
    fileprivate static let readyForQuery = UInt8(ascii: "Z")
}

extension [UInt8] {
    /// Removes the first message, if all of it is there.
    ///
    /// - Parameter hasType: false for the first message of a connection.
    fileprivate mutating func takeMessage(hasType: Bool = true) -> [UInt8]? {
        let start = hasType ? 1 : 0
        guard count >= start + 4 else { return nil }
        let size = self[start..<start + 4].reduce(0) { size, byte in size << 8 | Int(byte) }
        let length = start + size
        guard length > start, count >= length else { return nil }
        defer { removeFirst(length) }
        return Array(prefix(length))
    }
}
