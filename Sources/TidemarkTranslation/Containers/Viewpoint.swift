// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

/// The caller for whom requests are read and answers are written.
package struct Viewpoint: Sendable, Equatable {
    /// The caller, and one of the container's databases.
    package let access: RecordAccess
    /// The caller's record name. Empty: nobody is signed in.
    package let userRecordName: String
    package let database: DatabaseID
    package let device: DeviceID
    /// The life of the device. It names the device's requests.
    package let life: DeviceID
    /// The store's incarnation, which tags name.
    package let store: StoreIncarnation
    /// Record names of other users that an answer names, if they are known.
    package var userNames: [UserID: String] = [:]
    /// The owners of the other databases whose zones the caller sees in the shared database, by their record names.
    package var zoneOwners: [DatabaseID: String] = [:]
    /// The shares of zones whose CKShare records an answer has, as the caller sees them, by the names of the records.
    package var shares: [ZoneID: [String: ShownShare]] = [:]

    package init(
        access: RecordAccess, userRecordName: String, database: DatabaseID, device: DeviceID, life: DeviceID? = nil,
        store: StoreIncarnation
    ) {
        self.access = access
        self.userRecordName = userRecordName
        self.database = database
        self.device = device
        self.life = life ?? device
        self.store = store
    }

    /// The viewpoint of the owner of a private database.
    package init(
        user: UserID, userRecordName: String, database: DatabaseID, device: DeviceID, life: DeviceID? = nil,
        store: StoreIncarnation
    ) {
        self.init(
            access: .owner(user), userRecordName: userRecordName, database: database, device: device, life: life,
            store: store)
    }

    /// Nil: nobody is signed in.
    package var user: UserID? { access.user }

    /// A user's name on the wire. Empty for the caller.
    func name(of user: UserID) -> String {
        // NB: numbers, because comparing optional IDs of another module is a call that is not specialized, for each record.
        user.rawValue == access.user?.rawValue ? "" : userNames[user] ?? ""
    }

    /// The user with a record name. Nil: unknown.
    func user(named name: String) -> UserID? {
        if name.isEmpty { return nil }
        return isCaller(name) ? user : userNames.first { $0.value == name }?.key
    }

    /// The name under which a record is stored. The placeholder for the current user becomes the caller's own record name
    ///
    func recordName(_ name: String) -> String {
        name == "__defaultOwner__" && !userRecordName.isEmpty ? userRecordName : name
    }

    /// no owner, the placeholder, and the caller's own record name all mean the caller.
    func isCaller(_ owner: String) -> Bool {
        owner.isEmpty || owner == "__defaultOwner__" || owner == userRecordName
    }
}

extension DatabaseScope {
    /// - Throws: ``Refusal`` with `requestInvalid` for a database that does not exist.
    package init(_ scope: WireDatabaseScope) throws(Refusal) {
        switch scope {
        case .public: self = .public
        case .private: self = .private
        case .shared: self = .shared
        case .unspecified, .unrecognized: throw Refusal(.requestInvalid, "The request names no database.")
        }
    }
}

extension WireDatabaseScope {
    package init(_ scope: DatabaseScope) {
        switch scope {
        case .public: self = .public
        case .private: self = .private
        case .shared: self = .shared
        }
    }
}

extension RequestID {
    /// - Throws: ``Refusal`` with `requestInvalid` for an impossible stamp.
    package init(_ stamp: WireRequestStamp, from viewpoint: Viewpoint) throws(Refusal) {
        guard stamp.counter > 0, stamp.lowestUnanswered <= stamp.counter, stamp.counter <= UInt64(Int64.max) else {
            throw Refusal(
                .requestInvalid, "A request that changes data carries a stamp: a counter from 1, not below its lowest.")
        }
        self.init(
            device: viewpoint.device, life: viewpoint.life, counter: stamp.counter, nonce: stamp.nonce,
            lowestUnanswered: stamp.lowestUnanswered, isRepeated: stamp.repeated, epoch: Int64(clamping: stamp.epoch))
    }
}
