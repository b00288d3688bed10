// SPDX-License-Identifier: Apache-2.0

/// Reads one response head, split in any way. After an error or a complete head the parser cannot be used any more.
package struct ResponseHeadParser {
    private var lines: HeadLines
    private var start: (version: HTTPVersion, status: HTTPStatus)?

    package init(limits: HeadLimits = HeadLimits()) {
        lines = HeadLines(limits: limits)
    }

    /// - Parameter bytes: All bytes from the response's first on: those of the last call, and more.
    package mutating func parse(
        _ bytes: UnsafeRawBufferPointer
    ) throws(HTTPError) -> HeadProgress<ResponseHead> {
        while let line = try lines.next(bytes, isStartLine: start == nil) {
            guard let start else {
                try parseStart(line)
                continue
            }
            guard line.isEmpty else {
                try lines.addField(line)
                continue
            }
            let head = ResponseHead(version: start.version, status: start.status, fields: lines.fields)
            return .complete(head, byteCount: lines.consumedCount)
        }
        return .needMore
    }

    /// `HTTP/1.1 101 Switching Protocols`. The space after the status is required even without a phrase, but many
    /// servers leave it out (RFC 9112 §4), which does no harm.
    private mutating func parseStart(_ line: UnsafeRawBufferPointer) throws(HTTPError) {
        guard line.count >= 12, line[8] == Characters.space,
            let version = HTTPVersion(UnsafeRawBufferPointer(rebasing: line[..<8]))
        else { throw HTTPError(.malformedStatusLine) }
        guard version.major == 1 else { throw HTTPError(.unsupportedVersion) }
        guard line[9..<12].allSatisfy(Characters.isDigit), line.count == 12 || line[12] == Characters.space else {
            throw HTTPError(.malformedStatusLine)
        }
        let code = line[9..<12].reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        guard (100...599).contains(code) else { throw HTTPError(.malformedStatusLine) }
        start = (version, HTTPStatus(code, String(decoding: line.dropFirst(13), as: UTF8.self)))
    }
}
