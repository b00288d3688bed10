// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain

extension CKTool {
    struct SaveToken: CKToolCommand {
        static let configuration = CommandConfiguration(
            commandName: "save-token", abstract: "Store a token, so that other commands need not be given it.",
            discussion: """
                Without an argument the command asks for the token, or reads it from standard input. A user token is a \
                credential of an account: tidemark admin credentials create NAME.
                """)

        @Argument(help: "The token.") var token: String?
        @Option(help: "The kind of the token.") var type: CKToolTokenKind = .management
        @Option(help: "Where to store it. Here is no keychain: both are a file that only you can read.")
        var method: CKToolTokenMethod?
        @Flag(help: "Replace a stored token without asking.") var force = false

        func run(_ program: CKToolProgram) async throws {
            let (screen, tokens) = (program.screen(isConfirmed: force), program.tokens)
            if try tokens.saved()[type.rawValue] != nil {
                try await screen.confirm(
                    "replace the saved \(type.rawValue) token", loss: "The saved one is forgotten.")
            }
            let text = try await given(program).filter { !$0.isWhitespace }
            guard CKToolTokens.isPossible(text) else {
                throw AdminFailure(.usage, "This is no token. Give it as an argument, or on standard input.")
            }
            try tokens.save(text, as: type)
            if method == .keychain, let path = tokens.path {
                screen.say("There is no keychain here. The token is in \(path), which only you can read.")
            }
        }

        private func given(_ program: CKToolProgram) async throws -> String {
            if let token { return token }
            if program.terminal.canAsk { return await program.terminal.ask("Token (\(type.rawValue)): ") ?? "" }
            return String(try program.textOfInput().prefix { !$0.isNewline })
        }
    }

    struct RemoveToken: CKToolCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove-token", abstract: "Remove a stored token.")

        @Option(help: "The kind of the token.") var type: CKToolTokenKind
        @Option(help: "Where it is stored. Here both are one file.") var method: CKToolTokenMethod?
        @Flag(help: "Remove it without asking.") var force = false

        func run(_ program: CKToolProgram) async throws {
            let tokens = program.tokens
            guard try tokens.saved()[type.rawValue] != nil else {
                throw AdminFailure(.refused, "No \(type.rawValue) token found. Nothing was removed.")
            }
            try await program.screen(isConfirmed: force)
                .confirm("remove the saved \(type.rawValue) token", loss: "It is forgotten.")
            try tokens.save(nil, as: type)
        }
    }

    struct GetTeams: CKToolStoreCommand {
        static let right = CKToolRight.management(.viewer)
        static let configuration = CommandConfiguration(
            commandName: "get-teams", abstract: "List the teams of the token's owner. Here is one, without meaning.")

        @OptionGroup var access: CKToolAccess

        var place: CKToolPlace? { nil }

        func words(_ program: CKToolProgram) -> CKToolWords { CKToolWords("get-teams") }

        func run(_ program: CKToolProgram) async throws {
            try await program.screen().write("TIDEMARK00: Tidemark\n")
        }
    }
}
