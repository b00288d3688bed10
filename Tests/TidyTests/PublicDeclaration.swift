// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What a public declaration of a library looks like in its text, and where it stands. Read by its first line and its
/// indentation, which `swift format` keeps as they are expected here.
struct PublicDeclaration {
    let place: String
    let line: String
    /// The whole declaration with its attributes and without its body, on one line.
    let signature: String
    /// The comment lines with three slashes above it, as one.
    let comment: String
    /// Of the type or the extension in which it is declared.
    let outerComment: String
    /// Of what type it is a member, by its qualified name; nil: of none.
    let type: String?
    /// Of a member of an extension: the extension's `where` clause.
    let condition: String
    /// Of a type: its qualified name. Of anything else that has one, that of its type and its own.
    let name: String?
    let isType: Bool
    /// Of a type alias: what it stands for.
    let original: String?

    /// All of a folder of sources; cases of public enums and requirements of public protocols are public too.
    static func all(in folder: String) throws -> [PublicDeclaration] {
        try SourceFile.all.filter { $0.path.hasPrefix(folder) && $0.text.contains("public") }.flatMap { read($0) }
    }

    private struct Scope {
        let indentation: Int
        let kind: String
        let name: String
        let isPublic: Bool
        let comment: String
        let condition: String
    }

    private static let types: Set = ["class", "struct", "enum", "protocol", "actor"]

    private static func read(_ file: SourceFile) -> [PublicDeclaration] {
        var found: [PublicDeclaration] = []
        var scopes: [Scope] = []
        for (number, code) in file.code where !code.isEmpty {
            let line = file.lines[number - 1]
            let indentation = line.prefix { $0 == " " }.count
            scopes.removeAll { $0.indentation >= indentation }
            guard let match = code.firstMatch(of: declaration) else { continue }
            var kind = String(match.kind)
            if kind == "class", match.rest.contains(member) { kind = "func" }
            let outer = scopes.last
            // Within a body of code, or on a line that goes on.
            if let outer, outer.indentation != indentation - 4 || !isType(outer.kind) { continue }
            if outer == nil, indentation > 0 { continue }
            if kind == "case", outer?.kind != "enum" { continue }
            let words = Set(match.modifiers.split(separator: " ").map(String.init))
            let own = match.rest.firstMatch(of: leadingName).map { String($0.1) } ?? kind
            let name = kind == "extension" ? own : [outer?.name, own].compactMap(\.self).joined(separator: ".")
            let isInherited = kind == "case" || outer?.kind == "protocol"
            let isPublic = !words.isDisjoint(with: ["public", "open"]) || (isInherited && outer?.isPublic == true)
            let comment = comment(above: number - 1, in: file)
            let condition =
                kind == "extension" ? code.firstMatch(of: /\bwhere [^{]+\w/).map { " \($0.0)" } ?? "" : ""
            if isPublic, kind != "extension", !words.contains("override") {
                found.append(
                    PublicDeclaration(
                        place: "\(file.path):\(number)", line: code,
                        signature: attributes(above: number - 1, in: file) + signature(from: number - 1, in: file),
                        comment: comment, outerComment: outer?.comment ?? "", type: outer?.name,
                        condition: outer?.condition ?? "", name: name, isType: types.contains(kind),
                        original: kind == "typealias"
                            ? code.firstMatch(of: /= (?:any )?([\w.]+)$/).map { String($0.1) } : nil))
            }
            scopes.append(
                Scope(
                    indentation: indentation, kind: kind, name: name, isPublic: isPublic, comment: comment,
                    condition: condition))
        }
        return found
    }

    /// From the line of the declaration to the brace that opens its body, or to where no bracket is open.
    private static func signature(from index: Int, in file: SourceFile) -> String {
        var text = ""
        var depth = 0
        for line in file.lines[index...] {
            // An arrow is no bracket.
            let line = line.trimmingCharacters(in: .whitespaces).replacingOccurrences(of: "->", with: "→")
            for character in line { depth += "([<".contains(character) ? 1 : ")]>".contains(character) ? -1 : 0 }
            text += (text.isEmpty || text.hasSuffix("(") || line.hasPrefix(")") ? "" : " ") + line
            if depth <= 0, !line.hasSuffix(","), !line.hasSuffix("→") { break }
        }
        let body = text.range(of: #" \{(?! (get|set)\b)"#, options: .regularExpression)
        return text[..<(body?.lowerBound ?? text.endIndex)].replacingOccurrences(of: "→", with: "->")
    }

    private static func attributes(above index: Int, in file: SourceFile) -> String {
        file.lines[..<index].reversed().lazy.map { $0.trimmingCharacters(in: .whitespaces) }
            .prefix { $0.wholeMatch(of: attribute) != nil }.reversed().map { $0 + " " }.joined()
    }

    private static func isType(_ kind: String) -> Bool { kind == "extension" || types.contains(kind) }

    private static func comment(above index: Int, in file: SourceFile) -> String {
        var lines: [String] = []
        for line in file.lines[..<index].reversed().lazy.map({ $0.trimmingCharacters(in: .whitespaces) }) {
            if line.hasPrefix("///") { lines.append(line) } else if !line.hasPrefix("@") { break }
        }
        return lines.reversed().joined(separator: " ")
    }

    nonisolated(unsafe) private static let attribute = /@\w+(\(.*\))?/
    nonisolated(unsafe) private static let member = /^(func|var|let|init|subscript)\b/
    nonisolated(unsafe) private static let leadingName = /^`?([\w.]+)/
    nonisolated(unsafe) private static let declaration =
        #/
        ^(?:@\w+(?:\([^)]*\))?\s)*
        (?<modifiers>
            (?:(?:public|open|package|internal|fileprivate|private|final|static|class|nonisolated|convenience|required
                |override|mutating|indirect|lazy|weak)(?:\([a-z]+\))?\s)*
        )
        (?<kind>class|struct|enum|protocol|actor|extension|func|var|let|init|typealias|subscript|case)\b\s?
        (?<rest>.*)
        /#
}
