// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import Testing
import TidemarkTestSupport

@testable import TidemarkAdmin

@Suite struct CKToolTokensTests {
    private func with(_ body: (String) async throws -> Void) async throws {
        let directory = try TestDirectory()
        defer { directory.remove() }
        try await body(directory.path)
    }

    private func run(
        _ arguments: [String], _ home: String, answers: [String]? = nil
    ) async throws -> (status: TidemarkAdmin.ExitStatus, terminal: RecordingTerminal) {
        let terminal = RecordingTerminal(answers: answers)
        let command = try #require(try CKTool.parseAsRoot(arguments) as? any CKToolCommand)
        let status = await CKToolProgram.run(command, terminal: terminal, variables: ["XDG_CONFIG_HOME": home])
        return (status, terminal)
    }

    @Test func `R-891: an option wins over the variable, and both over the saved token`() async throws {
        try await with { home in
            func found(_ option: String?, _ variables: [String: String] = [:]) throws -> String? {
                try CKToolTokens(variables: variables.merging(["XDG_CONFIG_HOME": home]) { $1 })
                    .found(.user, option: option)
            }
            #expect(try found(nil) == nil)
            #expect(try await run(["save-token", "saved", "--type", "user"], home).status == .ok)
            #expect(try found(nil) == "saved")
            let variables = ["CLOUDKIT_USER_TOKEN": "variable", "CLOUDKIT_MANAGEMENT_TOKEN": "other"]
            #expect(try found(nil, variables) == "variable")
            #expect(try found("option", variables) == "option")
            #expect(try found(nil, ["CLOUDKIT_USER_TOKEN": ""]) == "saved")
            let tokens = CKToolTokens(variables: ["XDG_CONFIG_HOME": home])
            #expect(try tokens.found(.management, option: nil) == nil)
            let path = try #require(tokens.path)
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test func `R-891: a token that is missing is told with all its places`() throws {
        let tokens = CKToolTokens(variables: [:])
        let failure = #expect(throws: AdminFailure.self) { try tokens.required(.user, option: nil) }
        for words in ["No user token found", "CLOUDKIT_USER_TOKEN", "--token", "save-token --type user"] {
            #expect(failure?.description.contains(words) == true, "\(words)")
        }
        #expect(failure?.status == .usage)
        #expect(throws: AdminFailure.self) { try tokens.save("t", as: .user) }
    }

    @Test func `R-891: a saved token is replaced and removed when somebody says so`() async throws {
        try await with { home in
            let saved = { try CKToolTokens(variables: ["XDG_CONFIG_HOME": home]).saved() }
            #expect(try await run(["remove-token", "--type", "management"], home).status == .refused)
            #expect(try await run(["save-token", "one"], home).status == .ok)
            // Nobody can be asked.
            #expect(try await run(["save-token", "two"], home).status == .usage)
            #expect(try saved() == ["management": "one"])
            #expect(try await run(["save-token", "two"], home, answers: ["n"]).status == .refused)
            #expect(try await run(["save-token", "two"], home, answers: ["y"]).status == .ok)
            #expect(try await run(["save-token", "three", "--force", "--method", "file"], home).status == .ok)
            #expect(try saved() == ["management": "three"])
            #expect(try await run(["save-token", "--type", "user"], home, answers: [" typed "]).status == .ok)
            #expect(try saved()["user"] == "typed")
            #expect(try await run(["remove-token", "--type", "management"], home).status == .usage)
            #expect(try await run(["remove-token", "--type", "management", "--force"], home).status == .ok)
            #expect(try saved() == ["user": "typed"])
            #expect(try await run(["save-token", "", "--force"], home).status == .usage)
            #expect(try await run(["save-token", "ä"], home).status == .usage)
            let kept = try await run(["save-token", "k", "--method", "keychain"], home)
            #expect(kept.status == .ok && kept.terminal.messages.contains { $0.contains("no keychain") })
        }
    }

    @Test func `R-891: a file that holds no tokens is not overwritten`() async throws {
        try await with { home in
            let path = try #require(CKToolTokens(variables: ["XDG_CONFIG_HOME": home]).path)
            try FileManager.default.createDirectory(
                atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
            try "x".write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try await run(["save-token", "a", "--force"], home).status == .refused)
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "x")
        }
    }
}
