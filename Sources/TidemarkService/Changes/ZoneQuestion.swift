// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// A client's request for a page of a zone's feed, once it is decoded.
package struct ZoneQuestion: Sendable, Equatable {
    package let key: ZoneKey
    /// From the page before; empty for a first fetch.
    package var token: [UInt8]
    /// The most records that the client wants; 0 leaves it to the server. A page is cut at `Limits.answerBytesMax` too.
    package let recordsMax: Int
    /// The device that asks.
    package let device: DeviceID
    /// The connection over which it asks, by a number that no other connection of this service has. Pages that were
    /// read ahead for one connection are not used by another one: in between, another server may have answered with
    /// newer pages (I-3).
    package let connection: UInt64
    /// Whether a first fetch includes all deletions.
    package let tellsEnds: Bool
    /// The caller's access, unless everything may be read (I-5).
    package let reader: RecordAccess?
    /// Whether the default zone has a feed too, see ``CloudService/feedsEverywhere(in:)``.
    package let feedsEverywhere: Bool

    package init(
        key: ZoneKey, token: [UInt8], recordsMax: Int, device: DeviceID, connection: UInt64 = 0,
        tellsEnds: Bool = false, reader: RecordAccess?, feedsEverywhere: Bool = false
    ) {
        self.key = key
        self.token = token
        self.recordsMax = recordsMax
        self.device = device
        self.connection = connection
        self.tellsEnds = tellsEnds
        self.reader = reader
        self.feedsEverywhere = feedsEverywhere
    }
}
