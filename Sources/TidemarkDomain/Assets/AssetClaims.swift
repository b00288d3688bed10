// SPDX-License-Identifier: Apache-2.0

package import TidemarkFields

/// Why users may name an asset in records of a public database. They have sent it themselves, or may read a
/// record that names it. A user who knows only the hash may not, and does not learn that the asset is there.
package struct AssetClaims: Sendable, Equatable {
    /// A living record that names the asset.
    package struct Holder: Sendable, Hashable {
        package let name: String
        package let type: String
        package let createdBy: UserID
        /// The record's zone. A user who takes part in a share may read nothing outside its zone.
        package let zone: ZoneID

        package init(name: String, type: String, createdBy: UserID, zone: ZoneID) {
            self.name = name
            self.type = type
            self.createdBy = createdBy
            self.zone = zone
        }
    }

    /// Those of the users asked for who have sent the asset, within the grace time of assets that no record names.
    package var senders: Set<UserID> = []
    /// Some of the records that name it.
    package var holders: [Holder] = []

    package init(senders: Set<UserID> = [], holders: [Holder] = []) {
        self.senders = senders
        self.holders = holders
    }

    /// Whether this caller may name the asset, as far as can be told without its zone.
    package func allow(_ access: RecordAccess) -> Bool {
        isSender(access.user) || access.scope != .shared && holders.contains { access.mayRead($0) }
    }

    func isSender(_ user: UserID?) -> Bool { user.map(senders.contains) ?? false }
}

extension RecordAccess {
    func mayRead(_ holder: AssetClaims.Holder) -> Bool {
        effectivePermission(on: RecordPlace(type: holder.type, creator: holder.createdBy)).contains(.read)
    }
}

/// A user who wants to name an asset in a record of a public database.
package struct AssetClaimant: Sendable, Hashable {
    package let asset: FieldAsset
    package let user: UserID

    package init(asset: FieldAsset, user: UserID) {
        self.asset = asset
        self.user = user
    }
}
