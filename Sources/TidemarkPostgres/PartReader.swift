// SPDX-License-Identifier: Apache-2.0

/// Reads a part of a value, as a parameter of a statement.
///
/// A stored part is read where it lies: following a key path takes a thousand instructions. The value is given by its
/// address, so that a statement's parameters have one type, whatever it takes them from.
struct PartReader: Sendable {
    private let read: @Sendable (UnsafeRawPointer) -> PostgresValue

    /// - Parameter root: points to a value of the type that the reader was made for.
    func callAsFunction(_ root: UnsafeRawPointer) -> PostgresValue { read(root) }

    init<Root, Value: PostgresParameter>(_ path: any KeyPath<Root, Value> & Sendable) {
        read = Self.reading(path) { $0.pointee.postgresValue }
    }

    /// A part of a part.
    init<Root, Part>(of path: any KeyPath<Root, Part> & Sendable, _ reader: PartReader) {
        read = Self.reading(path) { reader(UnsafeRawPointer($0)) }
    }

    /// A part of the first element of a list, which is not empty.
    init<Root, Element>(ofFirst list: any KeyPath<Root, [Element]> & Sendable, _ reader: PartReader) {
        read = Self.reading(list) { list in
            list.pointee.withUnsafeBytes { elements in
                guard let first = elements.baseAddress, !elements.isEmpty else {
                    preconditionFailure("an empty list has no first element")
                }
                return reader(first)
            }
        }
    }

    /// An array of parts, one of each element of a list.
    ///
    /// - Parameter type: of each part.
    init<Root, Element>(
        ofEach list: any KeyPath<Root, [Element]> & Sendable, _ reader: PartReader, type: PostgresType
    ) {
        read = Self.reading(list) { list in
            list.pointee.withUnsafeBytes { elements in
                var array = PostgresArray(of: type)
                guard let first = elements.baseAddress else { return .array(array) }
                for offset in stride(from: 0, to: elements.count, by: MemoryLayout<Element>.stride) {
                    array.append(reader(first + offset))
                }
                return .array(array)
            }
        }
    }

    private static func reading<Root, Part>(
        _ path: any KeyPath<Root, Part> & Sendable,
        _ body: @escaping @Sendable (UnsafePointer<Part>) -> PostgresValue
    ) -> @Sendable (UnsafeRawPointer) -> PostgresValue {
        if let offset = MemoryLayout<Root>.offset(of: path) {
            return { body(($0 + offset).assumingMemoryBound(to: Part.self)) }
        }
        return { root in
            withUnsafePointer(to: root.assumingMemoryBound(to: Root.self).pointee[keyPath: path], body)
        }
    }
}
