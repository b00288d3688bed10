// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkServer

/// What a command asks of a credential that it makes.
struct NewCredentialOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "How long it is valid, such as 12h or 30d.", discussion: "Default: for ever.", valueName: "time"))
    var expires: Lifetime?
    @Option(help: ArgumentHelp("What it is for. Lists show it.", valueName: "text"))
    var label = ""
}

/// A credential that was just made. Only its hash is stored, so it is shown this once.
struct NewCredential {
    let credential = Credential.make()
    let label: String
    let expiresAt: Timestamp?

    init(_ options: NewCredentialOptions, now: Timestamp) {
        label = options.label
        expiresAt = options.expires.map { Timestamp(milliseconds: now.milliseconds + $0.seconds * 1_000) }
    }

    /// - Parameters:
    ///   - number: under which it is stored.
    ///   - owner: whose it is.
    func show(number: Int64, of owner: String, _ console: Console) async throws {
        let end = expiresAt.map { "good until \(DateForm.seconds($0))" } ?? "good until it is revoked"
        console.say("Credential \(number) of \(owner), \(end). It is not shown again.")
        // Alone on standard output, so that a script can capture it.
        if console.output == .table || console.output == .wide {
            return try await console.write(credential.text + "\n")
        }
        try await console.show(
            [self],
            as: [
                Column("CREDENTIAL", key: "credential") { _ in .number(Int(number)) },
                Column("EXPIRES", key: "expires") { .optional($0.expiresAt) },
                Column("TOKEN", key: "token", isName: true) { .text($0.credential.text) },
            ])
    }
}
