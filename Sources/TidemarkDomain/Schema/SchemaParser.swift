// SPDX-License-Identifier: Apache-2.0

extension Schema {
    /// Reads CloudKit's schema language (`.ckdb`):
    ///
    ///     DEFINE SCHEMA
    ///         CREATE ROLE Editor;
    ///         RECORD TYPE Note (
    ///             "___recordID" REFERENCE QUERYABLE,
    ///             text STRING QUERYABLE SEARCHABLE SORTABLE,
    ///             tags LIST<STRING>,
    ///             secret ENCRYPTED BYTES,
    ///             GRANT READ, WRITE TO Editor
    ///         );
    ///
    /// Keywords may be in any case; `//` and `--` begin comments. A type without grants gets the standard ones.
    /// `NUMBER` is an INT64, or the type after `PREFERRED AS`.
    package init(parsing text: String) throws(SchemaSyntaxError) {
        var parser = try SchemaParser(text)
        self = try parser.parse()
    }
}

/// Looks one token ahead and never goes back.
private struct SchemaParser {
    private var lexer: SchemaLexer
    private var token: SchemaLexer.Token
    private var schema = Schema()
    /// Roles that grants name. They are checked once all roles are known.
    private var namedRoles: [(name: String, position: SchemaPosition)] = []

    init(_ text: String) throws(SchemaSyntaxError) {
        lexer = SchemaLexer(text)
        token = try lexer.next()
    }

    mutating func parse() throws(SchemaSyntaxError) -> Schema {
        try expect("DEFINE")
        try expect("SCHEMA")
        while token.kind != .end {
            if try take("CREATE") {
                try expect("ROLE")
                try role()
            } else if try take("RECORD") {
                try expect("TYPE")
                try recordType()
            } else {
                throw mismatch("CREATE ROLE or RECORD TYPE")
            }
            try expect(";")
        }
        for role in namedRoles where !schema.roles.contains(role.name) {
            throw SchemaSyntaxError(
                position: role.position, message: "there is no role \(role.name); add CREATE ROLE \(role.name);")
        }
        return schema
    }

    private mutating func role() throws(SchemaSyntaxError) {
        let name = try name("a role's name")
        guard SchemaName.isValid(name.text) else { throw badName("role", name) }
        guard schema.roles.insert(name.text).inserted else { throw twice("role", name) }
    }

    private mutating func recordType() throws(SchemaSyntaxError) {
        let name = try name("a record type's name")
        guard SchemaName.isValid(name.text) else { throw badName("record type", name) }
        guard schema.types[name.text] == nil else { throw twice("record type", name) }
        var type = RecordTypeSchema()
        var systemFields: Set<SystemField> = []
        var grants: Grants?
        try expect("(")
        if try take(")") {
            schema.types[name.text] = type
            return
        }
        repeat {
            if try take("GRANT") {
                try grant(to: &grants)
            } else {
                try field(of: &type, &systemFields)
            }
        } while try take(",")
        try expect(")")
        if let grants { type.grants = grants }
        schema.types[name.text] = type
    }

    private mutating func grant(to grants: inout Grants?) throws(SchemaSyntaxError) {
        var permissions: Permissions = []
        repeat {
            if try take("READ") {
                permissions.insert(.read)
            } else if try take("CREATE") {
                permissions.insert(.create)
            } else if try take("WRITE") {
                permissions.insert(.write)
            } else {
                throw mismatch("READ, CREATE or WRITE")
            }
        } while try take(",")
        try expect("TO")
        let name = try name("a role's name")
        guard let role = Role(name: name.text) else { throw badName("role", name) }
        if case .custom = role { namedRoles.append((name.text, name.position)) }
        var sum = grants ?? Grants([:])
        sum.add(permissions, to: role)
        grants = sum
    }

    private mutating func field(
        of type: inout RecordTypeSchema, _ systemFields: inout Set<SystemField>
    ) throws(SchemaSyntaxError) {
        let name = try name("a field's name or GRANT")
        let typePosition = token.position
        let (fieldType, isEncrypted) = try fieldType()
        if let system = SystemField(rawValue: name.text) {
            guard systemFields.insert(system).inserted else { throw twice("field", name) }
            guard fieldType == system.type, !isEncrypted else {
                throw SchemaSyntaxError(position: typePosition, message: "\(name.text) is a \(system.type.name)")
            }
            let marks = try marks(within: system.possibleMarks, of: name.text)
            if !marks.isEmpty { type.systemMarks[system] = marks }
            return
        }
        guard SchemaName.isValid(name.text) else { throw badName("field", name) }
        guard type.fields[name.text] == nil else { throw twice("field", name) }
        var field = FieldSchema(fieldType, isEncrypted: isEncrypted)
        field.marks = try marks(within: field.possibleMarks, of: name.text)
        type.fields[name.text] = field
    }

    private mutating func fieldType() throws(SchemaSyntaxError) -> (SchemaFieldType, isEncrypted: Bool) {
        let position = token.position
        var isEncrypted = try take("ENCRYPTED")
        let isList = try take("LIST")
        var element: SchemaFieldType.Element
        if isList {
            try expect("<")
            if !isEncrypted { isEncrypted = try take("ENCRYPTED") }
            element = try self.element()
            try expect(">")
        } else {
            element = try self.element()
        }
        //
        if isEncrypted, element == .reference || element == .asset {
            throw SchemaSyntaxError(position: position, message: "a field of type \(element.name) cannot be ENCRYPTED")
        }
        return (SchemaFieldType(element, isList: isList), isEncrypted)
    }

    private mutating func element() throws(SchemaSyntaxError) -> SchemaFieldType.Element {
        if try take("NUMBER") {
            guard try take("PREFERRED") else { return .int64 }
            try expect("AS")
            if try take("INT64") { return .int64 }
            try expect("DOUBLE")
            return .double
        }
        for element in SchemaFieldType.Element.allCases where try take(element.name) { return element }
        let names = SchemaFieldType.Element.allCases.map(\.name).joined(separator: ", ")
        throw mismatch("a type (\(names), LIST<…> or ENCRYPTED …)")
    }

    private mutating func marks(
        within possible: FieldMarks, of field: String
    ) throws(SchemaSyntaxError) -> FieldMarks {
        var marks: FieldMarks = []
        while true {
            let word = token
            var mark: FieldMarks = []
            for (candidate, name) in FieldMarks.names where mark.isEmpty {
                if try take(name) { mark = candidate }
            }
            if mark.isEmpty { return marks }
            guard possible.contains(mark) else {
                throw SchemaSyntaxError(
                    position: word.position,
                    message: "\(field) cannot be \(word.text.uppercased()): its type does not allow it")
            }
            marks.insert(mark)
        }
    }

    // MARK: Tokens

    private mutating func take(_ word: String) throws(SchemaSyntaxError) -> Bool {
        guard token.kind == .word || token.kind == .sign, token.text.uppercased() == word else { return false }
        token = try lexer.next()
        return true
    }

    private mutating func expect(_ word: String) throws(SchemaSyntaxError) {
        guard try take(word) else { throw mismatch(word) }
    }

    private mutating func name(_ what: String) throws(SchemaSyntaxError) -> SchemaLexer.Token {
        guard token.kind == .word || token.kind == .quoted else { throw mismatch(what) }
        let name = token
        token = try lexer.next()
        return name
    }

    private func mismatch(_ expected: String) -> SchemaSyntaxError {
        SchemaSyntaxError(position: token.position, expected: expected, found: token.text)
    }

    private func badName(_ what: String, _ name: SchemaLexer.Token) -> SchemaSyntaxError {
        SchemaSyntaxError(
            position: name.position,
            message: "\"\(name.text)\" cannot name a \(what): use a letter, then letters, digits and underscores")
    }

    private func twice(_ what: String, _ name: SchemaLexer.Token) -> SchemaSyntaxError {
        SchemaSyntaxError(position: name.position, message: "the \(what) \(name.text) is there twice")
    }
}

extension FieldMarks {
    /// In the order of writing.
    static let names: [(FieldMarks, String)] = [
        (.queryable, "QUERYABLE"), (.searchable, "SEARCHABLE"), (.sortable, "SORTABLE"),
    ]

    /// The marks in the schema language, separated by spaces; empty if there are none.
    package var text: String {
        Self.names.filter { contains($0.0) }.map(\.1).joined(separator: " ")
    }
}
