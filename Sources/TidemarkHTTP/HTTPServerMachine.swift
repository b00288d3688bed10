// SPDX-License-Identifier: Apache-2.0

/// A server's side of one HTTP/1.1 connection (RFC 9112): bytes in, steps out. No socket, no clock.
///
/// The driver passes received bytes to ``received(_:)`` and then takes steps from ``next()`` until there is none. Requests are taken one at
/// a time: requests that a client sends ahead wait until the answer before them is complete. The driver answers with
/// ``beginAnswer(_:length:)``, ``answerBytes(_:)`` and ``endAnswer()``, even a refused request.
///
/// Where a request ends must never be in doubt, or the rest of one could be taken for another. So after an error, and after
/// an answer to a body that was not read, nothing more is read.
package struct HTTPServerMachine: Sendable {
    /// The next step of the driver.
    package enum Step: Equatable, Sendable {
        /// A request begins. The driver calls ``takeBody(bytesMax:)``, or refuses it with an answer at once.
        case request(RequestHead)
        /// Bytes to be sent now: the client waits for leave to send its body.
        case send([UInt8])
        /// A part of the request's body.
        case body([UInt8])
        /// The request is complete. The driver answers it.
        case bodyEnd
        /// The received bytes are not a request. The driver forgets a partial body, answers with the error's status, and ends the
        /// connection.
        case refuse(HTTPError)
        /// Nothing more will come, and nobody waits for an answer.
        case end
    }

    /// The event that the connection waits for, for the deadlines of its driver.
    package enum Awaited: Equatable, Sendable {
        /// Another request.
        case request
        /// A head: the first one, or one that has begun.
        case head
        case body
        case answer
        /// Nothing: no more is read.
        case nothing
    }

    /// The state of the connection after an answer.
    package enum AnswerEnd: Equatable, Sendable {
        /// It is complete after these bytes. The next request follows.
        case goesOn([UInt8])
        /// It is complete after these bytes, and the connection ends.
        case closes([UInt8])
        /// It has fewer bytes than it announced, or more. Only a reset tells the client.
        case broken
    }

    private enum Input: Sendable {
        case head
        /// The head was passed on. Whether its body is taken is not decided.
        case undecided(RequestHead)
        case body(left: UInt64)
        case chunks(ChunkedReader)
        /// The request is complete.
        case complete(isTold: Bool)
        case ended
    }

    private enum Framing: Equatable, Sendable {
        /// Nothing after the head, whatever the handler writes.
        case empty
        case length(left: Int)
        case chunked
        /// For HTTP/1.0, which has no chunks.
        case untilClose
    }

    private let limits: HeadLimits
    private let requestsMax: Int
    private var input = Input.head
    private var parser: RequestHeadParser
    /// The answer that has begun.
    private var framing: Framing?
    private var requestCount = 0
    private var isHead = false
    private var version = HTTPVersion.http11
    /// Whether the connection ends after this answer.
    private var isLast = false
    private var hasPeerEnded = false
    private var bodyBytesLeft = 0
    private var mustContinue = false
    /// The received bytes; those before `start` are no longer needed.
    private var bytes: [UInt8] = []
    private var start = 0

    /// - Parameter requestsMax: requests of one connection, at least 1. The answer to the last says that it ends.
    package init(limits: HeadLimits = HeadLimits(), requestsMax: Int) {
        self.limits = limits
        self.requestsMax = requestsMax
        parser = RequestHeadParser(limits: limits)
    }

    /// Whether more may be read. If a client sends far ahead, its kernel keeps the rest.
    package var wantsInput: Bool {
        switch input {
        case .head, .body, .chunks: !hasPeerEnded
        case .undecided, .complete: !hasPeerEnded && bytes.count - start < limits.headBytesMax
        case .ended: false
        }
    }

    package var awaits: Awaited {
        switch input {
        case .head: requestCount > 0 && start == bytes.count ? .request : .head
        case .body, .chunks: .body
        case .undecided, .complete: .answer
        case .ended: framing == nil ? .nothing : .answer
        }
    }

    // MARK: Input

    package mutating func received(_ more: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// The client sends no more. It may still read: requests that have arrived are answered.
    package mutating func peerEnded() { hasPeerEnded = true }

    /// Reads nothing more: the next answer is the last. For a request that takes too long, or a server that stops.
    package mutating func stopReading() {
        isLast = true
        switch input {
        case .head:
            // No answer to a HEAD has content, whatever else is wrong with it (RFC 9110 §9.3.2).
            isHead = bytes[start...].drop { $0 == Characters.carriageReturn || $0 == Characters.lineFeed }
                .starts(with: "HEAD ".utf8)
            input = .ended
        case .body, .chunks: input = .ended
        case .undecided, .complete, .ended: break
        }
        if case .ended = input { (bytes, start) = ([], 0) }
    }

    package mutating func next() -> Step? {
        switch input {
        case .head: nextHead()
        case .undecided, .ended: nil
        case .body(let left): nextBody(left)
        case .chunks(let reader): nextChunk(reader)
        case .complete(let isTold): isTold ? nil : tellEnd()
        }
    }

    private mutating func nextHead() -> Step? {
        guard start < bytes.count else { return hasPeerEnded ? end() : nil }
        let result: Result<HeadProgress<RequestHead>, HTTPError> = bytes[start...].withUnsafeBytes { bytes in
            do throws(HTTPError) { return .success(try parser.parse(bytes)) } catch { return .failure(error) }
        }
        switch result {
        case .failure(let error): return refuse(error)
        case .success(.needMore): return hasPeerEnded ? end() : nil
        case .success(.complete(let head, let byteCount)):
            start += byteCount
            parser = RequestHeadParser(limits: limits)
            return begin(head)
        }
    }

    private mutating func begin(_ head: RequestHead) -> Step {
        requestCount += 1
        (isHead, version) = (head.method == "HEAD", head.version)
        input = .undecided(head)
        // HTTP/1.0 keeps connections only by an extension that is not worth its ambiguities (RFC 9112 §C.2.2).
        isLast = requestCount >= requestsMax || version < .http11 || head.fields.hasToken("Connection", "close")
        mustContinue = false
        let expectations = head.fields.values("Expect")
        if !expectations.isEmpty, version >= .http11 {
            guard expectations.count == 1, HeaderFields.isSame(expectations[0], "100-continue") else {
                return refuse(HTTPError(.unknownExpectation))
            }
            mustContinue = true
        }
        return .request(head)
    }

    /// Lets the body come. Call it once, for the request of the last step.
    ///
    /// - Parameter bytesMax: a longer body is refused as soon as that is known.
    package mutating func takeBody(bytesMax: Int) {
        guard case .undecided(let head) = input else { preconditionFailure("no request is undecided") }
        bodyBytesLeft = bytesMax
        switch head.body {
        case .none: input = .complete(isTold: false)
        case .length(let count): input = .body(left: count)
        case .chunked: input = .chunks(ChunkedReader())
        }
    }

    private mutating func nextBody(_ left: UInt64) -> Step? {
        guard left <= UInt64(bodyBytesLeft) else { return refuse(HTTPError(.bodyTooLarge)) }
        guard start < bytes.count else { return waitForBody() }
        mustContinue = false
        let end = start + Int(min(left, UInt64(bytes.count - start)))
        let piece = Array(bytes[start..<end])
        (start, bodyBytesLeft) = (end, bodyBytesLeft - piece.count)
        let rest = left - UInt64(piece.count)
        input = rest == 0 ? .complete(isTold: false) : .body(left: rest)
        return .body(piece)
    }

    private mutating func nextChunk(_ reader: ChunkedReader) -> Step? {
        guard start < bytes.count else { return waitForBody() }
        mustContinue = false
        var (reader, offset) = (reader, 0)
        let result: Result<ChunkedReader.Event?, HTTPError> = bytes[start...].withUnsafeBytes { bytes in
            do throws(HTTPError) {
                return .success(try reader.next(bytes, at: &offset))
            } catch {
                return .failure(error)
            }
        }
        let from = start
        start += offset
        input = .chunks(reader)
        switch result {
        case .failure(let error): return refuse(error)
        case .success(nil): return waitForBody()
        case .success(.end?): return tellEnd()
        case .success(.data(let range)?):
            guard range.count <= bodyBytesLeft else { return refuse(HTTPError(.bodyTooLarge)) }
            bodyBytesLeft -= range.count
            return .body(Array(bytes[(from + range.lowerBound)..<(from + range.upperBound)]))
        }
    }

    /// RFC 9110 §10.1.1: a client that has already sent some of its body does not wait for 100 Continue.
    private mutating func waitForBody() -> Step? {
        if hasPeerEnded { return end() }
        guard mustContinue else { return nil }
        mustContinue = false
        return .send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }

    private mutating func tellEnd() -> Step {
        input = .complete(isTold: true)
        return .bodyEnd
    }

    private mutating func refuse(_ error: HTTPError) -> Step {
        stopReading()
        (input, bytes, start) = (.ended, [], 0)
        return .refuse(error)
    }

    private mutating func end() -> Step {
        stopReading()
        return .end
    }

    // MARK: The answer

    /// Begins the answer to the request that was taken or refused.
    ///
    /// - Parameters:
    ///   - head: without fields that say where the answer ends; these are added.
    ///   - length: the bytes that will follow. Nil: they are not known yet.
    /// - Returns: the bytes to send.
    package mutating func beginAnswer(_ head: ResponseHead, length: Int?) -> [UInt8] {
        precondition(framing == nil, "one answer at a time")
        precondition(head.status.code >= 200, "not the end of a request")
        switch input {
        case .undecided(let request):
            // A body that nobody has read would be taken for the next request.
            if request.body != .none { isLast = true }
            input = request.body == .none ? .complete(isTold: true) : .ended
        case .complete, .ended: break
        case .head, .body, .chunks: preconditionFailure("no request to answer")
        }
        var head = head
        framing = frame(&head.fields, status: head.status, length: length)
        if isLast { head.fields.append(name: "Connection", value: "close") }
        return head.serialized()
    }

    /// RFC 9112 §6.3, and RFC 9110 §8.6 for responses without content.
    private mutating func frame(_ fields: inout HeaderFields, status: HTTPStatus, length: Int?) -> Framing {
        if status == .noContent || status == .notModified { return .empty }
        if let length {
            fields.append(name: "Content-Length", value: String(length))
            return isHead ? .empty : .length(left: length)
        }
        guard version >= .http11 else {
            isLast = true
            return isHead ? .empty : .untilClose
        }
        fields.append(name: "Transfer-Encoding", value: "chunked")
        return isHead ? .empty : .chunked
    }

    /// The next part of the answer, as it is sent.
    package mutating func answerBytes(_ content: [UInt8]) -> [UInt8] {
        switch framing {
        case .length(let left):
            // More than was announced is never sent. The end then says that it is broken.
            framing = .length(left: left - content.count)
            return left >= content.count ? content : []
        case .chunked:
            // A chunk without bytes would be the last.
            guard !content.isEmpty else { return [] }
            return Array("\(String(content.count, radix: 16))\r\n".utf8) + content + Array("\r\n".utf8)
        case .untilClose: return content
        case .empty, nil: return []
        }
    }

    package mutating func endAnswer() -> AnswerEnd {
        let framing = framing
        self.framing = nil
        var last: [UInt8] = []
        switch framing {
        case .length(let left) where left != 0:
            input = .ended
            return .broken
        case .chunked: last = Array("0\r\n\r\n".utf8)
        case .length, .untilClose, .empty, nil: break
        }
        guard !isLast else {
            input = .ended
            (bytes, start) = ([], 0)
            return .closes(last)
        }
        input = .head
        return .goesOn(last)
    }
}
