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

    /// The identifiers of the containers that the holder of a credential has used already, the newest first (I-5).
    package func containers(
        credentialHash: [UInt8], environment: ContainerEnvironment
    ) async -> Result<[String], FailureReason> {
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        return await retry.run { () async throws(StorageError) in
            .success(
                try await storage.containers(
                    credentialHash: credentialHash, environment: environment, countMax: Self.containersToldMax, now: now
                ))
        }
    }

    /// As many are compared with a name that is not known (I-7).
    private static var containersToldMax: Int { 256 }

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
