// SPDX-License-Identifier: Apache-2.0

/// Names one version of one record. Opaque to clients; the rules compare it.
package enum ChangeTag: Sendable, Equatable {
    case version(store: StoreIncarnation, zone: ZoneID, number: ChangeNumber)
    /// A tag that this store never made. It matches no version.
    case foreign
}
