// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkWire

/// Through whose eyes requests are read and answers written.
package struct Viewpoint: Sendable, Equatable {
    package let user: UserID
    package let userRecordName: String
    package let database: DatabaseID
    package let device: DeviceID
    /// Names the store's life in tags.
    package let store: StoreIncarnation

    package init(
        user: UserID, userRecordName: String, database: DatabaseID, device: DeviceID, store: StoreIncarnation
    ) {
        self.user = user
        self.userRecordName = userRecordName
        self.database = database
        self.device = device
        self.store = store
    }

    /// no owner, the stand-in and the caller's own record name all mean the caller.
    func isCaller(_ owner: String) -> Bool {
        owner.isEmpty || owner == "__defaultOwner__" || owner == userRecordName
    }
}

extension DatabaseScope {
    /// - Throws: ``Refusal`` with `requestInvalid` for a database that there is not.
    package init(_ scope: WireDatabaseScope) throws(Refusal) {
        switch scope {
        case .public: self = .public
        case .private: self = .private
        case .shared: self = .shared
        case .unspecified, .UNRECOGNIZED: throw Refusal(.requestInvalid, "The request names no database.")
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
    /// - Throws: ``Refusal`` with `requestInvalid` for a stamp that no device of ours makes.
    package init(_ stamp: WireRequestStamp, device: DeviceID) throws(Refusal) {
        guard stamp.counter > 0, stamp.lowestUnanswered <= stamp.counter, stamp.counter <= UInt64(Int64.max) else {
            throw Refusal(
                .requestInvalid, "A request that changes data carries a stamp: a counter from 1, not below its lowest.")
        }
        self.init(
            device: device, counter: stamp.counter, lowestUnanswered: stamp.lowestUnanswered,
            issuedAt: Timestamp(milliseconds: stamp.issuedAt))
    }
}
