// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A request for a page of a zone's feed, as one server understands it.
package struct ZoneQuestion: Sendable, Equatable {
    package let key: ZoneKey
    /// From the page before; empty for a first fetch.
    package var token: [UInt8]
    /// What the client asks for; 0 leaves it to the server. A page is cut at `Limits.answerBytesMax` too.
    package let recordsMax: Int
    /// Who asks.
    package let device: DeviceID
    /// Whether a first fetch is told of everything that was deleted.
    package let tellsEnds: Bool
    /// By whose right, if not everything there may be read (I-5).
    package let reader: RecordAccess?
    /// Whether the default zone has a feed too, see ``CloudService/feedsEverywhere(in:)``.
    package let feedsEverywhere: Bool

    package init(
        key: ZoneKey, token: [UInt8], recordsMax: Int, device: DeviceID, tellsEnds: Bool = false,
        reader: RecordAccess? = nil, feedsEverywhere: Bool = false
    ) {
        self.key = key
        self.token = token
        self.recordsMax = recordsMax
        self.device = device
        self.tellsEnds = tellsEnds
        self.reader = reader
        self.feedsEverywhere = feedsEverywhere
    }
}
