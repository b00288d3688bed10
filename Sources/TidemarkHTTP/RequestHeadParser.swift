// SPDX-License-Identifier: Apache-2.0

/// Reads one request head, split in any way, as strictly as RFC 9112 allows.
///
/// After an error or a complete head the parser cannot be used any more.
package struct RequestHeadParser {
    private var lines: HeadLines
    private var start: (method: String, target: String, version: HTTPVersion)?
    private var hasSkippedEmptyLine = false

    package init(limits: HeadLimits = HeadLimits()) {
        lines = HeadLines(limits: limits)
    }

    /// - Parameter bytes: All bytes from the request's first on: those of the last call, and more. No work is repeated,
    ///   so reading byte by byte costs no more than reading all at once.
    package mutating func parse(
        _ bytes: UnsafeRawBufferPointer
    ) throws(HTTPError) -> HeadProgress<RequestHead> {
        while let line = try lines.next(bytes, isStartLine: start == nil) {
            guard let start else {
                // RFC 9112 §2.2: at least one empty line before the request line is to be ignored. More is a flood.
                if line.isEmpty, !hasSkippedEmptyLine { hasSkippedEmptyLine = true } else { try parseStart(line) }
                continue
            }
            guard line.isEmpty else {
                try lines.addField(line)
                continue
            }
            try checkHost(version: start.version)
            let head = RequestHead(
                method: start.method, target: start.target, version: start.version, fields: lines.fields,
                body: try body(version: start.version))
            return .complete(head, byteCount: lines.consumedCount)
        }
        return .needMore
    }

    private mutating func parseStart(_ line: UnsafeRawBufferPointer) throws(HTTPError) {
        guard let firstSpace = line.firstIndex(of: Characters.space),
            let lastSpace = line.lastIndex(of: Characters.space), firstSpace > 0, firstSpace + 1 < lastSpace,
            line[..<firstSpace].allSatisfy({ Characters.isToken($0) })
        else { throw HTTPError(.malformedRequestLine) }
        guard let version = HTTPVersion(UnsafeRawBufferPointer(rebasing: line[(lastSpace + 1)...])) else {
            throw HTTPError(.malformedRequestLine)
        }
        guard version.major == 1 else { throw HTTPError(.unsupportedVersion) }
        let method = String(decoding: line[..<firstSpace], as: UTF8.self)
        let target = String(decoding: line[(firstSpace + 1)..<lastSpace], as: UTF8.self)
        guard RequestTarget.isValid(target, method: method) else { throw HTTPError(.invalidTarget) }
        start = (method, target, version)
    }

    private func checkHost(version: HTTPVersion) throws(HTTPError) {
        let hosts = lines.fields.values("Host")
        if hosts.isEmpty, version >= .http11 { throw HTTPError(.missingHost) }
        guard hosts.count <= 1, hosts.allSatisfy({ RequestTarget.isAuthority($0) }) else {
            throw HTTPError(.invalidHost)
        }
    }

    /// RFC 9112 §6.3. Everything that two servers might read differently is refused.
    private func body(version: HTTPVersion) throws(HTTPError) -> RequestHead.Body {
        let lengths = lines.fields.values("Content-Length")
        let isCoded = lines.fields.contains("Transfer-Encoding")
        guard lengths.count <= 1, lengths.isEmpty || !isCoded else { throw HTTPError(.ambiguousBody) }
        if let length = lengths.first {
            guard !length.isEmpty, length.utf8.allSatisfy(Characters.isDigit), let count = UInt64(length) else {
                throw HTTPError(.ambiguousBody)
            }
            return count == 0 ? .none : .length(count)
        }
        guard isCoded else { return .none }
        guard version >= .http11, let codings = lines.fields.tokens("Transfer-Encoding"), let last = codings.last else {
            throw HTTPError(.ambiguousBody)
        }
        guard HeaderFields.isSame(last, "chunked") else {
            // RFC 9112 §6.3: if the last coding of a request is not chunked, its length cannot be known.
            throw HTTPError(
                codings.contains { HeaderFields.isSame($0, "chunked") } ? .ambiguousBody : .unsupportedTransferCoding)
        }
        guard codings.count == 1 else { throw HTTPError(.unsupportedTransferCoding) }
        return .chunked
    }
}
