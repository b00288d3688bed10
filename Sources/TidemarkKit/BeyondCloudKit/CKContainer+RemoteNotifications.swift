// SPDX-License-Identifier: Apache-2.0

/// What stands for `application(_:didReceiveRemoteNotification:)`, which on Apple's platforms is the system's.
extension CKContainer {
    /// From now on calls `handler` when something changed that one of the user's subscriptions is for: a
    /// `CKDatabaseSubscription` or a `CKRecordZoneSubscription`, saved by whichever device. Sync engines need none of this.
    ///
    /// ```swift
    /// container.handleRemoteNotifications { userInfo in
    ///     guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else { return }
    ///     await notes.fetchChanges(after: notification)
    /// }
    /// ```
    ///
    /// The connection of this container's `CKDatabase` calls is kept up for it as long as somebody is signed in. What was
    /// changed by these calls is not told. A notification is a hint and never the truth: after each connection there
    /// is one a subscription, because something may have changed meanwhile, and of several that wait for `handler` one a
    /// subscription is left.
    ///
    /// - Parameter handler: called with one notification after the other, never on a thread that moves bytes. It holds for all
    ///   `CKContainer` objects of the identifier, in place of an earlier one. nil: nobody is called any more.
    public func handleRemoteNotifications(
        with handler: (@Sendable (_ userInfo: [AnyHashable: Any]) async -> Void)?
    ) {
        context.handleRemoteNotifications(with: handler)
    }
}
