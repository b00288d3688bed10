// SPDX-License-Identifier: Apache-2.0

/// Replaces `application(_:didReceiveRemoteNotification:)`, which the system calls on Apple's platforms.
extension CKContainer {
    /// Calls `handler` from now on when something changes that one of the user's subscriptions covers, in whichever database.
    /// Any device may have saved it. Sync engines do not need this.
    ///
    /// ```swift
    /// container.handleRemoteNotifications { userInfo in
    ///     guard let notification = CKNotification(fromRemoteNotificationDictionary: userInfo) else { return }
    ///     await notes.fetchChanges(after: notification)
    /// }
    /// ```
    ///
    /// As long as somebody is signed in, the connection of this container's `CKDatabase` calls is kept up for it. The app
    /// need not keep a `CKContainer`: a handler belongs to the process, as an app's delegate does with CloudKit.
    /// Changes made by these calls are not reported. A notification is a hint and never the truth. After each
    /// connection there is one for each subscription, because something may have changed meanwhile. If several wait for
    /// `handler`, one for each subscription is left, and of a query one for each record, at most 64. Those that
    /// wait when somebody else signs in are dropped.
    ///
    /// - Parameter handler: called with one notification after the other, never on a thread that moves bytes. It holds
    ///   for all `CKContainer` objects of the identifier, and replaces an earlier one: what waits goes to it, once the call
    ///   of the earlier one has ended. Nil: nobody is called any more, and what waits is dropped.
    public func handleRemoteNotifications(
        with handler: (@Sendable (_ userInfo: [AnyHashable: Any]) async -> Void)?
    ) {
        context.handleRemoteNotifications(with: handler)
    }
}
