// SPDX-License-Identifier: Apache-2.0

/// The names in Swift of what a `.proto` file declares.
enum SwiftNames {
    private static let abbreviations: Set<String> = ["id", "url", "http", "https"]
    private static let keywords: Set<String> = [
        "as", "break", "case", "catch", "class", "continue", "default", "defer", "do", "else", "enum", "extension",
        "fallthrough", "false", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let",
        "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat", "return", "self", "static",
        "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where",
        "while",
    ]

    /// "subscription_id" is `subscriptionID`.
    static func property(_ name: String) -> String {
        let words = name.lowercased().split(separator: "_").map(String.init)
        return (words.first ?? "") + words.dropFirst().map(capitalized).joined()
    }

    /// "request" becomes `Request`, as the end of a longer name.
    static func capitalizedProperty(_ name: String) -> String {
        name.lowercased().split(separator: "_").map { capitalized(String($0)) }.joined()
    }

    /// "PARENT_SET" of `ParentChange` is `parentSet`, "ERROR_CODE_UNSPECIFIED" of `ErrorCode` is `unspecified`.
    static func choice(_ value: String, of choice: String) -> String {
        var prefix = ""
        for (index, letter) in choice.enumerated() {
            if letter.isUppercase, index > 0 { prefix += "_" }
            prefix += letter.uppercased()
        }
        return property(value.hasPrefix(prefix + "_") ? String(value.dropFirst(prefix.count + 1)) : value)
    }

    /// The name in a declaration. Keywords are in backticks.
    static func declared(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    private static func capitalized(_ word: String) -> String {
        abbreviations.contains(word) ? word.uppercased() : word.prefix(1).uppercased() + word.dropFirst()
    }
}
