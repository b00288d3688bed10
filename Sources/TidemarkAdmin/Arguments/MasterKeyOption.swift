// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkServer
internal import TidemarkService
internal import TidemarkStore

/// The file of the servers' master key, for commands that open or close keys.
struct MasterKeyOption: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp(
            "The file with the servers' master key.", discussion: "Only where the command runs beside the database.",
            valueName: "file"))
    var masterKeyFile: String?

    /// Nil if the option is not given.
    ///
    /// - Parameter claims: whether it becomes the master key of a database that has none; with `--dry-run` whether it could.
    /// - Throws: ``AdminFailure`` if it is not the master key of the database.
    func escrow(of console: Console, claims: Bool) async throws -> (any KeyEscrow)? {
        guard let masterKeyFile else { return nil }
        try console.screen.requireLocalFiles("The file of the master key is on the servers' disks.")
        guard let key = try MasterKeyFile(path: masterKeyFile).read() else {
            throw AdminFailure(.refused, "There is no file \(masterKeyFile). Name the master key file of the servers.")
        }
        let isRight: Bool
        switch (claims, console.isDryRun) {
        case (true, false): isRight = try await console.storage.claimMasterKey(check: key.check)
        case (true, true):
            let stored = try await console.store.masterKeyCheck()
            isRight = stored == nil || stored == key.check
        case (false, _): isRight = try await console.storage.masterKeyCheck() == key.check
        }
        guard isRight else {
            throw AdminFailure(
                .refused,
                "\(masterKeyFile) does not hold the database's master key. Name the master key file of the servers.")
        }
        return key
    }
}
