// SPDX-License-Identifier: Apache-2.0

internal import TidemarkAssets
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore

/// Writes the archive of an account (R-864).
struct AccountExport {
    /// Its name.
    let account: String
    let id: AccountID
    /// Of the assets; nil: the archive has no contents of theirs.
    let directory: String?
    /// Opens the account's keys; nil: they come as they are stored.
    let escrow: (any KeyEscrow)?

    /// - Parameter put: takes each line.
    /// - Returns: what was written, and what is missing.
    func run(_ console: Console, put: @escaping (String) async throws -> Void) async throws -> ArchiveLine.End {
        let users = try await console.store.users(of: id)
        let person = try await console.store.account(shownAs: account)?.personName
        let files = try directory.map { directory in
            try FileAssetStore(directory: directory, threads: 1, uploadBytesMax: Limits.standard.uploadBytesMax)
        }
        defer { files?.stop() }
        var writer = ArchiveWriter(console.storage, assets: files, escrow: escrow, put: put)
        try await writer.write(account: account, person: person, users: users)
        return writer.tally
    }

    /// Writes it to a new file, which is there only if it is whole.
    ///
    /// - Throws: ``AdminFailure`` also if something was saved meanwhile: a session may not have heard yet that it ends.
    func write(to path: String, _ console: Console) async throws -> ArchiveLine.End {
        let before = try await mark(console.store)
        let file = try ArchiveFile(path)
        do {
            let tally = try await run(console) { try file.write($0) }
            guard tally.lacks.isNothing else { throw AdminFailure(.failedCheck, tally.lacks.text) }
            guard try await mark(console.store) == before else {
                throw AdminFailure(
                    .refused,
                    "A device saved something while the archive was written. Run the command again in a minute.")
            }
            try file.finish()
            return tally
        } catch {
            file.discard()
            throw error
        }
    }
}

extension AccountExport {
    /// Where the account's data stand.
    private func mark(_ store: AdminStore) async throws -> AccountChangeMark? {
        try await store.changeMark(of: try await store.users(of: id).map(\.privateDatabase))
    }
}

extension ArchiveLine.End {
    /// What was written, in words.
    var text: String {
        "Exported \(Amount.zones(zones)), \(Amount.records(records)), \(Amount.text(assets, "asset")) and "
            + "\(Amount.text(shares, "share"))."
    }
}

extension ArchiveLine.Lacks {
    /// In words.
    var text: String {
        var sentences: [String] = []
        if encryptedValues > 0 {
            sentences.append(
                "It lacks the keys of \(Amount.text(encryptedValues, "encrypted value")): give --master-key-file when it is "
                    + "exported.")
        }
        if assets > 0 {
            sentences.append(
                "It lacks the content of \(Amount.text(assets, "asset")): give --asset-directory, and check that the files are "
                    + "there.")
        }
        return sentences.joined(separator: " ")
    }
}
