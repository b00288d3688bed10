// SPDX-License-Identifier: Apache-2.0

/// What a parser makes of the bytes that have come.
package enum HeadProgress<Head> {
    /// The head is not complete, and nothing so far is wrong.
    case needMore
    /// The head, and the number of bytes that it took at the front.
    case complete(Head, byteCount: Int)
}

extension HeadProgress: Equatable where Head: Equatable {}
extension HeadProgress: Sendable where Head: Sendable {}

/// Splits a head into lines as its bytes arrive and refuses it at the first byte that cannot belong to one.
///
/// What requests and responses have in common. Lines end in CR LF and nothing else does (RFC 9112 §2.2 allows a bare
/// LF; two parsers that disagree about it are how requests are smuggled, so it is refused).
struct HeadLines {
    let limits: HeadLimits
    private(set) var fields = HeaderFields()
    /// Bytes of complete lines that have been taken.
    private(set) var consumedCount = 0
    /// Bytes that have been looked at; those after ``consumedCount`` belong to the line that is still incomplete.
    private var scannedCount = 0

    init(limits: HeadLimits) {
        self.limits = limits
    }

    /// The next complete line without its CR LF, or nil if it is not complete.
    ///
    /// - Parameter bytes: All bytes from the head's first on; the same as last time, and more.
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
            checked: HeaderFields.Field(
                name: String(decoding: line[..<colon], as: UTF8.self), value: HeaderFields.trimmed(value)))
    }

    private func checkLimits(isStartLine: Bool) throws(HTTPError) {
        if isStartLine, scannedCount - consumedCount + 2 > limits.startLineBytesMax { throw HTTPError(.targetTooLong) }
        if scannedCount + 2 > limits.headBytesMax { throw HTTPError(.headTooLarge) }
    }
}
