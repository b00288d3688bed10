// SPDX-License-Identifier: Apache-2.0

internal import CTidemarkLibpq
internal import Glibc
internal import TidemarkTelemetry

/// A connection of libpq in non-blocking mode. It wraps each call of the library once, without its pointers. Not
/// thread-safe, but it may be passed from one thread to another.
final class LibpqConnection: @unchecked Sendable {
    /// The next thing that libpq has.
    enum Next {
        case rows(PostgresRows)
        case failed(PostgresError)
        /// The statement was not run because an earlier one failed.
        case aborted
        case sync
        /// The end of a statement's results.
        case end
        /// A COPY, or something newer than this code.
        case unexpected
    }

    private let connection: OpaquePointer
    // Reused for each statement.
    private var encoder = ParameterEncoder()
    /// Bytes of the largest statement that was sent. libpq keeps a buffer of that size until it disconnects.
    private(set) var largestSent = 0
    private var pointers: [UnsafePointer<CChar>?] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// Connects, however long that takes: name lookup, TLS and authentication, one host after the other.
    init(connecting parameters: ConnectionParameters) throws(PostgresError) {
        let opened = parameters.withKeywordsAndValues { PQconnectdbParams($0, $1, 0) }
        guard let opened else { throw PostgresError(.connectionUnavailable, detail: "no memory") }
        connection = opened
        guard PQstatus(connection) == CONNECTION_OK else {
            // The object is complete, so its deinitializer frees the connection.
            throw PostgresError(.connectionUnavailable, detail: PostgresError.text(of: connection))
        }
        PQsetNoticeReceiver(connection, { _, _ in }, nil)
        guard PQsetnonblocking(connection, 1) == 0 else {
            throw PostgresError(.protocolViolation, detail: PostgresError.text(of: connection))
        }
    }

    deinit {
        PQfinish(connection)
    }

    var socket: Int32 { PQsocket(connection) }
    var isAlive: Bool { PQstatus(connection) == CONNECTION_OK }
    var errorText: String { PostgresError.text(of: connection) }
    /// The host and database, without user and password.
    var place: String {
        let (host, port, name) = (PQhost(connection), PQport(connection), PQdb(connection))
        return [host, port].map { $0.map { String(cString: $0) } ?? "" }.joined(separator: ":")
            + "/" + (name.map { String(cString: $0) } ?? "")
    }

    /// What ends the statement that runs when it is sent. Nil: there is no memory, or no connection.
    func makeCancel() -> StatementCancel? { PQgetCancel(connection).map { StatementCancel(owning: $0) } }

    func enterPipelineMode() -> Bool { PQenterPipelineMode(connection) == 1 }
    func exitPipelineMode() -> Bool { PQexitPipelineMode(connection) == 1 }

    func sendPrepare(_ statement: Statement) -> Bool {
        let types = statement.parameterTypes.map { Oid($0.rawValue) }
        return PQsendPrepare(connection, statement.serverName, statement.sql, Int32(types.count), types) == 1
    }

    /// Frees the statement's name.
    func sendDeallocate(_ statement: Statement) -> Bool {
        let sql = "DEALLOCATE \(PostgresAdministration.quoted(statement.serverName))"
        return PQsendQueryParams(connection, sql, 0, nil, nil, nil, nil, Self.binary) == 1
    }

    func send(_ bound: BoundStatement) -> Bool {
        encoder.encode(bound.values)
        defer { encoder.sent() }
        largestSent = max(largestSent, encoder.bytes.count)
        // Copied to local variables, because each access to a property of an object is checked.
        var (pointers, lengths) = (self.pointers, self.lengths)
        (self.pointers, self.lengths) = ([], [])
        defer { (self.pointers, self.lengths) = (pointers, lengths) }
        pointers.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        while formats.count < bound.values.count { formats.append(Self.binary) }
        let ranges = encoder.ranges
        return encoder.bytes.withUnsafeBytes { bytes in
            for range in ranges {
                pointers.append(range.flatMap { bytes.baseAddress?.advanced(by: $0.lowerBound) }?.assumingCChar)
                lengths.append(Int32(range?.count ?? 0))
            }
            guard bound.statement.isPrepared else {
                let types = bound.statement.parameterTypes.map { Oid($0.rawValue) }
                return PQsendQueryParams(
                    connection, bound.statement.sql, Int32(types.count), types, pointers, lengths, formats, Self.binary)
                    == 1
            }
            return bound.statement.serverName.withCString { name in
                PQsendQueryPrepared(
                    connection, name, Int32(pointers.count), pointers, lengths, formats, Self.binary) == 1
            }
        }
    }

    /// Sends several statements as text, outside pipeline mode.
    func sendScript(_ sql: String) -> Bool { PQsendQuery(connection, sql) == 1 }

    /// Marks the end of a batch. NB: libpq before version 17 also flushes here.
    func sendSync() -> Bool { PQpipelineSync(connection) == 1 }

    /// True if everything is sent, false if the socket accepts no more now, nil if the connection is lost.
    func flush() -> Bool? {
        switch PQflush(connection) {
        case 0: true
        case 1: false
        default: nil
        }
    }

    /// Reads what the socket has. False if the connection is lost.
    func consumeInput() -> Bool { PQconsumeInput(connection) == 1 }

    /// Whether more of a result that has begun to arrive is here, or comes within some tens of microseconds. PostgreSQL
    /// sends a large result in parts of 8 KiB. Sleeping and being woken for each part costs both sides more than asking
    /// again.
    func awaitMore() -> Bool {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        for _ in 0..<Self.triesMax where poll(&descriptor, 1, 0) > 0 { return true }
        return false
    }

    private static let triesMax = 100

    /// Whether ``next()`` would have to wait for the server.
    var isBusy: Bool { PQisBusy(connection) == 1 }

    func next() -> Next {
        guard let result = PQgetResult(connection) else { return .end }
        switch PQresultStatus(result) {
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: return .rows(PostgresRows(owning: result))
        case PGRES_FATAL_ERROR, PGRES_BAD_RESPONSE, PGRES_NONFATAL_ERROR:
            defer { PQclear(result) }
            let error = PostgresError(result: result)
            if case .statement(let state) = error.code { PostgresMetrics.shared.errors.increment(.init(state)) }
            return .failed(error)
        case PGRES_PIPELINE_ABORTED:
            PQclear(result)
            return .aborted
        case PGRES_PIPELINE_SYNC:
            PQclear(result)
            return .sync
        default:
            PQclear(result)
            return .unexpected
        }
    }

    /// The payload of the next received notification, on a channel that this connection listens to.
    func nextNotification() -> String? {
        guard let notification = PQnotifies(connection) else { return nil }
        defer { PQfreemem(notification) }
        return String(cString: notification.pointee.extra)
    }

    private static let binary: Int32 = 1
}

/// Ends the statement that runs on a connection, which goes on afterwards. It may outlive the connection.
///
/// NB: libpq before version 17 sends it without TLS. Whoever reads it on the way can end statements of that connection, and
/// do nothing else.
final class StatementCancel: Sendable {
    /// PQcancel may be called from any thread, and changes nothing here.
    private nonisolated(unsafe) let pointer: OpaquePointer

    fileprivate init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQfreeCancel(pointer) }

    /// Connects to the server and returns when it has taken the request. It blocks for as long as that takes.
    ///
    /// - Returns: false if the server was not reached.
    @discardableResult
    func send() -> Bool {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Self.textBytes) { text in
            PQcancel(pointer, text.baseAddress, Int32(text.count)) == 1
        }
    }

    /// libpq's recommendation for its error's text.
    private static let textBytes = 256
}

extension UnsafeRawPointer {
    fileprivate var assumingCChar: UnsafePointer<CChar> { assumingMemoryBound(to: CChar.self) }
}
