// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkAdmin

/// The information on a running `tidemark dev`: for people, and for programs (`--ready-file`).
struct DevSheet: Encodable {
    let url: String
    let ca: String
    let container: String
    let accounts: [DevHome.StoredAccount]
    /// For commands of an operator.
    let databaseURL: String
    /// The URL of the admin listener, such as `http://127.0.0.1:9464`.
    let admin: String
    /// Not for programs: they have the URL.
    private let context: Context

    /// How commands of an operator find the database.
    enum Context {
        case selected, written, missing
    }

    private enum CodingKeys: CodingKey {
        case url, ca, container, accounts, databaseURL, admin
    }

    init(
        url: String, authorityFile: String, container: String, accounts: [DevHome.StoredAccount], databaseURL: String,
        context: Context, admin: String
    ) {
        self.context = context
        self.url = url
        self.admin = admin
        self.databaseURL = databaseURL
        ca = authorityFile
        self.container = container
        self.accounts = accounts
    }

    /// The file appears completely. Only its owner can read it, because it contains tokens.
    func write(to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try AtomicFile.write(try encoder.encode(self) + Data("\n".utf8), to: path, mode: 0o600)
    }

    var text: String {
        let alice = variables(accounts.first?.token ?? "")
        let bob = variables(accounts.last?.token ?? "")
        let tokens = accounts.map { "  \($0.name): \($0.token)" }.joined(separator: "\n")
        return """
            Tidemark serves \(container) at \(url)
            Tokens, the same at every start:
            \(tokens)

            Keep two folders equal, each line in a terminal of its own:
              \(alice) swift run -c release foldersync a --zone files
              \(alice) swift run -c release foldersync b --zone files

            Share the folder with bob. The first line prints a link; use it in place of LINK:
              \(alice) swift run -c release foldersync share a --public write
              \(bob) swift run -c release foldersync accept LINK c

            Run an app that imports CloudKit (the product of this package) in place of Apple's:
              \(alice) swift run

            Make accounts, look at records, change the schema (`tidemark admin --help`)\(contextText):
              \(adminLine("accounts list"))

            See which device of alice is behind, and why:
              \(adminLine("xray alice"))

            See what the server counts, and whether it is ready:
              curl \(admin)/metrics
              curl \(admin)/readyz

            Ctrl-C stops the server. What it stored stays.

            """
    }

    private var contextText: String {
        context == .missing ? "" : ", in any terminal. The context \(DevHome.contextName) names this server"
    }

    /// In another terminal.
    private func adminLine(_ words: String) -> String {
        let command = "swift run -c release tidemark admin \(words)"
        return switch context {
        case .selected: command
        case .written: command + " --context \(DevHome.contextName)"
        case .missing: "TIDEMARK_DATABASE_URL=\(Self.quoted(databaseURL)) \(command)"
        }
    }

    /// Variables in the form of a shell, before a command.
    private func variables(_ token: String) -> String {
        [
            "TIDEMARK_URL=\(url)", "TIDEMARK_CA=\(Self.quoted(ca))", "TIDEMARK_CONTAINER=\(container)",
            "TIDEMARK_TOKEN=\(token)",
        ].joined(separator: " ")
    }

    static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }
}
