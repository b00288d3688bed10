// SPDX-License-Identifier: Apache-2.0

/// A type of PostgreSQL by its number in the catalogue `pg_type`, which is the same in every server.
package struct PostgresType: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    package static let bool = PostgresType(rawValue: 16)
    package static let bytea = PostgresType(rawValue: 17)
    package static let int8 = PostgresType(rawValue: 20)
    package static let int2 = PostgresType(rawValue: 21)
    package static let int4 = PostgresType(rawValue: 23)
    package static let text = PostgresType(rawValue: 25)
    package static let float8 = PostgresType(rawValue: 701)
    package static let timestamptz = PostgresType(rawValue: 1184)
    package static let uuid = PostgresType(rawValue: 2950)

    package static let boolArray = PostgresType(rawValue: 1000)
    package static let byteaArray = PostgresType(rawValue: 1001)
    package static let int4Array = PostgresType(rawValue: 1007)
    package static let textArray = PostgresType(rawValue: 1009)
    package static let int8Array = PostgresType(rawValue: 1016)
    package static let timestamptzArray = PostgresType(rawValue: 1185)
    package static let uuidArray = PostgresType(rawValue: 2951)
    package static let float8Array = PostgresType(rawValue: 1022)

    /// The type of arrays of this type.
    var array: PostgresType {
        switch self {
        case .bool: .boolArray
        case .bytea: .byteaArray
        case .int4: .int4Array
        case .int8: .int8Array
        case .text: .textArray
        case .timestamptz: .timestamptzArray
        case .uuid: .uuidArray
        case .float8: .float8Array
        default: preconditionFailure("arrays of type \(rawValue) are not used")
        }
    }

    /// Whether values of `type` have the same binary form as `self`: `varchar` and `name` can be read as text.
    func isReadable(as type: PostgresType) -> Bool {
        self == type || (type == .text && Self.textLike.contains(rawValue))
    }

    /// name, bpchar, varchar.
    private static let textLike: [UInt32] = [19, 1042, 1043]
}
