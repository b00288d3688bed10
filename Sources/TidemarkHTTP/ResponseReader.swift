// SPDX-License-Identifier: Apache-2.0

/// A response with its whole body, as far as it is read.
package struct WholeResponse: Equatable, Sendable {
    package let head: ResponseHead
    package let body: [UInt8]
    /// Whether the body is longer, and the rest is not read.
    package let isCut: Bool
    /// Whether the connection carries further requests.
    package let keepsConnection: Bool
}

/// Reads the response to one request, split in any way: its head and its body (RFC 9112 §6.3). Not for responses to HEAD
/// and CONNECT, which have no body whatever their fields say.
///
/// Interim responses are passed over. A switch of protocols is a response like any other, after which the connection
/// cannot be used. After a whole response or an error the reader cannot be used any more.
package struct ResponseReader {
    /// How the body is delimited, and what of it is missing.
    private enum Place {
        case length(left: Int)
        case chunks(ChunkedReader)
        case untilEnd
    }

    private let limits: HeadLimits
    private let bodyBytesMax: Int
    private var parser: ResponseHeadParser
    /// The part of a head that has arrived.
    private var received: [UInt8] = []
    private var interimCount = 0
    private var head: ResponseHead?
    private var place = Place.untilEnd
    private var body: [UInt8] = []
    private var isCut = false

    /// More interim responses than any server needs.
    private static let interimMax = 8

    /// - Parameter bodyBytesMax: how much of the body is read. The rest of a longer one is left: the status says enough.
    package init(limits: HeadLimits = HeadLimits(), bodyBytesMax: Int) {
        self.limits = limits
        self.bodyBytesMax = bodyBytesMax
        parser = ResponseHeadParser(limits: limits)
    }

    /// Takes bytes that have arrived.
    ///
    /// - Returns: the response, if it is complete. If more has come than it, the connection cannot be used.
    package mutating func receive(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) -> WholeResponse? {
        if head != nil { return try take(bytes) }
        received.append(contentsOf: bytes)
        while let (found, count) = try nextHead() {
            received.removeFirst(count)
            guard (100...199).contains(found.status.code), found.status != .switchingProtocols else {
                head = found
                place = try place(after: found)
                let rest = received
                received = []
                return try rest.withBytes { bytes throws(HTTPError) in try take(bytes) }
            }
            interimCount += 1
            guard interimCount <= Self.interimMax else { throw HTTPError(.malformedStatusLine) }
            parser = ResponseHeadParser(limits: limits)
        }
        return nil
    }

    /// The peer has ended its stream.
    ///
    /// - Returns: the response, if its body ends with the stream. Nil: it is incomplete.
    package func end() -> WholeResponse? {
        guard let head, case .untilEnd = place else { return nil }
        return WholeResponse(head: head, body: body, isCut: false, keepsConnection: false)
    }

    private mutating func nextHead() throws(HTTPError) -> (ResponseHead, Int)? {
        var parser = parser
        defer { self.parser = parser }
        let progress = try received.withBytes { bytes throws(HTTPError) in try parser.parse(bytes) }
        guard case .complete(let head, let count) = progress else { return nil }
        return (head, count)
    }

    private mutating func place(after head: ResponseHead) throws(HTTPError) -> Place {
        if [HTTPStatus.switchingProtocols, .noContent, .notModified].contains(head.status) { return .length(left: 0) }
        let codings = head.fields.values("Transfer-Encoding")
        let lengths = head.fields.values("Content-Length")
        guard codings.isEmpty else {
            guard lengths.isEmpty, head.version >= .http11 else { throw HTTPError(.ambiguousBody) }
            guard codings.count == 1, HeaderFields.isSame(codings[0], "chunked") else {
                throw HTTPError(.unsupportedTransferCoding)
            }
            return .chunks(ChunkedReader())
        }
        guard let text = lengths.first else { return .untilEnd }
        guard lengths.count == 1, !text.isEmpty, text.utf8.allSatisfy(Characters.isDigit) else {
            throw HTTPError(.ambiguousBody)
        }
        let length = Int(text) ?? .max
        isCut = length > bodyBytesMax
        return .length(left: min(length, bodyBytesMax))
    }

    private mutating func take(_ bytes: UnsafeRawBufferPointer) throws(HTTPError) -> WholeResponse? {
        switch place {
        case .length(let left):
            let count = min(left, bytes.count)
            body.append(contentsOf: bytes[..<count])
            place = .length(left: left - count)
            return left == count ? finished(hasMore: bytes.count > count) : nil
        case .chunks(var reader):
            var offset = 0
            while let event = try reader.next(bytes, at: &offset) {
                switch event {
                case .data(let range): if append(bytes[range]) { return finished(hasMore: true) }
                case .end: return finished(hasMore: offset < bytes.count)
                }
            }
            place = .chunks(reader)
            return nil
        case .untilEnd:
            return append(bytes[...]) ? finished(hasMore: true) : nil
        }
    }

    /// - Returns: whether the body is too long.
    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) -> Bool {
        isCut = bytes.count > bodyBytesMax - body.count
        body.append(contentsOf: bytes.prefix(bodyBytesMax - body.count))
        return isCut
    }

    private func finished(hasMore: Bool) -> WholeResponse? {
        guard let head else { return nil }
        let isLast =
            hasMore || isCut || head.version < .http11 || head.status == .switchingProtocols
            || head.fields.hasToken("Connection", "close")
        return WholeResponse(head: head, body: body, isCut: isCut, keepsConnection: !isLast)
    }
}

extension [UInt8] {
    /// A typed error does not pass through the rethrowing closure of `withUnsafeBytes`.
    fileprivate func withBytes<Value>(
        _ body: (UnsafeRawBufferPointer) throws(HTTPError) -> Value
    ) throws(HTTPError) -> Value {
        let result: Result<Value, HTTPError> = withUnsafeBytes { bytes in
            do throws(HTTPError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}
