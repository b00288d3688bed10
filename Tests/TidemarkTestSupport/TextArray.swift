// SPDX-License-Identifier: Apache-2.0

internal import TidemarkPostgres

/// Reads the format of array_send, see `PostgresArray`; nil for anything but texts in one dimension. Only tests read
/// arrays.
package func decodeTextArray(_ bytes: UnsafeRawBufferPointer) -> [String?]? {
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
