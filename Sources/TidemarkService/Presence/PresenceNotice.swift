// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A server's report to others about its members in one place. A hint: it may be lost, and the next one makes up for it.
package struct PresenceNotice: Sendable, Hashable {
    package let database: DatabaseID
    package let place: PresencePlace
    /// 64 random bits of the server's process.
    package let origin: UInt64
    /// Whether the server has members there since a moment ago, and wants to know those of others.
    package let asks: Bool
    /// The members that it has told.
    package let told: PresenceTally
    /// Empty: the server only says that its members are still there.
    package let news: PresenceNews

    package init(
        database: DatabaseID, place: PresencePlace, origin: UInt64, asks: Bool = false,
        told: PresenceTally = PresenceTally(),
        news: PresenceNews = PresenceNews()
    ) {
        self.database = database
        self.place = place
        self.origin = origin
        self.asks = asks
        self.told = told
        self.news = news
    }
}
