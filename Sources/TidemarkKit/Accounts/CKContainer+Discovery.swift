// SPDX-License-Identifier: Apache-2.0

// Discovery of other users. The original no longer supports it. Here it finds nobody; it exists for code that still
// calls it. Servers do not tell users of each other.

extension CKContainer {
    /// The permissions that an app may get.
    @available(*, deprecated, message: "No longer supported")
    public struct ApplicationPermissions: OptionSet, Sendable {
        /// The bits of the permissions.
        public let rawValue: UInt

        /// Permissions from their bits.
        public init(rawValue: UInt) {
            self.rawValue = rawValue
        }

        /// Other users of the app can find this user.
        public static let userDiscoverability = ApplicationPermissions(rawValue: 1)
    }

    /// Whether an app has a permission.
    @available(*, deprecated, message: "No longer supported")
    public enum ApplicationPermissionStatus: Int, Sendable {
        /// Nobody has been asked yet.
        case initialState = 0
        /// It could not be found out.
        case couldNotComplete = 1
        /// Denied, which is always the answer here.
        case denied = 2
        /// Granted.
        case granted = 3
    }

    /// Called with the status of a permission.
    @available(*, deprecated, message: "No longer supported")
    public typealias ApplicationPermissionBlock = @Sendable (ApplicationPermissionStatus, (any Error)?) -> Void

    /// Denied.
    @available(*, deprecated, message: "No longer supported")
    public func requestApplicationPermission(
        _ applicationPermission: ApplicationPermissions
    ) async throws -> ApplicationPermissionStatus { .denied }

    /// Denied: ``requestApplicationPermission(_:)`` with a completion handler.
    @available(*, deprecated, message: "No longer supported")
    @preconcurrency
    public func requestApplicationPermission(
        _ applicationPermission: ApplicationPermissions,
        completionHandler block: @escaping ApplicationPermissionBlock
    ) {
        deliver(to: { block($0 ?? .denied, $1) }) { .denied }
    }

    /// Denied.
    @available(*, deprecated, message: "No longer supported")
    public func applicationPermissionStatus(
        for applicationPermission: ApplicationPermissions
    ) async throws -> ApplicationPermissionStatus { .denied }

    /// Denied: with a completion handler.
    @available(*, deprecated, message: "No longer supported")
    @preconcurrency
    public func status(
        forApplicationPermission applicationPermission: ApplicationPermissions,
        completionHandler block: @escaping ApplicationPermissionBlock
    ) {
        deliver(to: { block($0 ?? .denied, $1) }) { .denied }
    }

    /// Nobody.
    @available(*, deprecated, message: "No longer supported")
    public func allUserIdentitiesFromContacts() async throws -> [CKUserIdentity] { [] }

    /// Nobody: with a completion handler.
    @available(*, deprecated, message: "No longer supported")
    @preconcurrency
    public func discoverAllIdentities(
        completionHandler: @escaping @Sendable ([CKUserIdentity]?, (any Error)?) -> Void
    ) {
        deliver(to: completionHandler) { [] }
    }

    /// Nobody.
    @available(*, deprecated, message: "No longer supported")
    public func userIdentity(forEmailAddress email: String) async throws -> CKUserIdentity? { nil }

    /// Nobody.
    @available(*, deprecated, message: "No longer supported")
    public func userIdentity(forPhoneNumber phoneNumber: String) async throws -> CKUserIdentity? { nil }

    /// Nobody.
    @available(*, deprecated, message: "No longer supported")
    public func userIdentity(forUserRecordID userRecordID: CKRecord.ID) async throws -> CKUserIdentity? { nil }

    /// Nobody: with a completion handler.
    @available(*, deprecated, message: "No longer supported")
    @preconcurrency
    public func discoverUserIdentity(
        withEmailAddress email: String, completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        deliverNobody(to: completionHandler)
    }

    /// Nobody: with a completion handler.
    @available(*, deprecated, message: "No longer supported")
    @preconcurrency
    public func discoverUserIdentity(
        withPhoneNumber phoneNumber: String,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        deliverNobody(to: completionHandler)
    }

    /// Nobody: with a completion handler.
    @available(*, deprecated, message: "No longer supported")
    @preconcurrency
    public func discoverUserIdentity(
        withUserRecordID userRecordID: CKRecord.ID,
        completionHandler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void
    ) {
        deliverNobody(to: completionHandler)
    }

    private func deliverNobody(to handler: @escaping @Sendable (CKUserIdentity?, (any Error)?) -> Void) {
        Task.detached { handler(nil, nil) }
    }
}
