// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A database whose set of zones is locked. End it with either ``commit(_:now:)`` or ``rollback()``, exactly once.
package protocol ZonesTransaction: AnyObject, Sendable {
    var snapshot: ZonesSnapshot { get }

    /// - Throws: as ``WriteTransaction/commit(_:)``.
    func commit(_ changes: ZonesChanges, now: Timestamp) async throws(StorageError)

    func rollback() async
}
