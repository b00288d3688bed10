// SPDX-License-Identifier: Apache-2.0

internal import Synchronization
internal import TidemarkDomain

/// Who was found to have the right to upload to zones of others.
///
/// Parts of a file go to the owner's database, so a stranger must not send even one (I-5). The right is read when an upload
/// is prepared, and with its last part. For parts in between, what was found is trusted for a while: they are under way
/// together, and a read could change their order. Somebody who has lost the right meanwhile leaves a part of a file, which
/// never becomes an asset.
final class UploadSights: Sendable {
    private struct UploadSight: CachedValue {
        let end: Duration
        /// With the name of the zone, which is short as a rule.
        var byteCount: Int { 200 }
    }

    private let sights = Mutex(RecentCache<AccessLooks.Place, UploadSight>(bytesMax: 1_000_000))
    private static let trust = Duration.seconds(600)

    func isTrusted(_ place: AccessLooks.Place, now: Duration) -> Bool {
        sights.withLock { sights in sights.use(place).map { now < $0.end } ?? false }
    }

    func note(_ mayUpload: Bool, at place: AccessLooks.Place, now: Duration) {
        sights.withLock { sights in
            _ = sights.take(place)
            if mayUpload { sights.keep(UploadSight(end: now + Self.trust), as: place) }
        }
    }
}
