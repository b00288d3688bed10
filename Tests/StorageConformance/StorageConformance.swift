// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain
package import TidemarkScheduling
package import TidemarkService

/// What every ``Storage`` must do: one list of scenarios that runs in memory and on PostgreSQL, so that the test double
/// stays like the real store.
///
/// A scenario gets two handles on one empty store, which stand for two servers. Its caller makes the store with the
/// credentials of ``Credentials``, the ``Addresses`` and the ``PersonNames``, and calls `run` in a task of the fixture's
/// scheduler.
package enum StorageConformance {
    /// The SHA-256 values under which credentials must be stored.
    package enum Credentials {
        package static let alice = [UInt8](repeating: 1, count: 32)
        package static let bob = [UInt8](repeating: 2, count: 32)
        /// A credential of alice that expires at ``expiry``.
        package static let expired = [UInt8](repeating: 3, count: 32)
        /// A credential of alice that was revoked.
        package static let revoked = [UInt8](repeating: 4, count: 32)
        package static let expiry = Timestamp(milliseconds: 1_500_000_000_000)
    }

    /// The verified addresses that alice must have, and nobody else any.
    package enum Addresses {
        package static let email = "alice@example.org"
        package static let telephone = "+4915550100"
    }

    /// The names that the accounts must have.
    package enum PersonNames {
        package static let alice = PersonName(given: "Alice", family: "Liddell")
        package static let bob = PersonName(given: "", family: "Þórðarson")
    }

    /// Reads which request made the last change of a record; nil: it is not known. Only operators ask for it,
    /// so no ``Storage`` tells it.
    package typealias CauseReader = @Sendable (_ record: String, _ zone: ZoneKey) async throws -> ChangeCause?

    /// One scenario of the suite.
    package struct Scenario: Sendable, CustomStringConvertible {
        /// What must be true, as a sentence.
        package let name: String
        let body: @Sendable (StorageFixture) async throws -> Void

        init(_ name: String, _ body: @escaping @Sendable (StorageFixture) async throws -> Void) {
            self.name = name
            self.body = body
        }

        package var description: String { name }

        /// - Parameters:
        ///   - first: one server's handle; the other server's is `second`.
        ///   - cause: of the store that both are handles of.
        /// - Throws: ``StorageConformanceFailure``, or an unexpected `StorageError`.
        package func run(
            first: any Storage, second: any Storage, scheduler: any Scheduler, cause: @escaping CauseReader
        ) async throws {
            try await body(StorageFixture(first: first, second: second, scheduler: scheduler, cause: cause))
        }
    }

    package static var scenarios: [Scenario] {
        accounts + zones + records + causes + inventories + references + queries + locks + moments + zoneFeed
            + databaseFeed
            + subscriptions + schemas + choices + quotas + publicUses + assets + keys + keyGrants + shares + shareRaces
            + sharedLists
            + sharedFeeds + hierarchies + sharePeople + devices + closing
    }
}

/// How a store deviated from what it must do.
package struct StorageConformanceFailure: Error, CustomStringConvertible {
    package let description: String
}

func expect(_ condition: Bool, _ promise: String) throws {
    if !condition { throw StorageConformanceFailure(description: "broken: \(promise)") }
}

func expectEqual<Value: Equatable>(_ value: Value, _ expected: Value, _ promise: String) throws {
    if value != expected {
        throw StorageConformanceFailure(description: "broken: \(promise): \(value) instead of \(expected)")
    }
}

func require<Value>(_ value: Value?, _ promise: String) throws -> Value {
    guard let value else { throw StorageConformanceFailure(description: "broken: \(promise)") }
    return value
}

func expectError<Value>(_ code: StorageError.Code, _ promise: String, _ body: () async throws -> Value) async throws {
    do {
        _ = try await body()
    } catch let error as StorageError {
        return try expectEqual(error.code, code, promise)
    }
    throw StorageConformanceFailure(description: "broken: \(promise): no error")
}
