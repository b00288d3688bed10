// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import Synchronization
internal import TidemarkCrypto

/// Remembers the identity of the device of plain `CKDatabase` calls for the next start: one for each server,
/// environment and container. An engine keeps its own in its state.
package struct DeviceFile: Sendable {
    private let file: SecretFile
    private let name: String

    /// Identities that this process has taken, by file and name. Another device of the same process takes none of them.
    private static let taken = Mutex<Set<String>>([])
    /// With more names in the file the others are forgotten: their devices get new identities.
    private static let namesMax = 64
    private static let identityBytes = 16

    /// - Returns: nil if the configuration names no server.
    init?(_ configuration: TidemarkConfiguration, containerIdentifier: String) {
        guard let server = configuration.url?.absoluteString else { return nil }
        let url =
            configuration.credentialFile?.deletingLastPathComponent().appendingPathComponent("devices.json")
            ?? SecretFile.standardURL("devices.json")
        file = SecretFile(url, of: "device identities")
        name = "\(server) \(configuration.environment.rawValue) \(containerIdentifier)"
    }

    /// The kept identity, for as long as this process uses it. If it cannot be read or kept, the device has another identity at the next
    /// start. The only harm is one more row in an operator's list.
    ///
    /// - Returns: nil if another device of this process has it.
    func take() -> [UInt8]? {
        guard Self.taken.withLock({ $0.insert("\(file.path) \(name)").inserted }) else { return nil }
        let fresh = SecureRandom.bytes(Self.identityBytes)
        if let kept = try? file.read()[name], kept.count == Self.identityBytes { return kept }
        let stored = try? file.changing { identities -> [UInt8] in
            // Another process may have been faster.
            if let kept = identities[name], kept.count == Self.identityBytes { return kept }
            if identities.count >= Self.namesMax { identities = [:] }
            identities[name] = fresh
            return fresh
        }
        return stored ?? fresh
    }

    /// The device that has taken it ends, and another may take it.
    func giveBack() {
        Self.taken.withLock { _ = $0.remove("\(file.path) \(name)") }
    }
}
