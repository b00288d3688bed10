// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// The part of ``Storage`` that has the keys of zones that owners' devices give to other accounts.
package protocol KeyGrantStorage: AnyObject, Sendable {
    /// A part of those who are given the keys of a living zone (``Participant/isKeyReader(in:)``), in the order of their users. Accounts
    /// that were deleted are left out.
    ///
    /// - Parameter last: nil: from the beginning.
    /// - Returns: nil if the zone does not live.
    func keyReaders(
        of zone: ZoneKey, after last: UserID?, countMax: Int
    ) async throws(StorageError) -> KeyReadersPage?

    /// Keeps the grants that fit (``KeyGrant/fits(_:of:)``), each in the place of what the user was given before. Forgets those of
    /// users who are given no keys of the zone any more.
    ///
    /// - Parameter grants: of each user one at most.
    func saveKeyGrants(_ grants: [KeyGrant], in zone: ZoneKey, now: Timestamp) async throws(StorageError)

    /// The keys that the user was given of these living zones, if the user was invited to them and has accepted.
    func givenKeys(in zones: [ZoneKey], to user: UserID) async throws(StorageError) -> [ZoneKey: GivenKeys]
}
