// SPDX-License-Identifier: Apache-2.0

/// Names one version of one record: opaque to clients, compared by the rules.
package enum ChangeTag: Sendable, Equatable {
    case version(store: StoreIncarnation, zone: ZoneID, number: ChangeNumber)
    /// Something that this store never made. It matches no version.
    case foreign
}
