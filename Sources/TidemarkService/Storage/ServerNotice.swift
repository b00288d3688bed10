// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// The messages between servers that share a store. A hint: it may be lost (I-4).
package enum ServerNotice: Sendable, Hashable {
    case zone(ZoneNotice)
    /// A query subscription was fired by a change that the posting server has written.
    case queryFired(QueryNotice)
    /// The query subscriptions that look at a database have changed.
    case queriesChanged(DatabaseID)
    /// Very many query subscriptions of a database were fired, so other servers did not get a notice for each.
    case queriesLost(DatabaseID)
    /// Other servers have got notices for everything that these changes fire. This one always comes after them.
    case queriesEvaluated(EvaluatedChanges)
    case credentialRevoked(CredentialID)
    case deviceRevoked(AccountDevice)
    /// An operator closes the connections of an account, or of one device of it. They may come back.
    case connectionsClosed(AccountID, DeviceID?)
    /// An operator deletes a container: its connections are to be closed.
    case containerClosed(ContainerID)
    /// An operator chose other limits for an account. Nil: for a container, or for all.
    case limitsChanged(AccountID?)
    /// An operator wants to see what servers know of devices.
    case devicesAsked(DeviceQuestion)
    /// The members of a server. Only those with members in the same place need it.
    case presence(PresenceNotice)
    /// The answer of a server. Only the server that asked needs it.
    case devicesWritten(DeviceAnswer)
}

/// An operator's wish to close connections, for servers that may not have got the notice.
package struct ConnectionsClosing: Sendable, Equatable {
    package let account: AccountID
    /// Nil: all devices of the account.
    package let device: DeviceID?
    /// How long ago, by the store's clock. Connections that are younger have begun since.
    package let age: Duration

    package init(account: AccountID, device: DeviceID?, age: Duration) {
        self.account = account
        self.device = device
        self.age = age
    }
}
