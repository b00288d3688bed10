// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling

extension CloudService {
    /// Finds out who holds a credential, and notes the device that shows it.
    ///
    /// - Parameters:
    ///   - credentialHash: the SHA-256 of the credential, which itself is never stored.
    ///   - createsContainer: whether a container that is not known is made (development only).
    /// - Returns: nil for a credential that is unknown, revoked or expired; `containerUnknown` for a container that
    ///   is not known, which only somebody with a good credential is told.
    package func authenticate(
        credentialHash: [UInt8], container: String, environment: ContainerEnvironment, createsContainer: Bool,
        device: DeviceID, deviceName: String
    ) async -> Result<Identity?, FailureReason> {
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        return await retry.run { () async throws(StorageError) in
            let identity = try await storage.identity(
                credentialHash: credentialHash, container: container, environment: environment,
                createsContainer: createsContainer, now: now)
            if let identity {
                try await storage.noteDevice(device, of: identity.account, name: deviceName, now: now)
            }
            return .success(identity)
        }
    }

    /// Those of the credentials that may not be used any more: their connections are to be cut.
    package func voidCredentials(
        among credentials: [CredentialID]
    ) async -> Result<[CredentialID], FailureReason> {
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        return await retry.run { () async throws(StorageError) in
            .success(try await storage.voidCredentials(among: credentials, now: now))
        }
    }
}
