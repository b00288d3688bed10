// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// The schema in CloudKit's schema language, in the order of names. ``init(parsing:)`` reads it back.
    ///
    /// A type that grants nothing to anybody cannot be written. No parsed schema has one.
    package var text: String {
        var lines = ["DEFINE SCHEMA"]
        for role in roles.sorted() { lines += ["", "    CREATE ROLE \(SchemaWords.name(role));"] }
        for (name, type) in types.sorted(by: { $0.key < $1.key }) {
            lines += ["", "    RECORD TYPE \(SchemaWords.name(name)) ("]
            lines += type.lines.dropLast().map { "        \($0)," } + type.lines.suffix(1).map { "        \($0)" }
            lines.append("    );")
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension RecordTypeSchema {
    fileprivate var lines: [String] {
        let system = SystemField.allCases.filter { $0.isAlwaysWritten || systemMarks[$0] != nil }.map { field in
            (SchemaWords.name(field.rawValue), FieldSchema(field.type, marks: systemMarks[field] ?? []).text)
        }
        let own = fields.sorted { $0.key < $1.key }.map { (SchemaWords.name($0.key), $0.value.text) }
        let width = (system + own).map(\.0.count).max() ?? 0
        let fields = (system + own).map { name, text in
            name + String(repeating: " ", count: width - name.count) + " " + text
        }
        return fields + grants.lines
    }
}

extension SystemField {
    /// Whether CloudKit's own exports always write the field.
    fileprivate var isAlwaysWritten: Bool { self != .parent && self != .share }
}

extension FieldSchema {
    /// The declaration in the schema language after the field's name.
    package var text: String {
        (isEncrypted ? "ENCRYPTED " : "") + type.name + (marks.isEmpty ? "" : " " + marks.text)
    }
}

extension Grants {
    /// One line for each role.
    package var lines: [String] {
        byRole.sorted { $0.key < $1.key }.map { role, permissions in
            "GRANT \(permissions.text) TO \(SchemaWords.name(role.name))"
        }
    }
}

extension Permissions {
    fileprivate var text: String {
        let names: [(Permissions, String)] = [(.read, "READ"), (.create, "CREATE"), (.write, "WRITE")]
        return names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
    }
}

enum SchemaWords {
    private static let keywords: Set<String> = [
        "DEFINE", "SCHEMA", "CREATE", "ROLE", "RECORD", "TYPE", "GRANT", "READ", "WRITE", "TO", "LIST", "ENCRYPTED",
        "QUERYABLE", "SORTABLE", "SEARCHABLE", "NUMBER", "PREFERRED", "AS", "STRING", "INT64", "DOUBLE", "TIMESTAMP",
        "BYTES", "REFERENCE", "ASSET", "LOCATION",
    ]

    /// A name in the schema language, in quotation marks where it needs them.
    static func name(_ name: String) -> String {
        SchemaName.isValid(name) && !keywords.contains(name.uppercased()) ? name : "\"\(name)\""
    }
}
