// SPDX-License-Identifier: Apache-2.0

package import TidemarkDomain

/// What servers that share a store tell each other. A hint: it may be lost (I-4).
package enum ServerNotice: Sendable, Hashable {
    case zone(ZoneNotice)
    case credentialRevoked(CredentialID)
    case deviceRevoked(AccountDevice)
    /// An operator closes the connections of an account, or of one device of it. They may come back.
    case connectionsClosed(AccountID, DeviceID?)
}
