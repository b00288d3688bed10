// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkAdmin
internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkServer

/// Makes the files of a server. Each file that is there is left alone.
struct SetupFiles {
    let settings: SetupSettings

    /// Whose group may read the settings, if there is one.
    private static let group = "tidemark"

    func makeDirectory() throws {
        do {
            try FileManager.default.createDirectory(
                atPath: settings.directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        } catch {
            throw AdminFailure(
                .refused, "The directory \(settings.directory) cannot be made. Run the command as root. (\(error))")
        }
    }

    func exists(_ file: String) -> Bool { FileManager.default.fileExists(atPath: file) }

    func remove(_ file: String) { unlink(file) }

    /// - Returns: the key's check, and whether it is new.
    func makeMasterKey() throws -> (check: [UInt8], isNew: Bool) {
        let file = MasterKeyFile(path: settings.masterKeyFile)
        if let key = try file.read() { return (key.check, false) }
        let (key, isNew) = try file.make()
        return (key.check, isNew)
    }

    /// A password that needs no quotation marks anywhere.
    static func newPassword() -> String { Hex.encode(SecureRandom.bytes(24)) }

    func write(password: String?) throws {
        try AtomicFile.write(Data((password.map { "\($0)\n" } ?? "").utf8), to: settings.passwordFile, mode: 0o600)
    }

    func writeEnvironment() throws {
        try AtomicFile.write(Data(try settings.environment().utf8), to: settings.environmentFile, mode: 0o640)
        // Whatever the mask of who runs the command.
        chmod(settings.environmentFile, 0o640)
        guard geteuid() == 0, let entry = getgrnam(Self.group) else { return }
        _ = chown(settings.environmentFile, 0, entry.pointee.gr_gid)
    }
}
