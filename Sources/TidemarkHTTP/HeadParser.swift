// SPDX-License-Identifier: Apache-2.0

/// The state of a parser after the bytes that have arrived.
package enum HeadProgress<Head> {
    /// The head is incomplete, and nothing in it is wrong so far.
    case needMore
    /// The head, and the number of bytes at the front that it took.
    case complete(Head, byteCount: Int)
}

extension HeadProgress: Equatable where Head: Equatable {}
extension HeadProgress: Sendable where Head: Sendable {}

/// Splits a head into lines as its bytes arrive. Refuses it at the first byte that cannot belong to a head.
///
/// Requests and responses share this part. Lines end in CR LF only. RFC 9112 §2.2 also allows a bare LF, but if two
/// parsers disagree about it requests can be smuggled, so it is refused.
struct HeadLines {
    let limits: HeadLimits
    private(set) var fields = HeaderFields()
    /// Bytes of complete lines that have been taken.
    private(set) var consumedCount = 0
    /// Bytes that have been scanned. Those after ``consumedCount`` belong to an incomplete line.
    private var scannedCount = 0

    init(limits: HeadLimits) {
        self.limits = limits
    }

    /// The next complete line without its CR LF; nil if it is incomplete.
    ///
    /// - Parameter bytes: All bytes from the head's first on: the same as last time, and more.
    mutating func next(
        _ bytes: UnsafeRawBufferPointer, isStartLine: Bool
    ) throws(HTTPError) -> UnsafeRawBufferPointer? {
        while scannedCount < bytes.count {
            let byte = bytes[scannedCount]
            try checkLimits(isStartLine: isStartLine)
            if byte == Characters.carriageReturn {
                guard scannedCount + 1 < bytes.count else { return nil }
                guard bytes[scannedCount + 1] == Characters.lineFeed else { throw HTTPError(.bareLineBreak) }
                let line = UnsafeRawBufferPointer(rebasing: bytes[consumedCount..<scannedCount])
                scannedCount += 2
                consumedCount = scannedCount
                return line
            }
            if byte == Characters.lineFeed { throw HTTPError(.bareLineBreak) }
            guard Characters.isFieldValue(byte) else { throw HTTPError(.badCharacter) }
            scannedCount += 1
        }
        return nil
    }

    /// Takes one field line (RFC 9112 §5).
    mutating func addField(_ line: UnsafeRawBufferPointer) throws(HTTPError) {
        guard let first = line.first, first != Characters.space, first != Characters.tab else {
            throw HTTPError(.foldedField)
        }
        guard fields.count < limits.fieldCountMax else { throw HTTPError(.tooManyFields) }
        guard let colon = line.firstIndex(of: Characters.colon), colon > 0,
            line[..<colon].allSatisfy({ Characters.isToken($0) })
        else { throw HTTPError(.malformedField) }
        let value = Substring(decoding: line[(colon + 1)...], as: UTF8.self)
        fields.append(
            checked: HeaderFields.FieldLine(
                name: String(decoding: line[..<colon], as: UTF8.self), value: HeaderFields.trimmed(value)))
    }

    private func checkLimits(isStartLine: Bool) throws(HTTPError) {
        if isStartLine, scannedCount - consumedCount + 2 > limits.startLineBytesMax { throw HTTPError(.targetTooLong) }
        if scannedCount + 2 > limits.headBytesMax { throw HTTPError(.headTooLarge) }
    }
}
