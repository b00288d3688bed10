// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import TidemarkServer

/// Apple's `cktool` on a store of Tidemark, with its verbs and flags: `tidemark cktool …`, or the program called as `cktool`
/// (docs/cktool.md).
package struct CKTool: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: programName, abstract: "CloudKit's command line tool, on a store of Tidemark.",
        discussion: """
            Scripts for Apple's cktool run unchanged. The selected context or TIDEMARK_DATABASE_URL says which store \
            or server they use. See docs/cktool.md.
            """,
        version: "cktool, tidemark \(Server.version)",
        subcommands: [
            SaveToken.self, RemoveToken.self, GetTeams.self, ExportSchema.self, ImportSchema.self, ValidateSchema.self,
            ResetSchema.self, CreateRecord.self, QueryRecords.self, DeleteRecord.self, DeleteRecords.self, Version.self,
        ])

    static let programName = "cktool"

    package init() {}

    /// Scripts ask for it in order to see whether there is a tool.
    struct Version: CKToolCommand {
        static let configuration = CommandConfiguration(commandName: "version", abstract: "Write the version.")

        func run(_ program: CKToolProgram) async throws {
            try await program.screen().write("\(Server.version)\n")
        }
    }

    /// Whether a program that is called by this path is `cktool`.
    package static func isProgram(_ path: String?) -> Bool {
        path?.split(separator: "/").last.map(String.init) == programName
    }
}

/// A command of `cktool`. It runs on the machine of whoever calls it, with that person's files and variables, or in a server
/// that reaches no more than those files.
package protocol CKToolCommand: ParsableCommand, Sendable {
    /// - Throws: ``AdminFailure``, `StorageError` or ``CommandEnd``.
    func run(_ program: CKToolProgram) async throws
}
