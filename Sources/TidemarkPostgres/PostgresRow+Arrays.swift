// SPDX-License-Identifier: Apache-2.0

extension PostgresRow {
    /// An array of texts, with nil for null. Only tests read arrays.
    package func stringArray(_ column: Int) throws(PostgresError) -> [String?] {
        guard let array = decodeTextArray(try present(column, value(column, .textArray))) else {
            throw mismatch(column, "is not an array of one dimension")
        }
        return array
    }
}

/// Reads the format of array_send, see ``PostgresArray``; nil for anything but texts in one dimension.
func decodeTextArray(_ bytes: UnsafeRawBufferPointer) -> [String?]? {
    var rest = bytes[...]
    func take(_ count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
    func takeInteger() -> Int32? { take(4).map { Int32(bigEndian: $0.loadUnaligned(as: Int32.self)) } }
    guard let dimensions = takeInteger(), takeInteger() != nil,
        takeInteger() == Int32(bitPattern: PostgresType.text.rawValue)
    else { return nil }
    if dimensions == 0 { return [] }
    // Each element takes at least four bytes, so a wrong count cannot reserve more memory than there are bytes.
    guard dimensions == 1, let count = takeInteger(), takeInteger() != nil, count >= 0, count <= rest.count / 4 else {
        return nil
    }
    var elements: [String?] = []
    elements.reserveCapacity(Int(count))
    for _ in 0..<count {
        guard let length = takeInteger() else { return nil }
        if length == -1 {
            elements.append(nil)
        } else {
            guard let element = take(Int(length)) else { return nil }
            elements.append(String(decoding: element, as: UTF8.self))
        }
    }
    return rest.isEmpty ? elements : nil
}
