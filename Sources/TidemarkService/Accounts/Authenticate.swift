// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
internal import TidemarkScheduling

extension CloudService {
    /// Finds the holder of a credential, and records the device that shows it.
    ///
    /// - Parameters:
    ///   - credentialHash: the SHA-256 of the credential, which itself is never stored.
    ///   - createsContainer: whether an unknown container is created, unless the account has `Limits.containersMax` of
    ///     them. In production never: an operator creates those.
    ///   - address: the address from which it connects; empty if unknown.
    /// - Returns: nil for a credential that is unknown, revoked or expired, or whose account is disabled. Nil also for a device
    ///   that is revoked. `containerUnknown` for an unknown container, and `containerClosed` for one that an
    ///   operator deletes; only the holder of a valid credential gets these answers.
    package func authenticate(
        credentialHash: [UInt8], container: String, environment: ContainerEnvironment, createsContainer: Bool,
        device: DeviceID, deviceName: String, from address: String = ""
    ) async -> Result<Identity?, FailureReason> {
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        return await retry.run { () async throws(StorageError) in
            let identity = try await storage.identity(
                credentialHash: credentialHash, container: container, environment: environment,
                containersMax: createsContainer && environment == .development ? limits.containersMax : 0, now: now)
            guard let identity else { return .success(nil) }
            let mayEnter = try await storage.noteDevice(
                device, of: identity.account, name: deviceName, from: address, atMost: limits.devicesMax, now: now)
            return .success(mayEnter ? identity : nil)
        }
    }

    /// The identifiers of the containers that the holder of a credential has already used, the newest first (I-5).
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

    /// The most containers that are compared with an unknown name (I-7).
    private static var containersToldMax: Int { 256 }

    /// The reason why a credential opened no session just now. Only the client that has shown it may get the
    /// reason.
    package func signInProblem(credentialHash: [UInt8], device: DeviceID) async -> SignInProblem {
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        let answer = await retry.run { () async throws(StorageError) in
            .success(try await storage.signInProblem(credentialHash: credentialHash, device: device, now: now))
        }
        return (try? answer.get()) ?? .credentialUnknown
    }

    /// Records that a credential opened no session. Nobody waits for its success.
    package func noteRefusedSignIn(credentialHash: [UInt8], device: DeviceID, from address: String) async {
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        _ = await retry.run { () async throws(StorageError) -> Result<Void, FailureReason> in
            try await storage.noteRefusedSignIn(
                credentialHash: credentialHash, device: device, from: address, now: now)
            return .success(())
        }
    }

    /// All devices of these accounts that are revoked: their connections are to be closed.
    package func revokedDevices(of accounts: [AccountID]) async -> Result<[AccountDevice], FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(try await storage.revokedDevices(of: accounts))
        }
    }

    /// The connections that operators have closed recently.
    package func connectionClosings() async -> Result<[ConnectionsClosing], FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(try await storage.connectionClosings())
        }
    }

    /// The containers among these that an operator deletes or has deleted: their connections are to be closed.
    package func closedContainers(among containers: [ContainerID]) async -> Result<[ContainerID], FailureReason> {
        await retry.run { () async throws(StorageError) in
            .success(try await storage.closedContainers(among: containers))
        }
    }

    /// The credentials among these that are no longer valid: their connections must be closed.
    package func voidCredentials(
        among credentials: [CredentialID]
    ) async -> Result<[CredentialID], FailureReason> {
        let now = Timestamp(milliseconds: scheduler.wallClockMilliseconds)
        return await retry.run { () async throws(StorageError) in
            .success(try await storage.voidCredentials(among: credentials, now: now))
        }
    }
}
