// SPDX-License-Identifier: Apache-2.0

/// A column of what a command shows: its head in a table, its key in JSON and YAML, and its value.
package struct Column<Row: Sendable>: Sendable {
    let head: ColumnHead
    let value: @Sendable (Row) -> OutputValue

    /// - Parameters:
    ///   - head: in capitals.
    ///   - key: in lowerCamelCase. It never changes, because programs read it.
    ///   - wide: whether the table shows it with `-o wide` only.
    ///   - isName: whether `-o name` writes it.
    package init(
        _ head: String, key: String, wide: Bool = false, isName: Bool = false,
        _ value: @escaping @Sendable (Row) -> OutputValue
    ) {
        self.head = ColumnHead(title: head, key: key, isWide: wide, isName: isName)
        self.value = value
    }
}

/// What a writer knows of a column.
struct ColumnHead: Sendable, Equatable {
    let title: String
    let key: String
    var isWide = false
    var isName = false
}
