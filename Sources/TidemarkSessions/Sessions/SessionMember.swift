// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain
internal import TidemarkFairness
internal import TidemarkTranslation

/// The user, device and container of a session.
struct SessionMember: Sendable {
    let device: DeviceID
    /// The life of the device that is connected.
    let life: DeviceID
    /// Nil if nobody is signed in. Such a session may only read the public database.
    var identity: Identity?
    /// The container that the session uses.
    let container: ContainerKey
    let store: StoreIncarnation
    /// By the scheduler's clock.
    let since: Duration

    /// The caller's view of their private database.
    /// - Throws: ``Refusal`` with `notAuthenticated`.
    func viewpoint() throws(Refusal) -> Viewpoint {
        guard let identity else { throw Refusal(.notAuthenticated) }
        return Viewpoint(
            user: identity.user, userRecordName: identity.userRecordName, database: identity.privateDatabase,
            device: device, life: life, store: store)
    }

    /// The caller's view of their shared database, in which nothing is theirs.
    /// - Throws: ``Refusal`` with `notAuthenticated`.
    func sharedViewpoint() throws(Refusal) -> Viewpoint {
        guard let identity else { throw Refusal(.notAuthenticated) }
        return Viewpoint(
            access: RecordAccess(scope: .shared, user: identity.user), userRecordName: identity.userRecordName,
            database: identity.sharedDatabase, device: device, life: life, store: store)
    }

    /// The caller's view of the container's public database, also without an account.
    func viewpoint(of publicDatabase: PublicDatabase, access: RecordAccess) -> Viewpoint {
        Viewpoint(
            access: access, userRecordName: identity?.userRecordName ?? "", database: publicDatabase.database,
            device: device, life: life, store: store)
    }

    /// Whose share is taken for what the session asks for.
    var owner: WorkOwner { identity.map { .account($0.account.rawValue) } ?? .nobody }

    func isExpired(_ now: Timestamp) -> Bool {
        identity?.credentialExpiresAt.map { $0 <= now } ?? false
    }
}
