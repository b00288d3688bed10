// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
package import TidemarkDomain
package import TidemarkFairness
internal import TidemarkScheduling

extension CloudService {
    /// Counts the addresses that an account wants to look up.
    ///
    /// - Returns: how long it must wait before; nil: it may look them up now.
    package func delay(of lookups: [PersonLookup], by owner: WorkOwner) -> Duration? {
        let count = lookups.count(where: \.isAddress)
        guard count > 0 else { return nil }
        return sharedWrites.addressLookups.withLock {
            $0.take(count, for: owner, atMost: limits.addressLookupsMax, now: scheduler.now)
        }
    }

    /// Whether there are users with these names and addresses, in order. An address never tells who the user is.
    ///
    /// `recordUnknown` for a name that nobody has, or whose account was deleted; false for an address that nobody has verified. `tooManyItems` over the
    /// limit of R-155.
    ///
    /// - Parameter tellsAccounts: whether an address may reveal that it has an account. Otherwise the store is not asked about addresses at
    ///   all, so that no answer depends on its data.
    package func findPersons(
        _ lookups: [PersonLookup], in container: ContainerKey, tellsAccounts: Bool = true
    ) async -> Result<[Result<Bool, FailureReason>], FailureReason> {
        guard lookups.count <= limits.itemsMax else { return .failure(.tooManyItems) }
        var names: Set<String> = []
        var addresses: Set<String> = []
        for lookup in lookups {
            switch lookup {
            // Names that no user can have must not reach the store.
            case .user(let name): if RecordName.isUser(name) { names.insert(name) }
            case .address(let address):
                if tellsAccounts, let text = address?.text, text.utf8.count <= limits.addressBytesMax {
                    addresses.insert(text)
                }
            }
        }
        return await retry.run { [names, addresses] () async throws(StorageError) in
            let users = names.isEmpty ? [:] : try await storage.persons(named: names.sorted(), in: container)
            let owners =
                addresses.isEmpty
                ? [:] : try await storage.users(withAddresses: addresses.sorted(), in: container)
            let known = Set(users.values)
            return .success(
                lookups.map { lookup in
                    switch lookup {
                    case .user(let name): known.contains(name) ? .success(true) : .failure(.recordUnknown)
                    case .address(let address): .success(address.map { owners[$0.text] != nil } ?? false)
                    }
                })
        }
    }
}
