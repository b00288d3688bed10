// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation

/// What a token of `cktool` is good for.
///
/// A *user* token is a credential of an account: records are read and written as that user. A *management* token is an
/// operator's. Over a database the role of PostgreSQL decides instead, so there any management token will do, or none
///
enum CKToolTokenKind: String, CaseIterable, Sendable, ExpressibleByArgument {
    case management, user

    /// The environment variable that has it.
    var variable: String {
        switch self {
        case .management: "CLOUDKIT_MANAGEMENT_TOKEN"
        case .user: "CLOUDKIT_USER_TOKEN"
        }
    }
}

/// Where `save-token` puts a token. Here it is always a file.
enum CKToolTokenMethod: String, CaseIterable, Sendable, ExpressibleByArgument {
    case file, keychain
}

/// The tokens of the person who calls `cktool`. Of a kind the first of these counts: `--token`, the variable, what
/// `save-token` stored.
struct CKToolTokens: Sendable {
    /// A file that only its owner can read, beside that of the contexts. Nil: there is no home.
    let path: String?
    private let variables: [String: String]

    init(variables: [String: String]) {
        self.variables = variables
        path = ContextFile(variables: variables).path.map {
            URL(fileURLWithPath: $0).deletingLastPathComponent().appendingPathComponent("cktool.json").path
        }
    }

    /// - Throws: ``AdminFailure`` if there is none.
    func required(_ kind: CKToolTokenKind, option: String?) throws(AdminFailure) -> String {
        if let token = try found(kind, option: option) { return token }
        throw AdminFailure(
            .usage,
            "No \(kind.rawValue) token found. Give --token, set \(kind.variable), or run: cktool save-token --type "
                + kind.rawValue)
    }

    /// Nil: there is none.
    func found(_ kind: CKToolTokenKind, option: String?) throws(AdminFailure) -> String? {
        if let option { return option }
        if let variable = variables[kind.variable], !variable.isEmpty { return variable }
        return try saved()[kind.rawValue]
    }

    /// By kind.
    func saved() throws(AdminFailure) -> [String: String] {
        try file.read([String: String].self) ?? [:]
    }

    private var file: OwnJSONFile { OwnJSONFile(path: path, content: "tokens", remedy: "save them again.") }

    /// Stores a token in the place of an older one.
    ///
    /// - Parameter token: nil removes it.
    func save(_ token: String?, as kind: CKToolTokenKind) throws(AdminFailure) {
        let path = try file.makeFolder()
        var tokens = try saved()
        tokens[kind.rawValue] = token
        try file.write(tokens, to: path)
    }

    /// Whether a text can be a token: printable ASCII without spaces.
    static func isPossible(_ token: String) -> Bool {
        (1...tokenBytesMax).contains(token.utf8.count) && token.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static let tokenBytesMax = 4_096
}
